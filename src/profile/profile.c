// SPDX-License-Identifier: GPL-2.0-or-later
#include "profile/profile.h"

#include <stdbool.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "profile/layout.h"

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
	if (!p)
		return;
	for_each_section(type) {
		layout_free(&profile_sections[type].layout, p);
		hash_deinit(&p->lookup->of[type]);
	}
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
	struct profile_env env = { .key = key };
	uint32_t found = section_find_or_add(p, SECTION_ENVIRONMENT, &env);

	p->envs[found].value = profile_intern(p, value);
}

const char *profile_env_get(const struct profile *p, const char *key)
{
	struct profile_env env = { .key = key };
	uint32_t found = section_find(p, SECTION_ENVIRONMENT, &env);

	return found == HASH_NONE ? NULL : p->envs[found].value;
}

bool profile_same_kernel(const struct profile *a, const struct profile *b)
{
	const char *of_a = profile_env_get(a, PROFILE_ENV_BUILD_ID);
	const char *of_b = profile_env_get(b, PROFILE_ENV_BUILD_ID);

	return of_a && of_b && !strcmp(of_a, of_b);
}

bool profile_is_exact(const struct profile *p)
{
	const char *engine = profile_env_get(p, PROFILE_ENV_ENGINE);

	return engine && !strcmp(engine, PROFILE_ENGINE_EXACT);
}

bool profile_run_is_probed(const struct profile *p, const struct profile_run *run)
{
	return run->kind != PROFILE_RUN_CONTROL && !profile_is_exact(p);
}

uint32_t profile_probed_runs(const struct profile *p)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->n_runs; i++)
		n += p->runs[i].kind != PROFILE_RUN_CONTROL;
	return n;
}

enum profile_env_group profile_env_group(const char *key)
{
	if (!strncmp(key, "record.", strlen("record.")))
		return PROFILE_ENV_OF_RECORDING;
	return strncmp(key, "kernel.", strlen("kernel.")) ? PROFILE_ENV_OF_MACHINE :
							    PROFILE_ENV_OF_KERNEL;
}

void profile_arg_add(struct profile *p, const char *arg)
{
	vec_push(p, args, profile_intern(p, arg));
}

uint32_t profile_site_add(struct profile *p, const struct profile_site *site)
{
	return section_add(p, SECTION_SITES, site);
}

char *profile_site_label(const struct profile_site *site)
{
	return site->kind == PROFILE_SITE_RANGE ? alloc_printf("%s@%s", site->name, site->into) :
						  alloc_strdup(site->name);
}

bool profile_site_has_label(const struct profile_site *site, const char *label)
{
	scoped_free char *own = profile_site_label(site);

	return site->kind != PROFILE_SITE_CONTEXT && !strcmp(own, label);
}

bool profile_site_is_counted(const struct profile *p, const struct profile_site *site)
{
	return site->mech != PROFILE_UNTIMED || profile_is_exact(p);
}

bool profile_site_is_in(const struct profile_site *site, const char *module)
{
	const char *open = site->symbol ? strstr(site->symbol, " [") : NULL;
	size_t len = module ? strlen(module) : 0;

	if (!open || !module)
		return !open && !module;
	return !strncmp(open + 2, module, len) && !strcmp(open + 2 + len, "]");
}

uint32_t profile_context_add(struct profile *p, const char *name)
{
	struct profile_context context = { .name = name };

	return section_find_or_add(p, SECTION_CONTEXTS, &context);
}

bool profile_context_is(const struct profile *p, uint32_t context, enum profile_context_kind kind)
{
	const char *name = profile_context_name(kind);

	return name && !strcmp(p->contexts[context].name, name);
}

uint32_t profile_run_add(struct profile *p, enum profile_run_kind kind)
{
	struct profile_run run = {
		.kind = kind,
		.cpu = PROFILE_NOT_COUNTED,
		.samples_expected = PROFILE_NOT_COUNTED,
		.samples_received = PROFILE_NOT_COUNTED,
	};

	for (int i = 0; i < PROFILE_N_LOSSES; i++)
		run.losses[i] = PROFILE_NOT_COUNTED;
	vec_push(p, runs, run);
	return p->n_runs - 1;
}

void profile_report_add(struct profile *p, uint32_t run, const struct profile_report *report)
{
	struct profile_report copy;

	layout_copy(&layout_report, p, &copy, report);
	vec_push(&p->runs[run], reports, copy);
}

uint32_t profile_location_add(struct profile *p, uint64_t addr, const char *module)
{
	struct profile_location location = { .addr = addr, .module = module };

	return section_find_or_add(p, SECTION_LOCATIONS, &location);
}

void profile_location_frame_add(struct profile *p, uint32_t location,
				const struct profile_frame *frame)
{
	struct profile_frame copy;

	layout_copy(&layout_frame, p, &copy, frame);
	vec_push(&p->locations[location], frames, copy);
}

uint32_t profile_stack_add(struct profile *p, const uint32_t *locations, uint32_t n)
{
	struct profile_stack stack = { .locations = (uint32_t *)locations, .n_locations = n };

	return section_find_or_add(p, SECTION_STACKS, &stack);
}

/* Add ENTRY. If an equal entry exists, add ENTRY's counts to its counts. */
static void add_or_merge(struct profile *p, enum section_type type, const void *entry)
{
	const struct field *table = section_table(type);
	uint32_t found = section_find(p, type, entry);

	if (found == HASH_NONE)
		section_add(p, type, entry);
	else
		layout_merge(table->of, list_at(table, p, found), entry);
}

#define DEFINE_ADD(name, type, section)                                        \
	void profile_##name##_add(struct profile *p, const struct type *entry) \
	{                                                                      \
		add_or_merge(p, section, entry);                               \
	}

DEFINE_ADD(edge, profile_edge, SECTION_EDGES)
DEFINE_ADD(executions, profile_edge, SECTION_EXECUTIONS)
DEFINE_ADD(miss, profile_miss, SECTION_MISSES)
DEFINE_ADD(object, profile_object, SECTION_OBJECTS)
DEFINE_ADD(sample, profile_sample, SECTION_SAMPLES)
DEFINE_ADD(counted, profile_counted, SECTION_COUNTED)
DEFINE_ADD(capture, profile_capture, SECTION_CAPTURES)

uint32_t profile_counter_add(struct profile *p, const char *name)
{
	return section_find_or_add(p, SECTION_COUNTERS, &(const struct profile_counter){ name });
}

void profile_counter_cost_set(struct profile *p, const struct profile_counter_cost *cost)
{
	uint32_t found = section_find_or_add(p, SECTION_COUNTER_COSTS, cost);

	p->counter_costs[found] = *cost;
}

void profile_condition_set(struct profile *p, uint32_t location, const char *text)
{
	const struct profile_condition condition = { location, text };
	uint32_t found = section_find_or_add(p, SECTION_CONDITIONS, &condition);

	p->conditions[found].text = profile_intern(p, text);
}

const char *profile_condition_of(const struct profile *p, uint32_t location)
{
	const struct profile_condition condition = { .location = location };
	uint32_t found = section_find(p, SECTION_CONDITIONS, &condition);

	return found == HASH_NONE ? NULL : p->conditions[found].text;
}

uint32_t profile_variable_add(struct profile *p, const struct profile_variable *variable)
{
	return section_find_or_add(p, SECTION_VARIABLES, variable);
}

uint64_t profile_name_value(const char *text)
{
	uint64_t value = 0xcbf29ce484222325;

	for (; *text; text++)
		value = (value ^ (unsigned char)*text) * 0x100000001b3;
	return value;
}

uint64_t profile_name_add(struct profile *p, const char *text)
{
	const struct profile_name name = { profile_name_value(text), text };
	uint32_t found = section_find_or_add(p, SECTION_NAMES, &name);

	p->names[found].text = profile_intern(p, text);
	return name.value;
}

const char *profile_name_of(const struct profile *p, uint64_t value)
{
	const struct profile_name name = { .value = value };
	uint32_t found = section_find(p, SECTION_NAMES, &name);

	if (found != HASH_NONE)
		return p->names[found].text;
	for (uint32_t i = 0; i < p->n_contexts; i++)
		if (profile_name_value(p->contexts[i].name) == value)
			return p->contexts[i].name;
	return NULL;
}

struct profile_stats *profile_cell(struct profile *p, uint32_t run, uint32_t site, uint32_t context)
{
	struct profile_cell cell = { .run = run, .site = site, .context = context };
	uint32_t found;

	profile_stats_init(&cell.stats);
	found = section_find_or_add(p, SECTION_CELLS, &cell);
	return &p->cells[found].stats;
}

const struct profile_cell *profile_cell_find(const struct profile *p, uint32_t run, uint32_t site,
					     uint32_t context)
{
	const struct profile_cell cell = { .run = run, .site = site, .context = context };
	uint32_t found = section_find(p, SECTION_CELLS, &cell);

	return found == HASH_NONE ? NULL : &p->cells[found];
}

uint32_t profile_blocks_add(struct profile *p, const struct profile_blocks *blocks)
{
	vec_push(p, blocks, *blocks);
	return p->n_blocks - 1;
}

struct profile_block_counts *profile_block_counts(struct profile *p, uint32_t run, uint32_t blocks,
						  uint32_t context)
{
	struct profile_block_counts counts = { .run = run, .blocks = blocks, .context = context };
	uint32_t found = section_find_or_add(p, SECTION_BLOCK_COUNTS, &counts);
	struct profile_block_counts *c = &p->block_counts[found];

	if (!c->counts) {
		c->n_counts = c->cap_counts = p->blocks[blocks].n_items;
		c->counts = alloc_array(c->n_counts, sizeof(*c->counts));
	}
	return c;
}

/* ---- strings ---- */

/* Short strings share memory blocks of this size, so that 100,000 symbol names do not take 100,000 allocations. */
#define BLOCK_SIZE ((size_t)64 << 10)

struct pooled {
	const char *text;
	size_t len;
};

struct profile_strings {
	vec_of(struct pooled, items);
	vec_of(char *, blocks);
	char *block; /* memory for short strings; its last block_left bytes are free */
	size_t block_left;
	struct hash_index index;
};

struct profile_strings *profile_strings_create(void)
{
	return alloc_new(struct profile_strings);
}

void profile_strings_destroy(struct profile_strings *pool)
{
	if (!pool)
		return;
	for (uint32_t i = 0; i < pool->n_blocks; i++)
		free(pool->blocks[i]);
	free(pool->blocks);
	free(pool->items);
	hash_deinit(&pool->index);
	free(pool);
}

static bool pooled_equal(const void *ctx, uint32_t item, const void *key)
{
	const struct profile_strings *pool = ctx;
	const struct pooled *a = &pool->items[item], *b = key;

	return a->len == b->len && !memcmp(a->text, b->text, a->len);
}

static char *pool_reserve(struct profile_strings *pool, size_t size)
{
	char *text;

	if (size > BLOCK_SIZE / 4) {
		text = alloc_array(size, 1);
		vec_push(pool, blocks, text);
		return text;
	}
	if (size > pool->block_left) {
		pool->block = alloc_array(BLOCK_SIZE, 1);
		pool->block_left = BLOCK_SIZE;
		vec_push(pool, blocks, pool->block);
	}
	text = pool->block;
	pool->block += size;
	pool->block_left -= size;
	return text;
}

uint32_t profile_strings_add(struct profile_strings *pool, const char *s, size_t len)
{
	struct pooled item = { .text = s, .len = len };
	uint32_t number = hash_find_or_add(&pool->index, hash_bytes(s, len), pooled_equal, pool,
					   &item, pool->n_items);
	char *copy;

	if (number < pool->n_items)
		return number;
	copy = pool_reserve(pool, len + 1);
	memcpy(copy, s, len);
	copy[len] = '\0';
	item.text = copy;
	vec_push(pool, items, item);
	return number;
}

const char *profile_strings_get(const struct profile_strings *pool, uint32_t number)
{
	return pool->items[number].text;
}

size_t profile_strings_length(const struct profile_strings *pool, uint32_t number)
{
	return pool->items[number].len;
}

uint32_t profile_strings_count(const struct profile_strings *pool)
{
	return pool->n_items;
}
