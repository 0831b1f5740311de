// SPDX-License-Identifier: GPL-2.0-or-later
#include "profile/profile.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "profile/blocks.h"
#include "profile/index.h"
#include "profile/strings.h"

/* What makes entries be found again without a search through the arrays. */
struct profile_lookup {
	struct index contexts, cells, locations, stacks, samples;
};

struct profile *profile_create(void)
{
	struct profile *p = alloc_new(struct profile);

	p->strings = profile_strings_create();
	p->lookup = alloc_new(struct profile_lookup);
	profile_site_add(p, &(struct profile_site){
				    .name = "context",
				    .kind = PROFILE_SITE_CONTEXT,
				    .mech = PROFILE_MECH_TRACEPOINT,
			    });
	return p;
}

void profile_destroy(struct profile *p)
{
	uint32_t i;

	if (!p)
		return;
	for (i = 0; i < p->n_runs; i++)
		free(p->runs[i].reports);
	for (i = 0; i < p->n_cells; i++)
		profile_stats_deinit(&p->cells[i].stats);
	for (i = 0; i < p->n_locations; i++)
		free(p->locations[i].frames);
	for (i = 0; i < p->n_stacks; i++)
		free(p->stacks[i].locations);
	profile_blocks_destroy(p);
	free(p->envs);
	free(p->args);
	free(p->sites);
	free(p->contexts);
	free(p->runs);
	free(p->cells);
	free(p->locations);
	free(p->stacks);
	free(p->samples);
	index_deinit(&p->lookup->contexts);
	index_deinit(&p->lookup->cells);
	index_deinit(&p->lookup->locations);
	index_deinit(&p->lookup->stacks);
	index_deinit(&p->lookup->samples);
	free(p->lookup);
	profile_strings_destroy(p->strings);
	free(p);
}

const char *profile_intern(struct profile *p, const char *s)
{
	if (!s)
		return NULL;
	return profile_strings_get(p->strings, profile_strings_add(p->strings, s, strlen(s)));
}

void profile_env_set(struct profile *p, const char *key, const char *value)
{
	struct profile_env env = { .key = profile_intern(p, key),
				   .value = profile_intern(p, value) };
	uint32_t i;

	for (i = 0; i < p->n_envs; i++) {
		if (p->envs[i].key == env.key) {
			p->envs[i].value = env.value;
			return;
		}
	}
	vec_push(p, envs, env);
}

const char *profile_env_get(const struct profile *p, const char *key)
{
	uint32_t i;

	for (i = 0; i < p->n_envs; i++)
		if (!strcmp(p->envs[i].key, key))
			return p->envs[i].value;
	return NULL;
}

void profile_arg_add(struct profile *p, const char *arg)
{
	vec_push(p, args, profile_intern(p, arg));
}

uint32_t profile_site_add(struct profile *p, const struct profile_site *site)
{
	struct profile_site copy = *site;

	copy.name = profile_intern(p, site->name);
	copy.symbol = profile_intern(p, site->symbol);
	copy.into = profile_intern(p, site->into);
	copy.chain = profile_intern(p, site->chain);
	copy.estimated = profile_intern(p, site->estimated);
	copy.file = profile_intern(p, site->file);
	vec_push(p, sites, copy);
	return p->n_sites - 1;
}

bool profile_site_in_module(const struct profile_site *site)
{
	return site->symbol && strstr(site->symbol, " [");
}

static bool context_equal(const void *ctx, uint32_t item, const void *key)
{
	const struct profile *p = ctx;

	return p->contexts[item].name == key;
}

uint32_t profile_context_add(struct profile *p, const char *name)
{
	struct profile_context context = { .name = profile_intern(p, name) };
	uint32_t hash = index_hash(&context.name, sizeof(context.name)), found;

	found = index_find(&p->lookup->contexts, hash, context_equal, p, context.name);
	if (found != INDEX_NONE)
		return found;
	vec_push(p, contexts, context);
	index_add(&p->lookup->contexts, hash, p->n_contexts - 1);
	return p->n_contexts - 1;
}

uint32_t profile_run_add(struct profile *p, enum profile_run_kind kind)
{
	struct profile_run run = {
		.kind = kind,
		.cpu = PROFILE_NOT_COUNTED,
		.samples_expected = PROFILE_NOT_COUNTED,
		.samples_received = PROFILE_NOT_COUNTED,
	};
	int i;

	for (i = 0; i < PROFILE_N_LOSSES; i++)
		run.losses[i] = PROFILE_NOT_COUNTED;
	vec_push(p, runs, run);
	return p->n_runs - 1;
}

void profile_report_add(struct profile *p, uint32_t run, const struct profile_report *report)
{
	struct profile_report copy = *report;

	copy.name = profile_intern(p, report->name);
	vec_push(&p->runs[run], reports, copy);
}

struct location_key {
	uint64_t addr;
	const char *module;
};

static bool location_equal(const void *ctx, uint32_t item, const void *key)
{
	const struct profile *p = ctx;
	const struct profile_location *location = &p->locations[item];
	const struct location_key *wanted = key;

	return location->addr == wanted->addr && location->module == wanted->module;
}

uint32_t profile_location_add(struct profile *p, uint64_t addr, const char *module)
{
	struct location_key key = { .addr = addr, .module = profile_intern(p, module) };
	uint32_t hash = index_hash(&key, sizeof(key)), found;

	found = index_find(&p->lookup->locations, hash, location_equal, p, &key);
	if (found != INDEX_NONE)
		return found;
	vec_push(p, locations,
		 ((struct profile_location){ .addr = key.addr, .module = key.module }));
	index_add(&p->lookup->locations, hash, p->n_locations - 1);
	return p->n_locations - 1;
}

void profile_location_frame_add(struct profile *p, uint32_t location,
				const struct profile_frame *frame)
{
	struct profile_frame copy = *frame;

	copy.name = profile_intern(p, frame->name);
	copy.file = profile_intern(p, frame->file);
	vec_push(&p->locations[location], frames, copy);
}

static bool stack_equal(const void *ctx, uint32_t item, const void *key)
{
	const struct profile *p = ctx;
	const struct profile_stack *a = &p->stacks[item], *b = key;

	return a->n_locations == b->n_locations &&
	       (!a->n_locations ||
		!memcmp(a->locations, b->locations, a->n_locations * sizeof(*a->locations)));
}

uint32_t profile_stack_add(struct profile *p, const uint32_t *locations, uint32_t n)
{
	struct profile_stack stack = {
		.locations = (uint32_t *)locations,
		.n_locations = n,
		.cap_locations = n,
	};
	uint32_t hash = index_hash(locations, n * sizeof(*locations)), found;

	found = index_find(&p->lookup->stacks, hash, stack_equal, p, &stack);
	if (found != INDEX_NONE)
		return found;
	stack.locations = NULL;
	if (n) {
		stack.locations = alloc_array(n, sizeof(*locations));
		memcpy(stack.locations, locations, n * sizeof(*locations));
	}
	vec_push(p, stacks, stack);
	index_add(&p->lookup->stacks, hash, p->n_stacks - 1);
	return p->n_stacks - 1;
}

static bool sample_equal(const void *ctx, uint32_t item, const void *key)
{
	const struct profile *p = ctx;
	const struct profile_sample *a = &p->samples[item], *b = key;

	return a->run == b->run && a->context == b->context && a->stack == b->stack &&
	       a->flags == b->flags;
}

void profile_sample_add(struct profile *p, const struct profile_sample *sample)
{
	uint32_t key[] = { sample->run, sample->context, sample->stack, sample->flags };
	uint32_t hash = index_hash(key, sizeof(key)), found;

	found = index_find(&p->lookup->samples, hash, sample_equal, p, sample);
	if (found != INDEX_NONE) {
		p->samples[found].count += sample->count;
		return;
	}
	vec_push(p, samples, *sample);
	index_add(&p->lookup->samples, hash, p->n_samples - 1);
}

struct cell_key {
	uint32_t run, site, context;
};

static bool cell_equal(const void *ctx, uint32_t item, const void *key)
{
	const struct profile *p = ctx;
	const struct profile_cell *cell = &p->cells[item];
	const struct cell_key *wanted = key;

	return cell->run == wanted->run && cell->site == wanted->site &&
	       cell->context == wanted->context;
}

struct profile_stats *profile_cell(struct profile *p, uint32_t run, uint32_t site, uint32_t context)
{
	struct cell_key key = { run, site, context };
	struct profile_cell cell = { .run = run, .site = site, .context = context };
	uint32_t hash = index_hash(&key, sizeof(key)), found;

	found = index_find(&p->lookup->cells, hash, cell_equal, p, &key);
	if (found == INDEX_NONE) {
		profile_stats_init(&cell.stats);
		found = p->n_cells;
		vec_push(p, cells, cell);
		index_add(&p->lookup->cells, hash, found);
	}
	return &p->cells[found].stats;
}
