// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>
#include <stdlib.h>

#include "analyze/diff_ranges_impl.h"
#include "analyze/rmath.h"
#include "analyze/sort.h"
#include "base/alloc.h"

#define TAIL 0.025 /* of a 95 % interval, on each side */

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

struct analyze_estimated analyze_diff_range_total(const struct analyze_diff_matching *m, int number,
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
static void called_form(const struct analyze_diff_matching *m, struct analyze_diff_range *row,
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

double analyze_diff_range_change(const struct analyze_diff_range *row)
{
	if (!row->baseline.source && is_exact(&row->hardened))
		return row->hardened.figures.mean;
	if (!row->hardened.source && is_exact(&row->baseline))
		return -row->baseline.figures.mean;
	return row->hardened.figures.mean - row->baseline.figures.mean;
}

uint32_t analyze_diff_rows_seek(const struct analyze_diff_rows *rows, const char *name,
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
	uint32_t i = analyze_diff_rows_seek(rows, name, context);

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

void analyze_diff_range_shares(const struct analyze_diff_matching *m,
			       struct analyze_diff_range *row)
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
static const char *why_not(const struct analyze_diff_matching *m, const struct analyze_range *row,
			   int side)
{
	const struct analyze_ranges *ranges = &m->out->sides[side];
	uint32_t i;

	for (i = 0; i < ranges->n_rows; i++)
		if (ranges->rows[i].side.why &&
		    !analyze_diff_ranges_place_compare(&ranges->rows[i], row))
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
static void change_form(const struct analyze_diff_matching *m, struct analyze_diff_range *row,
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

void analyze_diff_range_add(struct analyze_diff_matching *m, const struct analyze_range *a,
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
	total_a = analyze_diff_range_total(m, BASELINE, &row.baseline, &row.hardened, row.context);
	total_b = analyze_diff_range_total(m, HARDENED, &row.hardened, &row.baseline, row.context);
	row.delta_total = analyze_estimated_difference(&total_a, &total_b);
	if ((!row.baseline.source && !row.hardened.source) ||
	    (row.note && (!row.baseline.source || !row.hardened.source)))
		row.delta_total = analyze_estimated_none;
	row.estimated = (a && a->estimated) || (b && b->estimated);
	row.delta = analyze_diff_range_change(&row);
	row.delta_pct = analyze_percent(row.hardened.figures.mean - row.baseline.figures.mean,
					row.baseline.figures.mean);
	analyze_diff_range_shares(m, &row);
	row.samples[BASELINE] = a && is_exact(&row.baseline) ? &a->sample : NULL;
	row.samples[HARDENED] = b && is_exact(&row.hardened) ? &b->sample : NULL;
	change_form(m, &row, a, b);
	row.redundant = (!a || a->redundant) && (!b || b->redundant);
	vec_push(m->out, rows, row);
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
	struct analyze_diff_matching m = { .out = ranges,
					   .diff = diff,
					   .time = options->time,
					   .all_syscalls = all_syscalls(diff),
					   .same_source = analyze_diff_ranges_same_source(
						   baseline, hardened) };

	memset(ranges, 0, sizeof(*ranges));
	ranges->same_source = m.same_source;
	analyze_ranges_init(&ranges->sides[BASELINE], baseline, options);
	analyze_ranges_init(&ranges->sides[HARDENED], hardened, options);
	analyze_diff_ranges_match(&m);
	analyze_diff_ranges_rests(&m);
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
