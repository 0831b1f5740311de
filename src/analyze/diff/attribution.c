// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/diff/attribution.h"

#include <math.h>
#include <string.h>

#include "analyze/figures/chain.h"
#include "base/alloc.h"
#include "base/sorted.h"

/* A table shows at most so many lines of a level. */
#define MOST_SHOWN 6

/* One side's calls and time of what a line is about. */
struct cost {
	double calls, total;
};

/* A part while its siblings are sorted. */
struct part {
	struct analyze_attribution_row row;
	const struct analyze_diff_row *diff; /* of a syscall or function */
	const struct analyze_diff_range *range; /* of an inlined body */
};

static const struct cost nothing = { 0, 0 };

/* The rows that parts are taken from, sorted by the line that they are parts of. */
struct source {
	const struct analyze_diff *diff;
	struct pointers functions; /* by context */
	struct pointers ranges, blocks; /* by function, then context */
};

define_compare(by_context, struct analyze_diff_row, compare_text(a->context, b->context));

define_compare(by_range_place, struct analyze_diff_range,
	       compare_text(a->context, b->context) ?:
		       compare_text(a->body.function, b->body.function));

define_compare(by_block_place, struct analyze_diff_block,
	       compare_text(a->context, b->context) ?: compare_text(a->function, b->function));

static void source_init(struct source *s, const struct analyze_diff *diff)
{
	s->diff = diff;
	s->functions = pointers_sort(diff->functions.rows, diff->functions.n_rows,
				     sizeof(*diff->functions.rows), by_context);
	s->ranges = pointers_sort(diff->ranges.rows, diff->ranges.n_rows,
				  sizeof(*diff->ranges.rows), by_range_place);
	s->blocks = pointers_sort(diff->blocks.rows, diff->blocks.n_rows,
				  sizeof(*diff->blocks.rows), by_block_place);
}

static void source_deinit(struct source *s)
{
	free(s->functions.items);
	free(s->ranges.items);
	free(s->blocks.items);
}

/* The bodies in FUNCTION. */
static const void *const *ranges_of(const struct source *s, const char *function,
				    const char *context, size_t *n)
{
	const struct analyze_diff_range key = { .body.function = function, .context = context };

	return pointers_find(&s->ranges, &key, n);
}

struct parts {
	vec_of(struct part, parts);
};

static double known(double value)
{
	return isnan(value) ? 0 : value;
}

/* Names of remainders, as rows of data need one, and rows of equal change are in the order of names. */
static const char *const remainders[ANALYZE_PART_OTHERS + 1] = {
	[ANALYZE_PART_OUTSIDE] = "outside sys_enter...sys_exit",
	[ANALYZE_PART_UNTIMED] = "in no timed function",
	[ANALYZE_PART_REST] = "outside its timed bodies",
	[ANALYZE_PART_UNCOUNTED] = "callees, and code not counted",
};

static struct analyze_attribution_row row_form(enum analyze_part part, const char *name,
					       struct cost a, struct cost b)
{
	struct analyze_attribution_row row = { .part = part,
					       .name = name,
					       .delta = b.total - a.total,
					       .share = NAN,
					       .by_calls = NAN,
					       .by_mean = NAN };

	/* The change is (b.calls - a.calls) * a's mean, and what is left: b.calls * the mean's change. */
	if (a.calls > 0 || b.calls > 0) {
		row.by_calls = a.calls > 0 && b.calls > 0 ?
				       (b.calls - a.calls) * (a.total / a.calls) :
				       row.delta;
		row.by_mean = row.delta - row.by_calls;
	}
	return row;
}

/* Adds to PARTS what is left of WHOLE besides them: the one line that makes the sum exact. */
static void remainder_add(struct parts *parts, enum analyze_part part, double whole)
{
	struct part rest = { .row = row_form(part, remainders[part], nothing, nothing) };

	rest.row.delta = whole;
	for (uint32_t i = 0; i < parts->n_parts; i++)
		rest.row.delta -= parts->parts[i].row.delta;
	vec_push(parts, parts, rest);
}

define_compare(part_compare, struct part,
	       compare_values(fabs(b->row.delta), fabs(a->row.delta)) ?:
		       strcmp(a->row.name, b->row.name));

/* The largest first, with the remainder of kind REST where there are any. */
static void parts_end(struct parts *parts, enum analyze_part rest, double whole)
{
	if (parts->n_parts)
		remainder_add(parts, rest, whole);
	sort_array(parts->parts, parts->n_parts, sizeof(*parts->parts), part_compare);
}

/* The parts of one line while they are added. */
struct level {
	int depth;
	double whole;
	bool hidden; /* the line itself is */
	uint32_t n_shown, n_hidden;
	double hidden_delta;
};

static void row_add(struct analyze_attribution *a, struct analyze_attribution_row row,
		    struct level *level)
{
	bool is_small = level->depth && !remainders[row.part] &&
			(level->n_shown >= MOST_SHOWN ||
			 !(fabs(row.delta) >= HALF_A_PERCENT * fabs(level->whole)));

	row.level = level->depth;
	if (level->depth && level->whole != 0)
		row.share = row.delta / level->whole;
	row.hidden = level->hidden || is_small;
	level->n_shown += !row.hidden;
	if (is_small) {
		level->n_hidden++;
		level->hidden_delta += row.delta;
	}
	vec_push(a, rows, row);
}

/* Sum up in one line the parts of LEVEL that a table does not show, so that the lines it shows add up as well. */
static void level_end(struct analyze_attribution *a, struct level *level)
{
	struct analyze_attribution_row row = row_form(ANALYZE_PART_OTHERS, "", nothing, nothing);

	if (!level->n_hidden || level->hidden)
		return;
	row.level = level->depth;
	row.delta = level->hidden_delta;
	if (level->whole != 0)
		row.share = row.delta / level->whole;
	row.others = level->n_hidden;
	vec_push(a, rows, row);
}

/* ---- inlined bodies ---- */

static struct cost range_cost(const struct analyze_range_side *side, bool estimated)
{
	struct cost cost = { known(side->figures.calls),
			     estimated ? known(side->estimate.total.value) :
					 known(side->figures.totals[ANALYZE_TIME_SELF]) };

	return cost;
}

static bool is_part(const struct analyze_diff_range *r)
{
	return !r->is_partner && strcmp(r->body.name, ANALYZE_RANGE_REST);
}

/* Return the own cost of the timed bodies in FUNCTION, which the function's self time does not have. */
static struct cost bodies_cost(const struct source *from, const char *function, const char *context,
			       int side)
{
	struct cost sum = { 0, 0 };
	size_t n;
	const void *const *ranges = ranges_of(from, function, context, &n);

	for (size_t i = 0; i < n; i++) {
		const struct analyze_diff_range *r = ranges[i];

		if (!r->estimated && is_part(r))
			sum.total += range_cost(&r->sides[side], false).total;
	}
	return sum;
}

static struct part range_part(const struct analyze_diff_range *r)
{
	struct part part = { .range = r };

	part.row =
		row_form(ANALYZE_PART_RANGE, r->body.name, range_cost(&r->sides[0], r->estimated),
			 range_cost(&r->sides[1], r->estimated));
	part.row.location = r->location;
	if (r->estimated) {
		part.row.how =
			analyze_diff_range_is_sampled(r) ? ANALYZE_HOW_ESTIMATED : ANALYZE_HOW_NONE;
		part.row.by_calls = part.row.by_mean = NAN;
	}
	return part;
}

/*
 * The bodies of FUNCTION, whose part is WHOLE: those timed, or where there is none the estimated ones
 * that changed significantly and are not part of one another. An estimate holds what the body calls, also
 * timed functions, which are parts of their own: one larger than WHOLE is not of it alone, and left out.
 */
static void collect_ranges(struct parts *parts, const struct source *from, const char *function,
			   const char *context, bool estimated, double whole)
{
	size_t n;
	const void *const *ranges = ranges_of(from, function, context, &n);

	for (size_t i = 0; i < n; i++) {
		const struct analyze_diff_range *r = ranges[i];
		struct part part;

		if (r->estimated != estimated || !is_part(r) ||
		    (estimated && (r->redundant || r->body.chain)))
			continue;
		part = range_part(r);
		if (estimated &&
		    !(part.row.delta / whole > 0 && part.row.delta / whole < MORE_THAN_ONE))
			continue;
		vec_push(parts, parts, part);
	}
}

/* ---- loops and blocks ---- */

/* The line whose blocks are looked for. */
struct place {
	const char *function, *context;
	const struct part *parts; /* the bodies in the function that have lines of their own */
	uint32_t n_parts;
	const struct analyze_diff_range *range; /* one of these, or NULL: what is in none */
};

/* Return how much of CHAIN, from its end on, is R on SIDE; 0: R is not in it. */
static size_t range_depth(const char *chain, const struct analyze_diff_range *r, int side)
{
	scoped_free char *full = analyze_chain_add(r->body.name, r->chains[side]);
	size_t depth = chain && analyze_chain_is_within(chain, full) ? strlen(full) : 0;

	return depth;
}

/* The innermost of PLACE's bodies that CHAIN lies in; NULL: none. */
static const struct analyze_diff_range *range_of(const struct place *place, const char *chain)
{
	const struct analyze_diff_range *best = NULL;
	size_t deepest = 0, depth;

	for (uint32_t i = 0; i < place->n_parts; i++) {
		const struct analyze_diff_range *r = place->parts[i].range;

		if (!r)
			continue;
		depth = range_depth(chain, r, 1);
		if (!depth)
			depth = range_depth(chain, r, 0);
		if (depth > deepest) {
			deepest = depth;
			best = r;
		}
	}
	return best;
}

/* "shuffle_freelist" of "shuffle_freelist < new_slab"; the function itself where there is no body. */
static char *innermost_name(const struct analyze_diff_block *block)
{
	const char *end = block->chain ? strstr(block->chain, PROFILE_CHAIN) : NULL;

	if (!block->chain)
		return alloc_strdup(block->function);
	return end ? alloc_strndup(block->chain, end - block->chain) : alloc_strdup(block->chain);
}

static void add_blocks(struct analyze_attribution *a, const struct source *from,
		       const struct place *place, int depth, double whole, bool hidden)
{
	const struct analyze_diff_block key = { .function = place->function,
						.context = place->context };
	struct level level = { .depth = depth, .whole = whole, .hidden = hidden };
	struct parts parts = { 0 };
	const void *const *blocks;
	size_t n;

	/* A count of instructions is no time elsewhere. */
	if (from->diff->clock != PROFILE_CLOCK_INSN)
		return;
	blocks = pointers_find(&from->blocks, &key, &n);
	for (size_t i = 0; i < n; i++) {
		const struct analyze_diff_block *b = blocks[i];
		struct part part = { 0 };
		char *name;

		if (range_of(place, b->chain) != place->range)
			continue;
		name = innermost_name(b);
		alloc_keep(&a->names, name);
		part.row = row_form(b->is_loop ? ANALYZE_PART_LOOP : ANALYZE_PART_BLOCK, name,
				    (struct cost){ b->executions[0], b->insns[0] },
				    (struct cost){ b->executions[1], b->insns[1] });
		part.row.location = b->location;
		vec_push(&parts, parts, part);
	}
	parts_end(&parts, ANALYZE_PART_UNCOUNTED, whole);
	for (size_t i = 0; i < parts.n_parts; i++)
		row_add(a, parts.parts[i].row, &level);
	level_end(a, &level);
	free(parts.parts);
}

/* ---- functions ---- */

static void add_ranges(struct analyze_attribution *a, const struct source *from,
		       const char *function, const char *context, double whole, bool hidden)
{
	struct level level = { .depth = 3, .whole = whole, .hidden = hidden };
	struct place place = { .function = function, .context = context };
	struct parts parts = { 0 };

	collect_ranges(&parts, from, function, context, false, whole);
	if (!parts.n_parts)
		collect_ranges(&parts, from, function, context, true, whole);
	parts_end(&parts, ANALYZE_PART_REST, whole);
	place.parts = parts.parts;
	place.n_parts = parts.n_parts;
	for (uint32_t i = 0; i < parts.n_parts; i++) {
		row_add(a, parts.parts[i].row, &level);
		place.range = parts.parts[i].range;
		add_blocks(a, from, &place, 4, parts.parts[i].row.delta,
			   a->rows[a->n_rows - 1].hidden);
	}
	if (!parts.n_parts)
		add_blocks(a, from, &place, 3, whole, hidden);
	level_end(a, &level);
	free(parts.parts);
}

/* Return whether calls of ROW's function were counted but not timed, on either side. */
static bool is_untimed(const struct analyze_diff_row *row)
{
	for (int side = 0; side < 2; side++)
		if (row->sides[side].calls > 0 && isnan(row->sides[side].totals[ANALYZE_TIME_SELF]))
			return true;
	return false;
}

/* Instructions per run of the counted blocks of ROW's function. */
static double blocks_insns(const struct source *from, const struct analyze_diff_row *row, int side)
{
	const struct analyze_diff_block key = { .function = row->name, .context = row->context };
	double insns = 0;
	size_t n;
	const void *const *blocks = pointers_find(&from->blocks, &key, &n);

	for (size_t i = 0; i < n; i++)
		insns += ((const struct analyze_diff_block *)blocks[i])->insns[side];
	return insns;
}

static struct cost function_cost(const struct source *from, const struct analyze_diff_row *row,
				 int side)
{
	struct cost cost = bodies_cost(from, row->name, row->context, side);

	cost.calls = known(row->sides[side].calls);
	cost.total += is_untimed(row) ? blocks_insns(from, row, side) :
					known(row->sides[side].totals[ANALYZE_TIME_SELF]);
	return cost;
}

define_compare(by_name, struct analyze_diff_row *const, strcmp((*a)->name, (*b)->name));

/* Bodies that were timed in functions that were not, those of FUNCTIONS, sorted: no function's time holds theirs. */
static void collect_ranges_alone(struct parts *parts, const struct source *from,
				 const char *context, const void *const *functions,
				 size_t n_functions)
{
	struct analyze_diff_range low = { .body.function = NULL, .context = context };
	const struct pointers *ranges = &from->ranges;
	size_t i = bisect(ranges->n_items, k, by_range_place(ranges->items[k], &low) < 0);

	for (; i < ranges->n_items; i++) {
		const struct analyze_diff_range *r = ranges->items[i];
		const struct analyze_diff_row row = { .name = r->body.function }, *key = &row;

		if (strcmp(r->context, context))
			break;
		if (!r->estimated && is_part(r) &&
		    !search_array(&key, functions, n_functions, sizeof(key), by_name))
			vec_push(parts, parts, range_part(r));
	}
}

static void collect_functions(struct parts *parts, const struct source *from, const char *context)
{
	const struct analyze_diff_row key = { .context = context };
	size_t n;
	const void *const *functions = pointers_find(&from->functions, &key, &n);
	scoped_free const void **names = alloc_array(n, sizeof(*names));

	for (size_t i = 0; i < n; i++) {
		const struct analyze_diff_row *f = names[i] = functions[i];
		struct part part = { .diff = f };

		if (is_untimed(f) && from->diff->clock != PROFILE_CLOCK_INSN)
			continue;
		part.row = row_form(ANALYZE_PART_FUNCTION, f->name, function_cost(from, f, 0),
				    function_cost(from, f, 1));
		vec_push(parts, parts, part);
	}
	sort_array(names, n, sizeof(*names), by_name);
	collect_ranges_alone(parts, from, context, names, n);
}

static void add_functions(struct analyze_attribution *a, const struct source *from,
			  const char *context, double whole, bool hidden)
{
	struct level level = { .depth = 2, .whole = whole, .hidden = hidden };
	struct parts parts = { 0 };

	collect_functions(&parts, from, context);
	parts_end(&parts, ANALYZE_PART_UNTIMED, whole);
	vec_each(const struct part, part, &parts, parts) {
		row_add(a, part->row, &level);
		if (part->diff)
			add_ranges(a, from, part->diff->name, context, part->row.delta,
				   a->rows[a->n_rows - 1].hidden);
	}
	level_end(a, &level);
	free(parts.parts);
}

/* ---- the command, and its syscalls ---- */

static void collect_syscalls(struct parts *parts, const struct analyze_diff *diff)
{
	vec_each(const struct analyze_diff_row, s, &diff->syscalls, rows) {
		struct part part = { .diff = s };

		part.row = row_form(ANALYZE_PART_SYSCALL, s->name,
				    (struct cost){ known(s->sides[0].calls),
						   known(s->sides[0].totals[ANALYZE_TIME_ONCPU]) },
				    (struct cost){ known(s->sides[1].calls),
						   known(s->sides[1].totals[ANALYZE_TIME_ONCPU]) });
		part.row.verdict = s->change.verdict;
		vec_push(parts, parts, part);
	}
}

/* NULL: one side has none. */
static const struct analyze_diff_workload_row *find_workload(const struct analyze_diff *diff,
							     const char *name)
{
	for (uint32_t i = 0; i < diff->n_workload; i++)
		if (!strcmp(diff->workload[i].name, name) && !isnan(diff->workload[i].delta))
			return &diff->workload[i];
	return NULL;
}

/* By its time on a CPU, else from start to exit, waiting included; NULL: one side has neither. */
static const struct analyze_diff_workload_row *find_command(const struct analyze_diff *diff)
{
	return find_workload(diff, ANALYZE_COMMAND_CPU) ?: find_workload(diff, ANALYZE_COMMAND);
}

void analyze_attribution_init(struct analyze_attribution *a, const struct analyze_diff *diff)
{
	const struct analyze_diff_workload_row *command = find_command(diff);
	struct level whole = { .depth = 0 }, level = { .depth = 1 };
	struct analyze_attribution_row top;
	struct parts parts = { 0 };
	struct source from;
	double largest = 0;

	memset(a, 0, sizeof(*a));
	a->clock = diff->clock;
	collect_syscalls(&parts, diff);
	if (!parts.n_parts)
		return;
	top = row_form(ANALYZE_PART_COMMAND,
		       command ? command->name : "all syscalls and page faults", nothing, nothing);
	if (command) {
		top.delta = command->delta;
		top.how = command->how;
		top.verdict = command->change.verdict;
		remainder_add(&parts, ANALYZE_PART_OUTSIDE, command->delta);
		if (diff->some)
			parts.parts[parts.n_parts - 1].row.name = "outside the syscalls measured";
	} else {
		for (uint32_t i = 0; i < parts.n_parts; i++)
			top.delta += parts.parts[i].row.delta;
	}
	sort_array(parts.parts, parts.n_parts, sizeof(*parts.parts), part_compare);
	source_init(&from, diff);
	row_add(a, top, &whole);
	level.whole = top.delta;
	vec_each(const struct part, part, &parts, parts) {
		row_add(a, part->row, &level);
		if (!part->diff)
			continue;
		largest = fmax(largest, fabs(part->row.delta));
		add_functions(a, &from, part->row.name, part->row.delta,
			      a->rows[a->n_rows - 1].hidden ||
				      fabs(part->row.delta) < WORTH_A_WORD * largest);
	}
	level_end(a, &level);
	source_deinit(&from);
	free(parts.parts);
}

void analyze_attribution_deinit(struct analyze_attribution *a)
{
	free(a->rows);
	alloc_texts_free(&a->names);
	memset(a, 0, sizeof(*a));
}
