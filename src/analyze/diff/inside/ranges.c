// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>

#include "analyze/diff/inside/ranges_impl.h"
#include "base/alloc.h"
#include "base/sorted.h"

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

/* The total per run on a side: all NAN where it is not known. */
static struct analyze_estimated range_total(const struct analyze_diff_matching *m, int number,
					    const struct analyze_diff_range *row)
{
	const struct analyze_range_side *side = &row->sides[number], *other = &row->sides[!number];
	const struct analyze_ranges *ranges = &m->out->sides[number];
	struct analyze_estimated none = { 0, 0, 0 }, unseen;
	double total = side->figures.total;

	if (is_exact(side))
		return (struct analyze_estimated){ total, total, total };
	if (side->source)
		return m->calls->time == ANALYZE_TIME_ONCPU ? side->estimate.total :
							      analyze_estimated_none;
	/* Timed over there: the same was asked for here, and is not there. */
	if (is_exact(other) && !side->why)
		return none;
	if (!(ranges->bodies.all > 0))
		return analyze_estimated_none;
	unseen = analyze_ranges_unseen(ranges, row->context);
	return analyze_estimated_scale(&unseen, 1.0 / m->calls->runs[number]);
}

const void *const *analyze_diff_ranges_named(const struct analyze_diff_ranges *ranges, int side,
					     const char *name, const char *context, size_t *n)
{
	const struct analyze_range key = { .body.name = name, .context = context };

	return pointers_find(&ranges->by_name[side], &key, n);
}

/* Return at how many places SIDE knows a body of ROW's name in its context. */
static size_t count_places(const struct analyze_diff_matching *m, int side,
			   const struct analyze_range *row)
{
	size_t n;

	analyze_diff_ranges_named(m->out, side, row->body.name, row->context, &n);
	return n;
}

/*
 * A body that samples hit on one side, FROM, and that the other side NUMBER calls instead: what samples
 * say of the calls is what it is compared with, if it is the only place.
 */
static void called_form(const struct analyze_diff_matching *m, struct analyze_diff_range *row,
			const struct analyze_range *from, int number)
{
	struct analyze_range_side *missing = &row->sides[number];
	struct analyze_estimate e;

	if (!from->estimated)
		return;
	e = analyze_ranges_called(&m->out->sides[number], from->body.name, from->context);
	if (isnan(e.samples))
		return;
	row->note = number == BASELINE ? ANALYZE_NOTE_NOT_INLINED_BASELINE :
					 ANALYZE_NOTE_NOT_INLINED_HARDENED;
	if (count_places(m, !number, from) > 1 || count_places(m, number, from))
		return;
	missing->source = ANALYZE_SOURCE_ESTIMATED;
	missing->estimate = e;
	missing->figures.totals[ANALYZE_TIME_ONCPU] = e.total.value;
	missing->figures.total = missing->figures.totals[m->calls->time];
	*missing = side_per_run(missing, m->calls->runs[number]);
}

/* The change per call; what is on one side only is all change. */
static double range_change(const struct analyze_diff_range *row)
{
	if (!row->sides[0].source && is_exact(&row->sides[1]))
		return row->sides[1].figures.mean;
	if (!row->sides[1].source && is_exact(&row->sides[0]))
		return -row->sides[0].figures.mean;
	return row->sides[1].figures.mean - row->sides[0].figures.mean;
}

static double share_of(double part, const struct analyze_diff_row *whole)
{
	return whole && whole->delta_total != 0 ? part / whole->delta_total : NAN;
}

static double all_syscalls(const struct analyze_diff_rows *syscalls)
{
	double all = 0;

	for (uint32_t i = 0; i < syscalls->n_rows; i++)
		all += syscalls->rows[i].delta_total;
	return all;
}

void analyze_diff_range_pair(const struct analyze_diff_matching *m, struct analyze_diff_range *row)
{
	const struct analyze_diff_row whole = { .delta_total = m->all_syscalls };
	struct analyze_estimated a = range_total(m, BASELINE, row),
				 b = range_total(m, HARDENED, row);

	row->delta_total = analyze_estimated_difference(&a, &b);
	if ((!row->sides[0].source && !row->sides[1].source) ||
	    (row->note && (!row->sides[0].source || !row->sides[1].source)))
		row->delta_total = analyze_estimated_none;
	row->delta = range_change(row);
	row->delta_pct = analyze_percent(row->sides[1].figures.mean - row->sides[0].figures.mean,
					 row->sides[0].figures.mean);
	row->share = share_of(
		row->delta_total.value,
		analyze_diff_rows_find(m->calls->functions, row->body.function, row->context));
	row->syscall_share =
		share_of(row->delta_total.value,
			 !analyze_is_sum(row->context) ?
				 analyze_diff_rows_find(m->calls->syscalls, row->context, NULL) :
				 &whole);
}

/* Return why SIDE could not time the body of ROW, of which it has no calls in this context; NULL: it could. */
static const char *why_not(const struct analyze_diff_matching *m, const struct analyze_range *row,
			   int side)
{
	size_t n;
	const void *const *there = pointers_find(&m->by_place[side], row, &n);

	for (size_t i = 0; i < n; i++) {
		const struct analyze_range *other = there[i];

		if (other->side.why)
			return other->side.why;
	}
	return NULL;
}

/*
 * Return whether the other side, which was asked for ROW as well, has no such body in its sources: then it takes 0 per
 * call.
 */
static bool is_only_there(const struct analyze_diff_range *row)
{
	return is_exact(&row->sides[0]) ?
		       !row->sides[1].source && !row->sides[1].why :
		       is_exact(&row->sides[1]) && !row->sides[0].source && !row->sides[0].why;
}

/* Set how sure ROW's difference is, which is made of A and B. */
static void change_form(const struct analyze_diff_matching *m, struct analyze_diff_range *row,
			const struct analyze_range *a, const struct analyze_range *b)
{
	const struct analyze_repetitions *repetitions[2] = { &m->out->sides[BASELINE].repetitions,
							     &m->out->sides[HARDENED].repetitions };
	int side = is_exact(&row->sides[0]) ? BASELINE : HARDENED;

	if (repetitions[BASELINE]->unit != repetitions[HARDENED]->unit)
		return;
	if (is_exact(&row->sides[0]) && is_exact(&row->sides[1]))
		analyze_change_form(&row->change, &a->sample, &b->sample);
	else if (is_only_there(row))
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
					  .redundant = true,
					  .change = analyze_change_none };
	const struct analyze_range *of[2] = { a, b };

	for (int side = 0; side < 2; side++) {
		const struct analyze_range *range = of[side];

		row.sides[side] = analyze_range_none;
		if (range) {
			row.sides[side] = side_per_run(&range->side, m->calls->runs[side]);
			row.chains[side] = range->body.chain;
			row.samples[side] = is_exact(&row.sides[side]) ? &range->sample : NULL;
			row.estimated |= range->estimated;
			row.redundant &= range->redundant;
		} else if (!from->estimated) {
			row.sides[side].why = why_not(m, from, side);
		}
	}
	if (!a || !b)
		called_form(m, &row, from, a ? HARDENED : BASELINE);
	analyze_diff_range_pair(m, &row);
	change_form(m, &row, a, b);
	vec_push(m->out, rows, row);
}

/* ---- all of it ---- */

bool analyze_diff_range_is_sampled(const struct analyze_diff_range *r)
{
	return r->sides[0].source == ANALYZE_SOURCE_ESTIMATED ||
	       r->sides[1].source == ANALYZE_SOURCE_ESTIMATED;
}

/* Return the weight of a row: its change, or the least that an estimate may be; 0: that may be none. */
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
	uint32_t n = 0;
	double widen;

	for (uint32_t i = 0; i < ranges->n_rows; i++)
		n += ranges->rows[i].estimated && !ranges->rows[i].redundant;
	widen = analyze_interval_widening(n);
	vec_each(struct analyze_diff_range, row, ranges, rows) {
		row->weight = row_weight(row, widen);
		/* Samples say nothing of a body that was timed on both sides. */
		if (!row->estimated)
			row->delta_total.low = row->delta_total.high = NAN;
		/* A body that was asked for is shown in any case. */
		if (!is_exact(&row->sides[0]) && !is_exact(&row->sides[1]) && !row->sides[0].why &&
		    !row->sides[1].why)
			row->redundant |= row->weight <= 0;
	}
}

define_compare(weight_compare, struct analyze_diff_range,
	       compare_values(b->weight, a->weight)             ?:
		       analyze_body_compare(&a->body, &b->body) ?:
		       analyze_context_compare(a->context, b->context));

void analyze_diff_ranges_init(struct analyze_diff_ranges *ranges,
			      const struct analyze_diff_calls *calls,
			      const struct profile *baseline, const struct profile *hardened,
			      const struct analyze_options *options)
{
	struct analyze_diff_matching m = { .out = ranges,
					   .calls = calls,
					   .all_syscalls = all_syscalls(calls->syscalls) };

	memset(ranges, 0, sizeof(*ranges));
	ranges->same_source = analyze_diff_ranges_same_source(baseline, hardened);
	analyze_ranges_init(&ranges->sides[BASELINE], baseline, options);
	analyze_ranges_init(&ranges->sides[HARDENED], hardened, options);
	analyze_diff_ranges_match(&m);
	analyze_diff_ranges_rests(&m);
	rows_weigh(ranges);
	sort_array(ranges->rows, ranges->n_rows, sizeof(*ranges->rows), weight_compare);
}

void analyze_diff_ranges_deinit(struct analyze_diff_ranges *ranges)
{
	free(ranges->rows);
	analyze_ranges_deinit(&ranges->sides[BASELINE]);
	analyze_ranges_deinit(&ranges->sides[HARDENED]);
	free(ranges->by_name[BASELINE].items);
	free(ranges->by_name[HARDENED].items);
	memset(ranges, 0, sizeof(*ranges));
}
