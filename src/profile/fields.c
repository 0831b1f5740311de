// SPDX-License-Identifier: GPL-2.0-or-later
/* All fields of a profile, in the order of the file. docs/internals/file-format.md explains how to add a field. */
#include <string.h>

#include "base/alloc.h"
#include "kprotperf/hist.h"
#include "profile/layout.h"

/*
 * A kernel stack with all inlined functions has less than FRAMES_USUAL frames. A frame counts once more per NAME_USUAL bytes of
 * its name. FRAMES_MORE limits the frames beyond FRAMES_USUAL, summed over all uses of stacks, such as samples.
 */
#define FRAMES_USUAL 256
#define NAME_USUAL   64
#define FRAMES_MORE  (1u << 22)

#define ADDRESS_MAX (1ull << 60)
#define TIME_MAX    PROFILE_TOTAL_MAX

#define AT(type, member) \
	.offset = offsetof(struct type, member), .size = sizeof(((struct type *)0)->member)
#define FIELD(type, member, a_kind, ...)                                \
	{                                                               \
		.kind = FIELD_##a_kind, AT(type, member), ##__VA_ARGS__ \
	}
#define NUMBER(type, member, ...) FIELD(type, member, NUMBER, ##__VA_ARGS__)
#define COUNT(type, member, ...)  FIELD(type, member, COUNT, ##__VA_ARGS__)
#define DOUBLE(type, member, ...) FIELD(type, member, DOUBLE, ##__VA_ARGS__)
#define FLAG(type, member, ...)   FIELD(type, member, FLAG, ##__VA_ARGS__)
/* A number of at most LAST. WHAT is the error message for a larger number. */
#define ENUM(type, member, last, what, ...) \
	NUMBER(type, member, .max = (last), .wrong = (what), ##__VA_ARGS__)
#define INDEX(type, member, a_table, ...) \
	NUMBER(type, member, .table = SECTION_##a_table, ##__VA_ARGS__)
/* A member that is an array of numbers. */
#define VALUES(type, member, ...)                                              \
	{                                                                      \
		.kind = FIELD_NUMBER, .offset = offsetof(struct type, member), \
		.size = sizeof(((struct type *)0)->member[0]),                 \
		.n = ARRAY_SIZE(((struct type *)0)->member), ##__VA_ARGS__     \
	}
/* Strings: NAME is a name, OPTIONAL a name that may be NULL, TEXT has any length. */
#define NAME(type, member, ...) \
	FIELD(type, member, STRING, .max = PROFILE_NAME_MAX, .required = true, ##__VA_ARGS__)
#define OPTIONAL(type, member, ...) \
	FIELD(type, member, STRING, .max = PROFILE_NAME_MAX, ##__VA_ARGS__)
#define TEXT(type, member) FIELD(type, member, STRING, .required = true)
#define LIST(type, member, a_layout, ...)                                                  \
	FIELD(type, member, LIST, .n_offset = offsetof(struct type, n_##member),           \
	      .cap_offset = offsetof(struct type, cap_##member), .of = &layout_##a_layout, \
	      ##__VA_ARGS__)

#define FIELDS(a_size, a_wrong, ...)                                               \
	{                                                                          \
		.size = (a_size), .fields = (const struct field[]){ __VA_ARGS__ }, \
		.n_fields = ARRAY_SIZE(((const struct field[]){ __VA_ARGS__ })),   \
		.wrong = (a_wrong)                                                 \
	}
#define LAYOUT(name, type, wrong, ...) \
	static const struct layout layout_##name = FIELDS(sizeof(type), wrong, __VA_ARGS__)
#define SECTION(type, a_name, some_flags, wrong, ...) \
	[SECTION_##type] = { .name = (a_name),        \
			     .flags = (some_flags),   \
			     .layout = FIELDS(sizeof(struct profile), wrong, __VA_ARGS__) }

/* clang-format off */
#define SAME .key = KEY_SAME
#define SUM  .merge = MERGE_SUM, ADDS
#define ADDS .adds = true
/* A signed address relative to the start of the code or file, within the processor's address range. */
#define ADDRESS(type, member, ...) \
	NUMBER(type, member, .max = 2 * ADDRESS_MAX, .bias = ADDRESS_MAX, .wrong = "has an address that is none", ##__VA_ARGS__)

LAYOUT(arg, const char *, NULL, { .kind = FIELD_STRING, .size = sizeof(const char *), .required = true });

LAYOUT(env, struct profile_env, NULL,
	NAME(profile_env, key, SAME),
	TEXT(profile_env, value));

static const char *site_wrong(const struct profile *p, const void *entry)
{
	const struct profile_site *site = entry;

	if ((site->kind == PROFILE_SITE_RANGE) != !!site->into ||
	    (!site->into && (site->chain || site->estimated)))
		return "has a range without an enclosing function, or an enclosing function "
		       "without a range";
	if ((site->kind == PROFILE_SITE_CONTEXT) != (site == p->sites))
		return "does not have the contexts' own site exactly once, at its start";
	return NULL;
}

static const char *sites_wrong(const struct profile *p, const void *entry)
{
	(void)entry;
	return p->n_sites ? NULL : "is empty";
}

LAYOUT(site, struct profile_site, site_wrong,
	NAME(profile_site, name, SAME),
	OPTIONAL(profile_site, symbol, SAME),
	ENUM(profile_site, kind, PROFILE_SITE_RANGE, "has a site of an unknown kind", SAME),
	ENUM(profile_site, mech, PROFILE_N_MECHANISMS - 1, "has a site timed by an unknown mechanism", .key = KEY_DISTINCT),
	ADDRESS(profile_site, addr, SAME),
	OPTIONAL(profile_site, file),
	NUMBER(profile_site, line),
	NUMBER(profile_site, missed, SUM),
	OPTIONAL(profile_site, into, SAME),
	OPTIONAL(profile_site, chain, SAME),
	OPTIONAL(profile_site, estimated));

LAYOUT(context, struct profile_context, NULL, NAME(profile_context, name, SAME));

const struct layout layout_report = FIELDS(sizeof(struct profile_report), NULL,
	NAME(profile_report, name),
	NUMBER(profile_report, iterations),
	DOUBLE(profile_report, mean, .required = true),
	DOUBLE(profile_report, p50),
	DOUBLE(profile_report, min));

/* A file names its kinds of lost data, so kinds can be added and moved without a new version of the format. */
LAYOUT(run, struct profile_run, NULL,
	ENUM(profile_run, kind, PROFILE_RUN_CONTROL, "has a run of an unknown kind"),
	/* A boot's number is below the number of runs, so callers may use it as an index of an array of that size. */
	INDEX(profile_run, boot, RUNS, .wrong = "has more boots than runs"),
	NUMBER(profile_run, wall, ADDS),
	COUNT(profile_run, cpu, ADDS),
	ENUM(profile_run, status, 255, "has a run with an exit status that is none"),
	ENUM(profile_run, end, PROFILE_N_ENDS - 1, "has a run that ended in an unknown way"),
	{ .kind = FIELD_LOSSES, .offset = offsetof(struct profile_run, losses), .size = sizeof(uint64_t), .n = PROFILE_N_LOSSES, ADDS },
	COUNT(profile_run, samples_expected, ADDS),
	COUNT(profile_run, samples_received, ADDS),
	LIST(profile_run, reports, report));

LAYOUT(bucket, struct profile_bucket, NULL,
	FIELD(profile_bucket, slot, STEP, .max = HIST_SLOTS - 1, .wrong = "has a nonexistent histogram slot"),
	NUMBER(profile_bucket, count, ADDS));

static const char *stats_wrong(const struct profile *p, const void *entry)
{
	const struct profile_stats *s = entry;

	(void)p;
	if (s->min > s->max)
		return "has a minimum above its maximum";
	for (uint32_t i = 0; i < s->n_buckets; i++) {
		if (i && s->buckets[i].slot <= s->buckets[i - 1].slot)
			return "has a histogram out of order";
		if (!s->buckets[i].count)
			return "has an empty histogram slot";
	}
	return NULL;
}

/* profile_stats_merge() merges the minimum, the maximum and the histogram. */
const struct layout layout_stats = FIELDS(sizeof(struct profile_stats), stats_wrong,
	NUMBER(profile_stats, calls, SUM),
	COUNT(profile_stats, entries, SUM),
	COUNT(profile_stats, errors, SUM),
	NUMBER(profile_stats, wall, SUM),
	NUMBER(profile_stats, oncpu, SUM),
	FIELD(profile_stats, self, SIGNED, SUM),
	NUMBER(profile_stats, cost, SUM),
	DOUBLE(profile_stats, sumsq, SUM, .required = true),
	NUMBER(profile_stats, min, ADDS),
	NUMBER(profile_stats, max, ADDS),
	LIST(profile_stats, buckets, bucket, .max = HIST_SLOTS, .wrong = "has a histogram of too many slots"));

LAYOUT(cell, struct profile_cell, NULL,
	INDEX(profile_cell, run, RUNS, SAME),
	INDEX(profile_cell, site, SITES, SAME),
	INDEX(profile_cell, context, CONTEXTS, SAME),
	FIELD(profile_cell, stats, PART, .of = &layout_stats));

const struct layout layout_frame = FIELDS(sizeof(struct profile_frame), NULL,
	NAME(profile_frame, name, SAME),
	OPTIONAL(profile_frame, file, SAME),
	NUMBER(profile_frame, line, SAME),
	FLAG(profile_frame, inlined, SAME));

/* Limit the sum of the lengths of all frames' names, because callers may concatenate the names. */
static const char *location_wrong(const struct profile *p, const void *entry)
{
	const struct profile_location *location = entry;
	size_t length = 0;

	(void)p;
	for (uint32_t i = 0; i < location->n_frames; i++)
		length += strlen(location->frames[i].name);
	return length > PROFILE_NAME_MAX ? "has names that are too long at one address" : NULL;
}

LAYOUT(location, struct profile_location, location_wrong,
	ADDRESS(profile_location, addr, SAME),
	OPTIONAL(profile_location, module, SAME),
	LIST(profile_location, frames, frame, .max = 64, .wrong = "has too many frames at one address"));

LAYOUT(stack_location, uint32_t, NULL,
	{ .kind = FIELD_NUMBER, .size = sizeof(uint32_t), .table = SECTION_LOCATIONS, SAME });

LAYOUT(stack, struct profile_stack, NULL,
	LIST(profile_stack, locations, stack_location, SAME, .max = 1024, .wrong = "has a stack that is too deep"));

/* Return the number of frames of each location, indexed by location; a long name counts as several frames. */
static uint32_t *frames_count(const struct profile *p)
{
	uint32_t *n = alloc_array(p->n_locations, sizeof(*n));

	for (uint32_t i = 0; i < p->n_locations; i++) {
		const struct profile_location *location = &p->locations[i];

		n[i] = !location->n_frames;
		for (uint32_t k = 0; k < location->n_frames; k++)
			n[i] += 1 + (uint32_t)strlen(location->frames[k].name) / NAME_USUAL;
	}
	return n;
}

/* Return MORE[STACK], or 0 if STACK does not exist; another check reports this error. */
static uint64_t stack_value(const struct profile *p, const uint64_t *more, uint32_t stack)
{
	return stack < p->n_stacks ? more[stack] : 0;
}

/* Limit the frames over all uses of stacks. A use takes a few bytes in the file, but readers walk the whole stack for each use. */
static const char *stacks_wrong(const struct profile *p, const void *entry)
{
	scoped_free uint32_t *frames = frames_count(p);
	uint64_t *more = alloc_array(p->n_stacks, sizeof(*more)), sum = 0;

	(void)entry;
	for (uint32_t i = 0; i < p->n_stacks; i++) {
		for (uint32_t k = 0; k < p->stacks[i].n_locations; k++)
			more[i] += frames[p->stacks[i].locations[k]];
		more[i] -= more[i] < FRAMES_USUAL ? more[i] : FRAMES_USUAL;
	}
	for (uint32_t i = 0; i < p->n_samples; i++)
		sum += stack_value(p, more, p->samples[i].stack);
	for (uint32_t i = 0; i < p->n_edges; i++)
		sum += stack_value(p, more, p->edges[i].stack);
	for (uint32_t i = 0; i < p->n_executions; i++)
		sum += stack_value(p, more, p->executions[i].stack);
	for (uint32_t i = 0; i < p->n_misses; i++)
		sum += stack_value(p, more, p->misses[i].stack);
	free(more);
	return sum > FRAMES_MORE ? "refers to stacks that are too deep too often" : NULL;
}

LAYOUT(sample, struct profile_sample, NULL,
	INDEX(profile_sample, run, RUNS, SAME),
	INDEX(profile_sample, context, CONTEXTS, SAME),
	INDEX(profile_sample, stack, STACKS, SAME),
	ENUM(profile_sample, flags, PROFILE_SAMPLE_FLAGS, "has an unknown flag", SAME),
	NUMBER(profile_sample, count, SUM));

static const char *edge_wrong(const struct profile *p, const void *entry)
{
	const struct profile_edge *edge = entry;

	return p->stacks[edge->stack].n_locations ? NULL : "has calls of no function: a stack is empty";
}

LAYOUT(edge, struct profile_edge, edge_wrong,
	INDEX(profile_edge, run, RUNS, SAME),
	INDEX(profile_edge, context, CONTEXTS, SAME),
	INDEX(profile_edge, stack, STACKS, SAME),
	NUMBER(profile_edge, calls, SUM));

LAYOUT(miss, struct profile_miss, NULL,
	INDEX(profile_miss, run, RUNS, SAME),
	INDEX(profile_miss, context, CONTEXTS, SAME),
	INDEX(profile_miss, stack, STACKS, SAME),
	ENUM(profile_miss, event, MODEL_N_EVENTS - 1, "has an unknown event", SAME),
	NUMBER(profile_miss, count, SUM));

LAYOUT(object, struct profile_object, NULL,
	INDEX(profile_object, run, RUNS, SAME),
	INDEX(profile_object, context, CONTEXTS, SAME),
	NAME(profile_object, type, SAME),
	ENUM(profile_object, event, MODEL_N_EVENTS - 1, "has an unknown event", SAME),
	NUMBER(profile_object, count, SUM));

static const char *variable_wrong(const struct profile *p, const void *entry)
{
	uint8_t bytes = ((const struct profile_variable *)entry)->bytes;

	(void)p;
	return !bytes || bytes > sizeof(uint64_t) ? "has a variable of an unknown size" : NULL;
}

LAYOUT(variable, struct profile_variable, variable_wrong,
	INDEX(profile_variable, site, SITES, SAME),
	NAME(profile_variable, name, SAME),
	ENUM(profile_variable, kind, PROFILE_VARIABLE_NAME, "has a variable of an unknown kind"),
	NUMBER(profile_variable, bytes),
	FLAG(profile_variable, is_signed),
	FLAG(profile_variable, is_flags));

uint32_t *profile_site_variables(const struct profile *p, uint32_t n)
{
	uint32_t *bits = alloc_array(p->n_sites, sizeof(*bits));

	for (uint32_t i = 0; i < n; i++)
		bits[p->variables[i].site] = bits[p->variables[i].site] << 1 | 1;
	return bits;
}

static const char *variables_wrong(const struct profile *p, const void *entry)
{
	uint32_t *bits = profile_site_variables(p, p->n_variables), i;

	(void)entry;
	for (i = 0; i < p->n_sites && bits[i] < 1u << PROFILE_VALUES_MAX; i++)
		;
	free(bits);
	return i < p->n_sites ? "has too many variables of one site" : NULL;
}

static const char *capture_wrong(const struct profile *p, const void *entry)
{
	const struct profile_capture *c = entry;

	(void)p;
	if (!c->calls)
		return "has values without calls";
	return c->min > c->max ? "has a minimum above its maximum" : NULL;
}

/* Bit I stands for variable I. Values are wrong if ABSENT has a bit outside of VARIABLES, or a missing variable has a value. */
static bool are_values_wrong(uint32_t variables, uint32_t absent, const uint64_t *values)
{
	bool wrong = absent & ~variables;

	for (uint32_t i = 0; i < PROFILE_VALUES_MAX; i++)
		wrong |= values[i] && !((variables & ~absent) >> i & 1);
	return wrong;
}

static const char *captures_wrong(const struct profile *p, const void *entry)
{
	scoped_free uint32_t *bits = profile_site_variables(p, p->n_variables);

	(void)entry;
	vec_each(const struct profile_capture, c, p, captures)
		if (are_values_wrong(bits[c->site], c->absent, c->values))
			return "has a value without a variable";
	return NULL;
}

LAYOUT(capture, struct profile_capture, capture_wrong,
	INDEX(profile_capture, run, RUNS, SAME),
	INDEX(profile_capture, site, SITES, SAME),
	INDEX(profile_capture, context, CONTEXTS, SAME),
	FLAG(profile_capture, sampled, SAME),
	NUMBER(profile_capture, absent, SAME),
	NUMBER(profile_capture, calls, SUM),
	FIELD(profile_capture, time, SIGNED, SUM),
	DOUBLE(profile_capture, sumsq, SUM, .required = true),
	NUMBER(profile_capture, min, ADDS, .merge = MERGE_LEAST),
	NUMBER(profile_capture, max, ADDS, .merge = MERGE_MOST),
	VALUES(profile_capture, values, SAME));

LAYOUT(condition, struct profile_condition, NULL,
	INDEX(profile_condition, location, LOCATIONS, SAME),
	NAME(profile_condition, text));

static const char *name_wrong(const struct profile *p, const void *entry)
{
	const struct profile_name *name = entry;

	(void)p;
	return name->value != profile_name_value(name->text) ? "has a name of a different value" : NULL;
}

LAYOUT(name, struct profile_name, name_wrong,
	NUMBER(profile_name, value, SAME),
	NAME(profile_name, text));

LAYOUT(block, struct profile_block, NULL,
	ADDRESS(profile_block, addr, SAME),
	NUMBER(profile_block, bytes, SAME),
	NUMBER(profile_block, insns, SAME),
	INDEX(profile_block, location, LOCATIONS),
	FLAG(profile_block, reached),
	OPTIONAL(profile_block, callee));

LAYOUT(arc, struct profile_arc, NULL,
	NUMBER(profile_arc, from, SAME),
	NUMBER(profile_arc, to, SAME));

static const char *blocks_wrong(const struct profile *p, const void *entry)
{
	const struct profile_blocks *blocks = entry;

	if (p->sites[blocks->site].kind != PROFILE_SITE_FUNCTION)
		return "refers to a nonexistent function";
	if (blocks->entry >= blocks->n_items)
		return "has a function without its entry";
	for (uint32_t i = 0; i < blocks->n_items; i++) {
		if (i && blocks->items[i].addr <= blocks->items[i - 1].addr)
			return "has blocks out of order";
	}
	for (uint32_t i = 0; i < blocks->n_arcs; i++) {
		const struct profile_arc *arc = &blocks->arcs[i];

		if (arc->from >= blocks->n_items ||
		    (arc->to >= blocks->n_items && arc->to < PROFILE_ARC_ANY))
			return "refers to a nonexistent block";
		if (i && arc->from < arc[-1].from)
			return "has arcs out of order";
	}
	return NULL;
}

LAYOUT(blocks, struct profile_blocks, blocks_wrong,
	INDEX(profile_blocks, site, SITES, SAME, .wrong = "refers to a nonexistent function"),
	NUMBER(profile_blocks, entry, SAME),
	LIST(profile_blocks, items, block, SAME, .max = BLOCKS_MAX, .wrong = "has a function with too many blocks"),
	LIST(profile_blocks, arcs, arc, SAME, .max = 4 * BLOCKS_MAX, .wrong = "has a function with too many arcs"));

/* Limit the basic blocks of all functions: the work on them grows faster than their number. */
static const char *all_blocks_wrong(const struct profile *p, const void *entry)
{
	uint64_t n = 0;

	(void)entry;
	for (uint32_t i = 0; i < p->n_blocks; i++)
		n += p->blocks[i].n_items;
	return n > ALL_BLOCKS_MAX ? "has too many blocks" : NULL;
}

LAYOUT(block_count, uint64_t, NULL, { .kind = FIELD_COUNT, .size = sizeof(uint64_t), ADDS });

/* The list has one count for each basic block of the function. */
static uint32_t block_counts_length(const struct profile *p, const void *entry)
{
	const struct profile_block_counts *counts = entry;

	return counts->blocks < p->n_blocks ? p->blocks[counts->blocks].n_items : LIST_UNKNOWN;
}

/* Limit the counts that tables show: one per basic block, for each pair of function and context with counts in any run. */
static const char *block_counts_wrong(const struct profile *p, const void *entry)
{
	scoped_free bool *seen = alloc_array((size_t)p->n_blocks * p->n_contexts, sizeof(*seen));
	uint64_t shown = 0;

	(void)entry;
	vec_each(const struct profile_block_counts, c, p, block_counts) {
		bool *at = &seen[(size_t)c->blocks * p->n_contexts + c->context];

		shown += *at ? 0 : c->n_counts;
		*at = true;
	}
	return shown > ALL_COUNTS_MAX ? "counts too many blocks in too many contexts" : NULL;
}

LAYOUT(block_counts, struct profile_block_counts, NULL,
	INDEX(profile_block_counts, run, RUNS, SAME),
	INDEX(profile_block_counts, blocks, BLOCKS, SAME),
	INDEX(profile_block_counts, context, CONTEXTS, SAME),
	NUMBER(profile_block_counts, calls, ADDS),
	NUMBER(profile_block_counts, residual, ADDS),
	LIST(profile_block_counts, counts, block_count, .length = block_counts_length,
	     .wrong = "refers to a nonexistent function"));

LAYOUT(cost, struct profile_cost, NULL,
	ENUM(profile_cost, mech, PROFILE_N_COSTS - 1, "has the cost of an unknown mechanism", SAME),
	ENUM(profile_cost, kind, PROFILE_N_COST_KINDS - 1, "has a cost of an unknown kind", SAME),
	DOUBLE(profile_cost, value, .required = true),
	DOUBLE(profile_cost, spread));

LAYOUT(trace, struct profile_trace, NULL,
	INDEX(profile_trace, run, RUNS),
	ENUM(profile_trace, kind, PROFILE_TRACE_N_KINDS - 1, "has a line of an unknown kind"),
	NUMBER(profile_trace, depth),
	INDEX(profile_trace, location, LOCATIONS),
	NUMBER(profile_trace, times, ADDS),
	NUMBER(profile_trace, insns, ADDS));

static const char *traces_wrong(const struct profile *p, const void *entry)
{
	(void)entry;
	for (uint32_t i = 0; i < p->n_traces; i++)
		if (p->traces[i].depth > (i ? p->traces[i - 1].depth + 1 : 0))
			return "has a line that is in none";
	return NULL;
}

LAYOUT(counter, struct profile_counter, NULL, NAME(profile_counter, name, SAME));

LAYOUT(counted, struct profile_counted, NULL,
	INDEX(profile_counted, run, RUNS, SAME),
	INDEX(profile_counted, site, SITES, SAME),
	INDEX(profile_counted, context, CONTEXTS, SAME),
	INDEX(profile_counted, counter, COUNTERS, SAME),
	NUMBER(profile_counted, calls, SUM),
	FIELD(profile_counted, total, SIGNED, SUM),
	FIELD(profile_counted, self, SIGNED, SUM));

LAYOUT(counter_cost, struct profile_counter_cost, NULL,
	INDEX(profile_counter_cost, counter, COUNTERS, SAME),
	ENUM(profile_counter_cost, mech, PROFILE_N_MECHANISMS - 1, "has the cost of an unknown mechanism", SAME),
	DOUBLE(profile_counter_cost, inner, .required = true),
	DOUBLE(profile_counter_cost, inner_spread),
	DOUBLE(profile_counter_cost, full, .required = true),
	DOUBLE(profile_counter_cost, full_spread));


const struct profile_section profile_sections[SECTION_LAST + 1] = {
	[SECTION_STRINGS] = { .name = "strings" },
	SECTION(RECORDING, "recording", 0, NULL,
		ENUM(profile, clock, PROFILE_CLOCK_INSN, "has an unknown clock"),
		NUMBER(profile, freq),
		NUMBER(profile, sample_period, .max = TIME_MAX, .wrong = "has a time that is too large"),
		LIST(profile, args, arg, .max = 1 << 20, .wrong = "has too many arguments")),
	SECTION(ENVIRONMENT, "environment", TABLE_UNIQUE, NULL,
		LIST(profile, envs, env, .max = 4096, .wrong = "has too many entries")),
	SECTION(SITES, "sites", 0, sites_wrong, LIST(profile, sites, site, .max = 1 << 20, .wrong = "has too many sites")),
	SECTION(CONTEXTS, "contexts", TABLE_UNIQUE, NULL, LIST(profile, contexts, context, .max = 4096, .wrong = "has too many contexts")),
	SECTION(RUNS, "runs", 0, NULL,
		{ .kind = FIELD_LOSS_KINDS },
		LIST(profile, runs, run, .max = 1 << 20, .wrong = "has too many runs")),
	SECTION(CELLS, "cells", TABLE_UNIQUE, NULL, LIST(profile, cells, cell)),
	SECTION(LOCATIONS, "locations", TABLE_UNIQUE, NULL, LIST(profile, locations, location)),
	SECTION(STACKS, "stacks", TABLE_UNIQUE, NULL, LIST(profile, stacks, stack)),
	SECTION(SAMPLES, "samples", TABLE_UNIQUE, stacks_wrong, LIST(profile, samples, sample)),
	SECTION(BLOCKS, "blocks", 0, all_blocks_wrong,
		LIST(profile, blocks, blocks, .max = FUNCTIONS_MAX, .wrong = "has too many functions")),
	SECTION(BLOCK_COUNTS, "block counts", TABLE_UNIQUE, block_counts_wrong, LIST(profile, block_counts, block_counts)),
	SECTION(COSTS, "costs", TABLE_UNIQUE | TABLE_OPTIONAL, NULL, LIST(profile, costs, cost)),
	SECTION(EDGES, "calls", TABLE_UNIQUE | TABLE_OPTIONAL, stacks_wrong, LIST(profile, edges, edge)),
	SECTION(TRACES, "traces", TABLE_OPTIONAL, traces_wrong, LIST(profile, traces, trace)),
	SECTION(MISSES, "misses", TABLE_UNIQUE | TABLE_OPTIONAL, stacks_wrong, LIST(profile, misses, miss)),
	SECTION(EXECUTIONS, "executions", TABLE_UNIQUE | TABLE_OPTIONAL, stacks_wrong, LIST(profile, executions, edge)),
	SECTION(OBJECTS, "objects", TABLE_UNIQUE | TABLE_OPTIONAL, NULL, LIST(profile, objects, object)),
	SECTION(VARIABLES, "variables", TABLE_UNIQUE | TABLE_OPTIONAL, variables_wrong, LIST(profile, variables, variable)),
	SECTION(CAPTURES, "captures", TABLE_UNIQUE | TABLE_OPTIONAL, captures_wrong, LIST(profile, captures, capture)),
	SECTION(CONDITIONS, "conditions", TABLE_UNIQUE | TABLE_OPTIONAL, NULL, LIST(profile, conditions, condition)),
	SECTION(NAMES, "names", TABLE_UNIQUE | TABLE_OPTIONAL, NULL, LIST(profile, names, name)),
	SECTION(COUNTERS, "events", TABLE_UNIQUE | TABLE_OPTIONAL, NULL, LIST(profile, counters, counter)),
	SECTION(COUNTED, "event counts", TABLE_UNIQUE | TABLE_OPTIONAL, NULL, LIST(profile, counted, counted)),
	SECTION(COUNTER_COSTS, "costs of events", TABLE_UNIQUE | TABLE_OPTIONAL, NULL, LIST(profile, counter_costs, counter_cost)),
};
