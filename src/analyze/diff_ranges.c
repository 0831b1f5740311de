// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/diff_ranges.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/diff.h"
#include "analyze/rmath.h"
#include "analyze/sort.h"
#include "base/alloc.h"

#define BASELINE 0
#define HARDENED 1

#define TAIL 0.025 /* of a 95 % interval, on each side */

/* Timed bodies in one function; beyond that nobody adds them up. */
#define MAX_PARTS 1000

/* Everything that matching needs. */
struct matching {
	struct analyze_diff_ranges *out;
	const struct analyze_diff *diff;
	enum analyze_time time;
	double all_syscalls; /* the change of all of them together */
	bool same_source; /* so that lines have not moved */
};

/* ---- which row is which ---- */

static int text_compare(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) : !!a - !!b;
}

/* What both have of a body's place, whatever the version of the source. */
static int place_compare(const struct analyze_range *a, const struct analyze_range *b)
{
	return strcmp(a->body.function, b->body.function) ?:
		       strcmp(a->body.name, b->body.name) ?:
							    text_compare(a->chain, b->chain);
}

/* Without the line, which another version of the source moves; it moves functions to other files too. */
static int body_compare(const struct analyze_range *a, const struct analyze_range *b,
			bool same_source)
{
	int diff = place_compare(a, b);

	return diff || !same_source ? diff : text_compare(a->body.file, b->body.file);
}

/* By body, context, file, line: those of one body and context are side by side. */
static int row_compare(const struct analyze_range *a, const struct analyze_range *b,
		       bool same_source)
{
	int diff = body_compare(a, b, same_source)                         ?:
			   analyze_context_compare(a->context, b->context) ?:
			   text_compare(a->body.file, b->body.file);

	return diff ? diff : a->body.line < b->body.line ? -1 : a->body.line > b->body.line;
}

static int row_compare_same(const void *a, const void *b)
{
	return row_compare(a, b, true);
}

static int row_compare_other(const void *a, const void *b)
{
	return row_compare(a, b, false);
}

/* The version in front of what a builder adds: "6.1.192" of "6.1.192-hardened". */
static size_t version_length(const char *release)
{
	size_t n = 0;

	while (isdigit((unsigned char)release[n]) || release[n] == '.')
		n++;
	return n;
}

static bool is_same_source(const struct profile *a, const struct profile *b)
{
	const char *ra = profile_env_get(a, PROFILE_ENV_RELEASE);
	const char *rb = profile_env_get(b, PROFILE_ENV_RELEASE);

	return ra && rb && version_length(ra) == version_length(rb) &&
	       !strncmp(ra, rb, version_length(ra));
}

/* Whether INNER is a part of OUTER on SIDE: its chain ends in OUTER and what is around that. */
static bool is_inside(const struct analyze_diff_range *inner,
		      const struct analyze_diff_range *outer, int side)
{
	const char *chain = inner->chains[side], *around = outer->chains[side];
	char *end = around ? alloc_printf("%s" PROFILE_CHAIN "%s", outer->body.name, around) :
			     alloc_strdup(outer->body.name);
	size_t n = chain ? strlen(chain) : 0, n_end = strlen(end);
	size_t gap = strlen(PROFILE_CHAIN);
	bool inside = n >= n_end && !strcmp(chain + n - n_end, end) &&
		      (n == n_end ||
		       (n >= n_end + gap && !strncmp(chain + n - n_end - gap, PROFILE_CHAIN, gap)));

	free(end);
	return inside;
}

/* ---- chains that differ ---- */

static int place_order(const void *left, const void *right)
{
	return place_compare(*(const struct analyze_range *const *)left,
			     *(const struct analyze_range *const *)right);
}

/* One row of each body of RANGES whose place the other side, OTHER, has none at; in their order. */
struct lone {
	struct analyze_range **rows;
	size_t n_rows, cap_rows;
};

static void lone_collect(struct lone *lone, const struct analyze_ranges *ranges)
{
	size_t i, n = 0;

	for (i = 0; i < ranges->n_rows; i++)
		vec_push(lone, rows, &ranges->rows[i]);
	analyze_sort(lone->rows, lone->n_rows, sizeof(*lone->rows), place_order);
	for (i = 0; i < lone->n_rows; i++)
		if (!n || place_compare(lone->rows[n - 1], lone->rows[i]))
			lone->rows[n++] = lone->rows[i];
	lone->n_rows = n;
}

/* Takes out of both what both have. */
static void lone_part(struct lone *a, struct lone *b)
{
	size_t i = 0, j = 0, n_a = 0, n_b = 0;

	while (i < a->n_rows || j < b->n_rows) {
		int order = i == a->n_rows ? 1 :
			    j == b->n_rows ? -1 :
					     place_compare(a->rows[i], b->rows[j]);

		if (order < 0)
			a->rows[n_a++] = a->rows[i];
		if (order > 0)
			b->rows[n_b++] = b->rows[j];
		i += order <= 0;
		j += order >= 0;
	}
	a->n_rows = n_a;
	b->n_rows = n_b;
}

/* How many from START on are of its name in its function. */
static size_t lone_alike(const struct lone *lone, size_t start)
{
	size_t i = start;

	while (i < lone->n_rows &&
	       !strcmp(lone->rows[i]->body.function, lone->rows[start]->body.function) &&
	       !strcmp(lone->rows[i]->body.name, lone->rows[start]->body.name))
		i++;
	return i - start;
}

static int lone_compare(const struct analyze_range *a, const struct analyze_range *b)
{
	return strcmp(a->body.function, b->body.function) ?: strcmp(a->body.name, b->body.name);
}

/* Compares all rows of A that are at ROW's place by CHAIN. */
static void chain_set(struct analyze_ranges *a, const struct analyze_range *row, const char *chain)
{
	const struct analyze_range key = *row;
	uint32_t i;

	for (i = 0; i < a->n_rows; i++)
		if (!place_compare(&a->rows[i], &key))
			a->rows[i].chain = chain;
}

/*
 * A body that the two kernels have in one function, on different ways: wrappers come and go, and
 * compilers inline them or not. If each side has one such body of that name, it is the same.
 */
static void chains_match(struct matching *m)
{
	struct lone a = { 0 }, b = { 0 };
	size_t i = 0, j = 0;

	lone_collect(&a, &m->out->sides[BASELINE]);
	lone_collect(&b, &m->out->sides[HARDENED]);
	lone_part(&a, &b);
	while (i < a.n_rows && j < b.n_rows) {
		int order = lone_compare(a.rows[i], b.rows[j]);
		size_t n_a = lone_alike(&a, i), n_b = lone_alike(&b, j);

		if (!order && n_a == 1 && n_b == 1)
			chain_set(&m->out->sides[BASELINE], a.rows[i], b.rows[j]->chain);
		i += order <= 0 ? n_a : 0;
		j += order >= 0 ? n_b : 0;
	}
	free(a.rows);
	free(b.rows);
}

/* ---- figures ---- */

static struct analyze_range_side side_per_run(const struct analyze_range_side *side, uint32_t runs)
{
	struct analyze_range_side per_run = *side;
	struct analyze_estimate *e = &per_run.estimate;

	per_run.entries /= runs;
	per_run.figures = analyze_figures_per_run(&side->figures, runs);
	e->total = analyze_estimated_scale(&e->total, 1.0 / runs);
	e->self_total /= runs;
	return per_run;
}

/* The total a run of a side, where OTHER is the other one: all NAN where it is not known. */
static struct analyze_estimated side_total(const struct matching *m, int number,
					   const struct analyze_range_side *side,
					   const struct analyze_range_side *other,
					   const char *context)
{
	const struct analyze_ranges *ranges = &m->out->sides[number];
	struct analyze_estimated none = { 0, 0, 0 }, unseen;
	double total = side->figures.total;

	if (side->source && !strcmp(side->source, "exact"))
		return (struct analyze_estimated){ total, total, total };
	if (side->source)
		return m->time == ANALYZE_TIME_ONCPU ? side->estimate.total :
						       analyze_estimated_none;
	/* Timed over there: the same was asked for here, and is not there. */
	if (other->source && !strcmp(other->source, "exact") && !side->why)
		return none;
	if (!(ranges->bodies.all > 0))
		return analyze_estimated_none;
	unseen = analyze_ranges_unseen(ranges, context);
	return analyze_estimated_scale(&unseen, 1.0 / m->diff->runs[number]);
}

static bool is_exact(const struct analyze_range_side *side)
{
	return side->source && !strcmp(side->source, "exact");
}

/* Of how many places RANGES knows a body of NAME in CONTEXT. */
static uint32_t count_places(const struct analyze_ranges *ranges, const char *name,
			     const char *context)
{
	uint32_t i, n = 0;

	for (i = 0; i < ranges->n_rows; i++)
		n += !strcmp(ranges->rows[i].body.name, name) &&
		     !strcmp(ranges->rows[i].context, context);
	return n;
}

/*
 * A body that samples hit on one side, FROM, and that the other side NUMBER calls instead: what samples
 * say of the calls is what it is compared with, if it is the only place.
 */
static void called_form(const struct matching *m, struct analyze_diff_range *row,
			const struct analyze_range *from, int number)
{
	static const char *const notes[] = { "called on the baseline side, not inlined",
					     "called on the hardened side, not inlined" };
	struct analyze_range_side *missing = number == BASELINE ? &row->baseline : &row->hardened;
	struct analyze_estimate e;

	if (!from->estimated)
		return;
	e = analyze_ranges_called(&m->out->sides[number], from->body.name, from->context);
	if (isnan(e.samples))
		return;
	row->note = notes[number];
	if (count_places(&m->out->sides[!number], from->body.name, from->context) > 1 ||
	    count_places(&m->out->sides[number], from->body.name, from->context))
		return;
	missing->source = "estimated";
	missing->estimate = e;
	missing->figures.totals[ANALYZE_TIME_ONCPU] = e.total.value;
	missing->figures.total = missing->figures.totals[m->time];
	*missing = side_per_run(missing, m->diff->runs[number]);
}

/* The change a call; what is on one side only is all change. */
static double change_of_call(const struct analyze_diff_range *row)
{
	if (!row->baseline.source && is_exact(&row->hardened))
		return row->hardened.figures.mean;
	if (!row->hardened.source && is_exact(&row->baseline))
		return -row->baseline.figures.mean;
	return row->hardened.figures.mean - row->baseline.figures.mean;
}

/* The first row, in their order, that is not before NAME and CONTEXT. */
static uint32_t row_seek(const struct analyze_diff_rows *rows, const char *name,
			 const char *context)
{
	uint32_t low = 0, high = rows->n_rows;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		const struct analyze_diff_row *row = &rows->rows[mid];
		int order =
			strcmp(row->name, name) ?: analyze_context_compare(row->context, context);

		if (order < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static const struct analyze_diff_row *row_find(const struct analyze_diff_rows *rows,
					       const char *name, const char *context)
{
	uint32_t i = row_seek(rows, name, context);

	if (i == rows->n_rows || strcmp(rows->rows[i].name, name) ||
	    analyze_context_compare(rows->rows[i].context, context))
		return NULL;
	return &rows->rows[i];
}

static double share_of(double part, const struct analyze_diff_row *whole)
{
	return whole && whole->delta_total != 0 ? part / whole->delta_total : NAN;
}

static double all_syscalls(const struct analyze_diff *diff)
{
	double all = 0;
	uint32_t i;

	for (i = 0; i < diff->syscalls.n_rows; i++)
		all += diff->syscalls.rows[i].delta_total;
	return all;
}

static void shares_form(const struct matching *m, struct analyze_diff_range *row)
{
	const struct analyze_diff_row whole = { .delta_total = m->all_syscalls };

	row->share = share_of(row->delta_total.value,
			      row_find(&m->diff->functions, row->body.function, row->context));
	row->syscall_share = share_of(row->delta_total.value,
				      strcmp(row->context, ANALYZE_ALL_CONTEXTS) ?
					      row_find(&m->diff->syscalls, row->context, NULL) :
					      &whole);
}

/* Why SIDE could not time the body of ROW, which it has no calls of in this context; NULL: it could. */
static const char *why_not(const struct matching *m, const struct analyze_range *row, int side)
{
	const struct analyze_ranges *ranges = &m->out->sides[side];
	uint32_t i;

	for (i = 0; i < ranges->n_rows; i++)
		if (ranges->rows[i].side.why && !place_compare(&ranges->rows[i], row))
			return ranges->rows[i].side.why;
	return NULL;
}

/* Whether the other side's sources, where ROW was asked for as well, have no such body: 0 a call, surely. */
static bool is_surely_alone(const struct analyze_diff_range *row)
{
	return is_exact(&row->baseline) ?
		       !row->hardened.source && !row->hardened.why :
		       is_exact(&row->hardened) && !row->baseline.source && !row->baseline.why;
}

/* How sure ROW's delta is, of A and B, which it is made of. */
static void change_form(const struct matching *m, struct analyze_diff_range *row,
			const struct analyze_range *a, const struct analyze_range *b)
{
	const struct analyze_repetitions *repetitions[2] = { &m->out->sides[BASELINE].repetitions,
							     &m->out->sides[HARDENED].repetitions };
	int side = is_exact(&row->baseline) ? BASELINE : HARDENED;

	if (repetitions[BASELINE]->unit != repetitions[HARDENED]->unit)
		return;
	if (is_exact(&row->baseline) && is_exact(&row->hardened))
		analyze_change_form(&row->change, &a->sample, &b->sample);
	else if (is_surely_alone(row))
		analyze_change_form_alone(&row->change, side == BASELINE ? &a->sample : &b->sample,
					  side, repetitions[!side]->n);
}

/* A row of what the two sides have, FROM one of them; either may be NULL. */
static void row_add(struct matching *m, const struct analyze_range *a,
		    const struct analyze_range *b, const struct analyze_range *from)
{
	struct analyze_diff_range row = { .body = from->body,
					  .location = from->location,
					  .context = from->context,
					  .has_hardened = b,
					  .match_chain = from->chain,
					  .chains = { a ? a->body.chain : NULL,
						      b ? b->body.chain : NULL },
					  .baseline = analyze_range_none,
					  .hardened = analyze_range_none,
					  .change = analyze_change_none };
	struct analyze_estimated total_a, total_b;

	if (a)
		row.baseline = side_per_run(&a->side, m->diff->runs[BASELINE]);
	if (b)
		row.hardened = side_per_run(&b->side, m->diff->runs[HARDENED]);
	if (!a && !b->estimated)
		row.baseline.why = why_not(m, b, BASELINE);
	if (!b && !a->estimated)
		row.hardened.why = why_not(m, a, HARDENED);
	if (!a || !b)
		called_form(m, &row, from, a ? HARDENED : BASELINE);
	total_a = side_total(m, BASELINE, &row.baseline, &row.hardened, row.context);
	total_b = side_total(m, HARDENED, &row.hardened, &row.baseline, row.context);
	row.delta_total = analyze_estimated_difference(&total_a, &total_b);
	if ((!row.baseline.source && !row.hardened.source) ||
	    (row.note && (!row.baseline.source || !row.hardened.source)))
		row.delta_total = analyze_estimated_none;
	row.estimated = (a && a->estimated) || (b && b->estimated);
	row.delta = change_of_call(&row);
	row.delta_pct = analyze_percent(row.hardened.figures.mean - row.baseline.figures.mean,
					row.baseline.figures.mean);
	shares_form(m, &row);
	row.samples[BASELINE] = a && is_exact(&row.baseline) ? &a->sample : NULL;
	row.samples[HARDENED] = b && is_exact(&row.hardened) ? &b->sample : NULL;
	change_form(m, &row, a, b);
	row.redundant = (!a || a->redundant) && (!b || b->redundant);
	vec_push(m->out, rows, row);
}

/*
 * The rows of one body in one context, N_A and N_B of them, which differ by line: those of one line
 * are the same; in other sources the first is the first and so on, if there are as many.
 */
static void rows_pair(struct matching *m, const struct analyze_range *a, uint32_t n_a,
		      const struct analyze_range *b, uint32_t n_b)
{
	bool in_order = !m->same_source && n_a == n_b;
	uint32_t i = 0, j = 0;

	while (i < n_a || j < n_b) {
		bool has_a = i < n_a && (in_order || j == n_b || a[i].body.line <= b[j].body.line);
		bool has_b = j < n_b && (in_order || i == n_a || b[j].body.line <= a[i].body.line);

		row_add(m, has_a ? &a[i] : NULL, has_b ? &b[j] : NULL, has_b ? &b[j] : &a[i]);
		i += has_a;
		j += has_b;
	}
}

/* How many rows from START on are of its body and context. */
static uint32_t rows_alike(const struct analyze_ranges *ranges, uint32_t start, bool same_source)
{
	const struct analyze_range *first = &ranges->rows[start];
	uint32_t i;

	for (i = start + 1; i < ranges->n_rows; i++)
		if (body_compare(first, &ranges->rows[i], same_source) ||
		    strcmp(first->context, ranges->rows[i].context))
			break;
	return i - start;
}

static void rows_match(struct matching *m)
{
	struct analyze_ranges *a = &m->out->sides[BASELINE], *b = &m->out->sides[HARDENED];
	uint32_t i = 0, j = 0;

	analyze_sort(a->rows, a->n_rows, sizeof(*a->rows),
		     m->same_source ? row_compare_same : row_compare_other);
	analyze_sort(b->rows, b->n_rows, sizeof(*b->rows),
		     m->same_source ? row_compare_same : row_compare_other);
	while (i < a->n_rows || j < b->n_rows) {
		int order = i == a->n_rows ?
				    1 :
			    j == b->n_rows ?
				    -1 :
			    body_compare(&a->rows[i], &b->rows[j], m->same_source) ?:
				    analyze_context_compare(a->rows[i].context, b->rows[j].context);
		uint32_t n_a = order <= 0 ? rows_alike(a, i, m->same_source) : 0;
		uint32_t n_b = order >= 0 ? rows_alike(b, j, m->same_source) : 0;

		rows_pair(m, a->rows + i, n_a, b->rows + j, n_b);
		i += n_a;
		j += n_b;
	}
}

/* Whether A and B, which are of one list, are rows of one body at one place or several of its lines. */
static bool is_same_body(const struct analyze_diff_range *a, const struct analyze_diff_range *b)
{
	return !strcmp(a->body.function, b->body.function) && !strcmp(a->body.name, b->body.name) &&
	       !text_compare(a->match_chain, b->match_chain);
}

/* ---- rows that say nothing of their own ---- */

static const struct analyze_range_side *row_side(const struct analyze_diff_range *row, int side)
{
	return side == BASELINE ? &row->baseline : &row->hardened;
}

/* What of a body's samples another one inlined into it must have for the body to be a wrapper of it. */
#define WRAPPED 0.9

/*
 * Whether ROW, of a body that one side alone has, is as good as all in another one of the N rows of its
 * function, which both have: a wrapper that only one of the kernels has is no change.
 */
static bool is_wrapper(const struct analyze_diff_range *row, const struct analyze_diff_range *rows,
		       uint32_t n)
{
	int side = row->baseline.source ? BASELINE : HARDENED;
	double samples = row_side(row, side)->estimate.samples;
	uint32_t i;

	if (!row->estimated || !row->baseline.source == !row->hardened.source)
		return false;
	for (i = 0; i < n; i++)
		if (rows[i].baseline.source && rows[i].hardened.source &&
		    !strcmp(rows[i].context, row->context) && is_inside(&rows[i], row, side) &&
		    row_side(&rows[i], side)->estimate.samples >= WRAPPED * samples)
			return true;
	return false;
}

/* Whether ROW, a sum over contexts, is as good as all in one of them: the N rows are of its body. */
static bool is_one_context(const struct analyze_diff_range *row,
			   const struct analyze_diff_range *rows, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		if (&rows[i] != row &&
		    rows[i].delta_total.value / row->delta_total.value >= WRAPPED)
			return true;
	return false;
}

/* The N rows of one body at all its places: which of them only repeat others; all of the one line. */
static void body_reduce(struct analyze_diff_range *rows, uint32_t n)
{
	const char *location = NULL;
	bool one = true;
	uint32_t i;

	for (i = 0; i < n; i++) {
		if (!rows[i].has_hardened)
			continue;
		one = one && (!location || !text_compare(location, rows[i].location));
		location = rows[i].location;
	}
	for (i = 0; i < n; i++) {
		/* The other kernel's source has it there too, although nothing was seen in this context. */
		if (one && location)
			rows[i].location = location;
		if (rows[i].estimated && !strcmp(rows[i].context, ANALYZE_ALL_CONTEXTS))
			rows[i].redundant |= is_one_context(&rows[i], rows, n);
	}
}

static void rows_reduce(struct analyze_diff_ranges *ranges)
{
	struct analyze_diff_range *rows = ranges->rows;
	uint32_t i, j, k;

	for (i = 0; i < ranges->n_rows; i = j) {
		for (j = i + 1; j < ranges->n_rows; j++)
			if (strcmp(rows[i].body.function, rows[j].body.function))
				break;
		for (k = i; k < j; k++)
			rows[k].redundant |= is_wrapper(&rows[k], rows + i, j - i);
	}
	for (i = 0; i < ranges->n_rows; i = j) {
		for (j = i + 1; j < ranges->n_rows; j++)
			if (!is_same_body(&rows[i], &rows[j]))
				break;
		body_reduce(rows + i, j - i);
	}
}

/* ---- the rest of a function ---- */

/* Whether ROWS[NUMBER], of N of one function, lies within another that was timed on SIDE. */
static bool is_nested(const struct analyze_diff_range *rows, uint32_t n, uint32_t number, int side)
{
	uint32_t i;

	for (i = 0; i < n; i++)
		if (i != number && is_exact(row_side(&rows[i], side)) &&
		    is_inside(&rows[number], &rows[i], side))
			return true;
	return false;
}

/* FIGURES of a function less those of its N timed bodies on SIDE. */
static struct analyze_range_side rest_form(const struct analyze_figures *figures,
					   const struct analyze_diff_range *rows, uint32_t n,
					   int side, enum analyze_time time)
{
	struct analyze_range_side rest = analyze_range_none;
	enum analyze_time t;
	uint32_t i;

	if (isnan(figures->calls))
		return rest;
	rest.source = "exact";
	rest.figures.calls = figures->calls;
	memcpy(rest.figures.totals, figures->totals, sizeof(rest.figures.totals));
	for (i = 0; i < n; i++) {
		const struct analyze_range_side *part = row_side(&rows[i], side);

		if (!is_exact(part) || is_nested(rows, n, i, side))
			continue;
		/* Self times have those of timed bodies left out. */
		rest.figures.totals[ANALYZE_TIME_ONCPU] -= part->figures.totals[ANALYZE_TIME_ONCPU];
		rest.figures.totals[ANALYZE_TIME_WALL] -= part->figures.totals[ANALYZE_TIME_WALL];
	}
	for (t = 0; t < ANALYZE_N_TIMES && figures->calls > 0; t++)
		rest.figures.means[t] = rest.figures.totals[t] / figures->calls;
	rest.figures.total = rest.figures.totals[time];
	rest.figures.mean = rest.figures.means[time];
	return rest;
}

/*
 * By repetition what rest_form() has of all: a function's time, FROM, less that of its N timed bodies. What
 * was subtracted from either may be wrong, in the same direction or not: the sum is the most.
 */
static void rest_sample(struct analyze_sample *rest, const struct matching *m,
			const struct analyze_sample *from, const struct analyze_diff_range *rows,
			uint32_t n, int side)
{
	uint32_t i, j;

	analyze_sample_init(rest, &m->out->sides[side].repetitions);
	rest->uncertainty = from->uncertainty;
	for (j = 0; j < rest->n; j++)
		analyze_sample_add(rest, j, from->sums[j].calls, from->sums[j].total);
	for (i = 0; i < n && m->time != ANALYZE_TIME_SELF; i++) {
		const struct analyze_sample *part = rows[i].samples[side];

		if (!part || is_nested(rows, n, i, side))
			continue;
		for (j = 0; j < rest->n; j++)
			rest->sums[j].total -= part->sums[j].total;
		rest->uncertainty += part->uncertainty;
	}
}

/* How sure the change of ROW, the rest of FUNCTION besides N bodies, is. */
static void rest_change(const struct matching *m, struct analyze_diff_range *row,
			const struct analyze_diff_row *function,
			const struct analyze_diff_range *rows, uint32_t n)
{
	struct analyze_sample a, b;

	if (!is_exact(&row->baseline) || !is_exact(&row->hardened) ||
	    !function->samples[BASELINE] || !function->samples[HARDENED] ||
	    m->out->sides[BASELINE].repetitions.unit != m->out->sides[HARDENED].repetitions.unit)
		return;
	rest_sample(&a, m, function->samples[BASELINE], rows, n, BASELINE);
	rest_sample(&b, m, function->samples[HARDENED], rows, n, HARDENED);
	analyze_change_form(&row->change, &a, &b);
	analyze_sample_deinit(&b);
	analyze_sample_deinit(&a);
}

static void rest_add(struct matching *m, const struct analyze_diff_row *function,
		     const struct analyze_diff_range *rows, uint32_t n)
{
	struct analyze_diff_range row = {
		.body = { .name = ANALYZE_RANGE_REST, .function = function->name },
		.context = function->context,
		.redundant = function->redundant,
		.change = analyze_change_none,
		.baseline = rest_form(&function->baseline, rows, n, BASELINE, m->time),
		.hardened = rest_form(&function->hardened, rows, n, HARDENED, m->time),
	};
	struct analyze_estimated a = side_total(m, BASELINE, &row.baseline, &row.hardened, NULL);
	struct analyze_estimated b = side_total(m, HARDENED, &row.hardened, &row.baseline, NULL);

	row.delta_total = analyze_estimated_difference(&a, &b);
	row.delta = change_of_call(&row);
	row.delta_pct = analyze_percent(row.hardened.figures.mean - row.baseline.figures.mean,
					row.baseline.figures.mean);
	shares_form(m, &row);
	rest_change(m, &row, function, rows, n);
	vec_push(m->out, rows, row);
}

/* What is left of FUNCTION where some of the rows from START to END, which are in it, were timed. */
static void rest_of(struct matching *m, const struct analyze_diff_row *function, uint32_t start,
		    uint32_t end)
{
	struct analyze_diff_range *parts = alloc_array(end - start, sizeof(*parts));
	uint32_t n = 0, i;

	for (i = start; i < end; i++) {
		const struct analyze_diff_range *row = &m->out->rows[i];

		if (!strcmp(row->context, function->context) &&
		    (is_exact(&row->baseline) || is_exact(&row->hardened)))
			parts[n++] = *row;
	}
	if (n && n <= MAX_PARTS)
		rest_add(m, function, parts, n);
	free(parts);
}

/* For each timed function with timed bodies what is left of it, so that all adds up to its change. */
static void rests_add(struct matching *m)
{
	const struct analyze_diff_rows *functions = &m->diff->functions;
	uint32_t matched = m->out->n_rows, i, j, f;

	for (i = 0; i < matched; i = j) {
		const char *name = m->out->rows[i].body.function;

		for (j = i + 1; j < matched; j++)
			if (strcmp(name, m->out->rows[j].body.function))
				break;
		f = row_seek(functions, name, NULL);
		for (; f < functions->n_rows && !strcmp(functions->rows[f].name, name); f++)
			rest_of(m, &functions->rows[f], i, j);
	}
}

/* ---- all of it ---- */

/*
 * How much wider than for one row intervals must be for all rows together to be as sure: of hundreds
 * of bodies that did not change, 95 % of the rows would leave dozens that seem to. Bonferroni, with
 * the normal distribution for the interval's form.
 */
static double widen_by(const struct analyze_diff_ranges *ranges)
{
	uint32_t i, n = 0;

	for (i = 0; i < ranges->n_rows; i++)
		n += ranges->rows[i].estimated && !ranges->rows[i].redundant;
	return n ? qnorm(1 - TAIL / n, 0, 1, 1, 0) / qnorm(1 - TAIL, 0, 1, 1, 0) : 1;
}

/* What a row weighs: the change or, of an estimated one, what it is at least; 0 where it may be none. */
static double row_weight(const struct analyze_diff_range *row, double widen)
{
	const struct analyze_estimated *d = &row->delta_total;

	if (isnan(d->value))
		return 0;
	if (!row->estimated)
		return fabs(d->value);
	return fmax(fmax(d->value - widen * (d->value - d->low),
			 -d->value - widen * (d->high - d->value)),
		    0);
}

static void rows_weigh(struct analyze_diff_ranges *ranges)
{
	double widen = widen_by(ranges);
	uint32_t i;

	for (i = 0; i < ranges->n_rows; i++) {
		struct analyze_diff_range *row = &ranges->rows[i];

		row->weight = row_weight(row, widen);
		/* Of what was timed on both sides samples say nothing. */
		if (!row->estimated)
			row->delta_total.low = row->delta_total.high = NAN;
		/* What was asked for is shown in any case. */
		if (!is_exact(&row->baseline) && !is_exact(&row->hardened) && !row->baseline.why &&
		    !row->hardened.why)
			row->redundant |= row->weight <= 0;
	}
}

static int weight_compare(const void *left, const void *right)
{
	const struct analyze_diff_range *a = left, *b = right;
	int diff;

	if (a->weight != b->weight)
		return a->weight < b->weight ? 1 : -1;
	diff = analyze_body_compare(&a->body, &b->body);
	return diff ? diff : analyze_context_compare(a->context, b->context);
}

void analyze_diff_ranges_init(struct analyze_diff_ranges *ranges, const struct analyze_diff *diff,
			      const struct profile *baseline, const struct profile *hardened,
			      const struct analyze_options *options)
{
	struct matching m = { .out = ranges,
			      .diff = diff,
			      .time = options->time,
			      .all_syscalls = all_syscalls(diff),
			      .same_source = is_same_source(baseline, hardened) };

	memset(ranges, 0, sizeof(*ranges));
	ranges->same_source = m.same_source;
	analyze_ranges_init(&ranges->sides[BASELINE], baseline, options);
	analyze_ranges_init(&ranges->sides[HARDENED], hardened, options);
	chains_match(&m);
	rows_match(&m);
	rows_reduce(ranges);
	rests_add(&m);
	rows_weigh(ranges);
	analyze_sort(ranges->rows, ranges->n_rows, sizeof(*ranges->rows), weight_compare);
}

void analyze_diff_ranges_deinit(struct analyze_diff_ranges *ranges)
{
	free(ranges->rows);
	analyze_ranges_deinit(&ranges->sides[BASELINE]);
	analyze_ranges_deinit(&ranges->sides[HARDENED]);
	memset(ranges, 0, sizeof(*ranges));
}
