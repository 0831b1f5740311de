// SPDX-License-Identifier: GPL-2.0-or-later
#include "profile/merge.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "profile/blocks.h"
#include "profile/index.h"

/* Values longer than this (a whole kernel config) are not quoted. */
#define QUOTED_MAX 60

static bool same(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

/* Starts the next reason in the list. */
static FILE *reason(FILE *out)
{
	if (ftell(out))
		fputs("; ", out);
	return out;
}

static void quote(FILE *out, const char *value)
{
	if (!value)
		fputs("not known", out);
	else if (strlen(value) <= QUOTED_MAX)
		fprintf(out, "\"%s\"", value);
	else
		fprintf(out, "another");
}

static void conflict_env(FILE *out, const char *key, const char *a, const char *b)
{
	if (!strncmp(key, "record.", strlen("record.")) || same(a, b))
		return;
	fprintf(reason(out), "%s ", key);
	if (a && b && (strlen(a) > QUOTED_MAX || strlen(b) > QUOTED_MAX)) {
		fputs("differs", out);
		return;
	}
	quote(out, b);
	fputs(" instead of ", out);
	quote(out, a);
}

static void conflict_envs(FILE *out, const struct profile *dst, const struct profile *src)
{
	uint32_t i;

	for (i = 0; i < dst->n_envs; i++)
		conflict_env(out, dst->envs[i].key, dst->envs[i].value,
			     profile_env_get(src, dst->envs[i].key));
	for (i = 0; i < src->n_envs; i++)
		if (!profile_env_get(dst, src->envs[i].key))
			conflict_env(out, src->envs[i].key, NULL, src->envs[i].value);
}

static void conflict_recording(FILE *out, const struct profile *dst, const struct profile *src)
{
	uint32_t i;

	if (dst->clock != src->clock)
		fprintf(reason(out), "times in %s instead of %s", profile_clock_unit(src->clock),
			profile_clock_unit(dst->clock));
	if (dst->freq != src->freq)
		fprintf(reason(out), "%u samples a second instead of %u", src->freq, dst->freq);
	else if (dst->sample_period != src->sample_period)
		fprintf(reason(out), "a sample every %" PRIu64 " %s instead of every %" PRIu64,
			src->sample_period, profile_clock_unit(src->clock), dst->sample_period);
	for (i = 0; i < dst->n_args && i < src->n_args; i++)
		if (strcmp(dst->args[i], src->args[i]))
			break;
	if (i < dst->n_args || i < src->n_args)
		fputs("another command was run", reason(out));
}

/* A profile's sites by what they are and, if MECH, by how they were timed. */
struct site_table {
	const struct profile *p;
	bool mech;
	struct index index;
};

static uint32_t site_hash(const struct profile_site *site)
{
	uint64_t key[] = { site->kind, site->addr, index_hash(site->name, strlen(site->name)) };

	return index_hash(key, sizeof(key));
}

static bool site_equal(const void *ctx, uint32_t item, const void *key)
{
	const struct site_table *table = ctx;
	const struct profile_site *a = &table->p->sites[item], *b = key;

	return a->kind == b->kind && a->addr == b->addr && same(a->name, b->name) &&
	       same(a->symbol, b->symbol) && same(a->into, b->into) && same(a->chain, b->chain) &&
	       (!table->mech || a->mech == b->mech);
}

static uint32_t site_find(const struct site_table *table, const struct profile_site *site)
{
	return index_find(&table->index, site_hash(site), site_equal, table, site);
}

static void site_table_init(struct site_table *table, const struct profile *p, bool mech)
{
	uint32_t i;

	*table = (struct site_table){ .p = p, .mech = mech };
	for (i = 0; i < p->n_sites; i++)
		if (site_find(table, &p->sites[i]) == INDEX_NONE)
			index_add(&table->index, site_hash(&p->sites[i]), i);
}

/* How many of TABLE's sites OTHER does not have, and the name of one of them. */
static uint32_t sites_missing(const struct site_table *table, const struct site_table *other,
			      const char **name)
{
	uint32_t i, n = 0;

	for (i = 0; i < table->p->n_sites; i++) {
		if (site_find(other, &table->p->sites[i]) == INDEX_NONE) {
			*name = table->p->sites[i].name;
			n++;
		}
	}
	return n;
}

static void conflict_sites(FILE *out, const struct profile *dst, const struct profile *src)
{
	struct site_table in_dst, in_src;
	const char *name = NULL;
	uint32_t i, n;

	site_table_init(&in_dst, dst, false);
	site_table_init(&in_src, src, false);
	n = sites_missing(&in_dst, &in_src, &name) + sites_missing(&in_src, &in_dst, &name);
	if (n)
		fprintf(reason(out), "other functions were timed (%s%s)", name,
			n > 1 ? " and others" : "");
	for (i = 0; i < src->n_sites; i++) {
		const struct profile_site *site = &src->sites[i];
		uint32_t found = site_find(&in_dst, site);

		if (found != INDEX_NONE && dst->sites[found].mech != site->mech) {
			fprintf(reason(out), "%s was timed by %s instead of %s", site->name,
				profile_mechanism_name(site->mech),
				profile_mechanism_name(dst->sites[found].mech));
			break; /* one says it for all */
		}
	}
	index_deinit(&in_dst.index);
	index_deinit(&in_src.index);
}

char *profile_merge_conflict(const struct profile *dst, const struct profile *src)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return alloc_strdup("out of memory");
	conflict_recording(out, dst, src);
	conflict_sites(out, dst, src);
	conflict_envs(out, dst, src);
	fclose(out);
	if (size)
		return text;
	free(text);
	return NULL;
}

/* Where SRC's entries are in DST. */
struct mapping {
	uint32_t first_run;
	uint32_t *sites, *contexts, *locations, *stacks;
};

static uint32_t *map_sites(struct profile *dst, const struct profile *src)
{
	uint32_t *map = alloc_array(src->n_sites, sizeof(*map)), i;
	struct site_table table;

	site_table_init(&table, dst, true);
	/* There is one site of contexts, however they were timed: map[0] stays 0. */
	for (i = 1; i < src->n_sites; i++) {
		map[i] = site_find(&table, &src->sites[i]);
		if (map[i] == INDEX_NONE)
			map[i] = profile_site_add(dst, &src->sites[i]);
		else {
			dst->sites[map[i]].missed += src->sites[i].missed;
			dst->sites[map[i]].detached |= src->sites[i].detached;
		}
	}
	index_deinit(&table.index);
	return map;
}

static uint32_t *map_contexts(struct profile *dst, const struct profile *src)
{
	uint32_t *map = alloc_array(src->n_contexts, sizeof(*map)), i;

	for (i = 0; i < src->n_contexts; i++)
		map[i] = profile_context_add(dst, src->contexts[i].name);
	return map;
}

static bool same_frames(const struct profile_location *a, const struct profile_location *b)
{
	uint32_t i;

	if (a->n_frames != b->n_frames)
		return false;
	for (i = 0; i < a->n_frames; i++)
		if (!same(a->frames[i].name, b->frames[i].name) ||
		    !same(a->frames[i].file, b->frames[i].file) ||
		    a->frames[i].line != b->frames[i].line ||
		    a->frames[i].inlined != b->frames[i].inlined)
			return false;
	return true;
}

/*
 * On one kernel an address has one meaning. Where two kernels are merged by force it has two: the
 * second goes under its kernel's build id, as if it were a module's.
 */
static uint32_t map_location(struct profile *dst, const struct profile *src, uint32_t number,
			     const char *other_kernel)
{
	const struct profile_location *location = &src->locations[number];
	uint32_t found = profile_location_add(dst, location->addr, location->module), i;

	if (dst->locations[found].n_frames && location->n_frames &&
	    !same_frames(&dst->locations[found], location))
		found = profile_location_add(dst, location->addr, other_kernel);
	if (!dst->locations[found].n_frames)
		for (i = 0; i < location->n_frames; i++)
			profile_location_frame_add(dst, found, &location->frames[i]);
	return found;
}

static uint32_t *map_locations(struct profile *dst, const struct profile *src)
{
	uint32_t *map = alloc_array(src->n_locations, sizeof(*map)), i;
	const char *build_id = profile_env_get(src, PROFILE_ENV_BUILD_ID);
	char *other_kernel = alloc_printf("kernel %.8s", build_id ? build_id : "?");

	for (i = 0; i < src->n_locations; i++)
		map[i] = map_location(dst, src, i, other_kernel);
	free(other_kernel);
	return map;
}

static uint32_t *map_stacks(struct profile *dst, const struct profile *src,
			    const uint32_t *locations)
{
	uint32_t *map = alloc_array(src->n_stacks, sizeof(*map)), *stack = NULL, i, j;

	for (i = 0; i < src->n_stacks; i++) {
		uint32_t n = src->stacks[i].n_locations;

		stack = alloc_resize(stack, n, sizeof(*stack));
		for (j = 0; j < n; j++)
			stack[j] = locations[src->stacks[i].locations[j]];
		map[i] = profile_stack_add(dst, stack, n);
	}
	free(stack);
	return map;
}

static uint32_t count_boots(const struct profile *p)
{
	uint32_t i, n = 0;

	for (i = 0; i < p->n_runs; i++)
		if (p->runs[i].boot >= n)
			n = p->runs[i].boot + 1;
	return n;
}

/* The part of LIST, with commas between, that has number I; of length *N, which is 0 where there is none. */
static const char *boot_id(const char *list, uint32_t i, size_t *n)
{
	for (; list && i; i--) {
		list = strchr(list, ',');
		list += !!list;
	}
	*n = list ? strcspn(list, ",") : 0;
	return list;
}

/* Which of DST's N boots is that of the id of length LEN; N: none of them. */
static uint32_t boot_find(const struct profile *dst, uint32_t n, const char *id, size_t len)
{
	const char *list = profile_env_get(dst, PROFILE_ENV_BOOTS);
	uint32_t i;

	for (i = 0; i < n && len; i++) {
		size_t other_len;
		const char *other = boot_id(list, i, &other_len);

		if (other_len == len && !memcmp(other, id, len))
			return i;
	}
	return n;
}

/* The ids of DST's N boots become one more. */
static void boot_add(struct profile *dst, uint32_t n, const char *id, size_t len)
{
	const char *list = profile_env_get(dst, PROFILE_ENV_BOOTS), *at = list;
	char *longer;

	if (!list && !len)
		return;
	longer = alloc_strdup(list ? list : "");
	/* As many commas as there are boots, so that each has its place. */
	for (; n; n--) {
		at = at ? strchr(at, ',') : NULL;
		at += !!at;
		if (!at) {
			char *padded = alloc_printf("%s,", longer);

			free(longer);
			longer = padded;
		}
	}
	at = longer;
	longer = alloc_printf("%s%.*s", at, (int)len, len ? id : "");
	free((char *)at);
	profile_env_set(dst, PROFILE_ENV_BOOTS, longer);
	free(longer);
}

/* Where SRC's boots are in DST; *SHARED of them were there already. */
static uint32_t *map_boots(struct profile *dst, const struct profile *src, uint32_t *shared)
{
	const char *list = profile_env_get(src, PROFILE_ENV_BOOTS);
	uint32_t n = count_boots(dst), n_src = count_boots(src), i;
	uint32_t *map = alloc_array(n_src, sizeof(*map));

	*shared = 0;
	for (i = 0; i < n_src; i++) {
		size_t len;
		const char *id = boot_id(list, i, &len);

		map[i] = boot_find(dst, n, id, len);
		if (map[i] < n) {
			++*shared;
			continue;
		}
		boot_add(dst, n, id, len);
		n++;
	}
	return map;
}

static void merge_runs(struct profile *dst, const struct profile *src, const uint32_t *boots)
{
	uint32_t i, j;

	for (i = 0; i < src->n_runs; i++) {
		uint32_t number = profile_run_add(dst, src->runs[i].kind);
		struct profile_run *run = &dst->runs[number];

		*run = src->runs[i];
		run->boot = boots[src->runs[i].boot];
		run->reports = NULL;
		run->n_reports = run->cap_reports = 0;
		for (j = 0; j < src->runs[i].n_reports; j++)
			profile_report_add(dst, number, &src->runs[i].reports[j]);
	}
}

static void merge_cells(struct profile *dst, const struct profile *src, const struct mapping *map)
{
	uint32_t i;

	for (i = 0; i < src->n_cells; i++) {
		const struct profile_cell *cell = &src->cells[i];

		profile_stats_merge(profile_cell(dst, map->first_run + cell->run,
						 map->sites[cell->site],
						 map->contexts[cell->context]),
				    &cell->stats);
	}
}

static void merge_samples(struct profile *dst, const struct profile *src, const struct mapping *map)
{
	uint32_t i;

	for (i = 0; i < src->n_samples; i++) {
		struct profile_sample sample = src->samples[i];

		sample.run += map->first_run;
		sample.context = map->contexts[sample.context];
		sample.stack = map->stacks[sample.stack];
		profile_sample_add(dst, &sample);
	}
}

static void merge_blocks(struct profile *dst, const struct profile *src, const struct mapping *map)
{
	uint32_t *blocks = alloc_array(src->n_blocks, sizeof(*blocks)), i, b;

	for (i = 0; i < src->n_blocks; i++)
		blocks[i] = profile_blocks_map(dst, &src->blocks[i],
					       map->sites[src->blocks[i].site], map->locations);
	for (i = 0; i < src->n_block_counts; i++) {
		const struct profile_block_counts *from = &src->block_counts[i];
		struct profile_block_counts *to =
			profile_block_counts(dst, map->first_run + from->run, blocks[from->blocks],
					     map->contexts[from->context]);

		to->calls = from->calls;
		to->residual = from->residual;
		for (b = 0; b < src->blocks[from->blocks].n_items; b++)
			to->counts[b] = from->counts[b];
	}
	for (i = 0; i < src->n_paths; i++) {
		struct profile_path path = src->paths[i];

		path.run += map->first_run;
		path.blocks = blocks[path.blocks];
		path.context = map->contexts[path.context];
		vec_push(dst, paths, path);
	}
	for (i = 0; i < src->n_turns; i++) {
		struct profile_turns turns = src->turns[i];

		turns.run += map->first_run;
		turns.blocks = blocks[turns.blocks];
		turns.context = map->contexts[turns.context];
		vec_push(dst, turns, turns);
	}
	free(blocks);
}

uint32_t profile_merge(struct profile *dst, const struct profile *src)
{
	struct mapping map = { .first_run = dst->n_runs };
	uint32_t shared, *boots = map_boots(dst, src, &shared);

	map.sites = map_sites(dst, src);
	map.contexts = map_contexts(dst, src);
	map.locations = map_locations(dst, src);
	map.stacks = map_stacks(dst, src, map.locations);
	merge_runs(dst, src, boots);
	merge_cells(dst, src, &map);
	merge_samples(dst, src, &map);
	merge_blocks(dst, src, &map);
	free(map.sites);
	free(map.contexts);
	free(map.locations);
	free(map.stacks);
	free(boots);
	return shared;
}
