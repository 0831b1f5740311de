// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A function on one kernel that the other's compiler has inlined: its partner are the inlined bodies of
 * that name, if they were timed, all places together.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/diff.h"

static bool is_partner(const struct analyze_range *range, const struct analyze_diff_row *row)
{
	return range->side.source && !range->estimated && !strcmp(range->body.name, row->name) &&
	       !strcmp(range->context, row->context);
}

/* Adds RANGE, of RUNS runs, to FIGURES a run. */
static void figures_add(struct analyze_figures *f, const struct analyze_range *range, uint32_t runs,
			enum analyze_time time)
{
	struct analyze_figures one = analyze_figures_per_run(&range->side.figures, runs);
	enum analyze_time t;

	if (isnan(f->calls)) {
		*f = one;
		return;
	}
	f->calls += one.calls;
	for (t = 0; t < ANALYZE_N_TIMES; t++) {
		f->totals[t] += one.totals[t];
		f->means[t] = f->calls > 0 ? f->totals[t] / f->calls : NAN;
	}
	f->total = f->totals[time];
	f->mean = f->means[time];
	/* Distributions of several bodies are not kept together. */
	f->p50 = f->p90 = f->p99 = f->p999 = f->min = f->max = NAN;
}

static void sample_merge(struct analyze_sample *sum, const struct analyze_sample *part)
{
	uint32_t i;

	for (i = 0; i < part->n; i++)
		analyze_sample_add(sum, i, part->sums[i].calls, part->sums[i].total);
	sum->uncertainty += part->uncertainty;
}

/* What SIDE's inlined bodies of ROW's name come to; whether there are any. */
static bool partners_sum(const struct analyze_diff *diff, const struct analyze_diff_row *row,
			 int side, struct analyze_figures *figures, struct analyze_sample *sample)
{
	const struct analyze_ranges *ranges = &diff->ranges.sides[side];
	uint32_t i;

	*figures = analyze_figures_none;
	analyze_sample_init(sample, &ranges->repetitions);
	for (i = 0; i < ranges->n_rows; i++) {
		if (!is_partner(&ranges->rows[i], row))
			continue;
		figures_add(figures, &ranges->rows[i], diff->runs[side], diff->time);
		sample_merge(sample, &ranges->rows[i].sample);
	}
	return !isnan(figures->calls);
}

/* The diff's rows of these bodies are the function's now, not parts of what is around them. */
static void mark_partners(struct analyze_diff *diff, const struct analyze_diff_row *row)
{
	uint32_t i;

	for (i = 0; i < diff->ranges.n_rows; i++) {
		struct analyze_diff_range *range = &diff->ranges.rows[i];

		if (!strcmp(range->body.name, row->name) && !strcmp(range->context, row->context))
			range->is_partner = true;
	}
}

void analyze_diff_row_pair(struct analyze_diff_row *row)
{
	row->delta = row->hardened.mean - row->baseline.mean;
	row->delta_pct = analyze_percent(row->delta, row->baseline.mean);
	row->delta_p50 = row->hardened.p50 - row->baseline.p50;
	row->delta_p90 = row->hardened.p90 - row->baseline.p90;
	row->delta_p99 = row->hardened.p99 - row->baseline.p99;
	row->delta_p999 = row->hardened.p999 - row->baseline.p999;
}

uint32_t analyze_diff_partners(struct analyze_diff *diff)
{
	uint32_t i, n = 0;
	int side;

	for (i = 0; i < diff->functions.n_rows; i++) {
		struct analyze_diff_row *row = &diff->functions.rows[i];
		struct analyze_figures *missing, figures;
		struct analyze_sample sample;

		side = isnan(row->baseline.calls) ? 0 : 1;
		missing = side ? &row->hardened : &row->baseline;
		if (!isnan(missing->calls))
			continue;
		if (partners_sum(diff, row, side, &figures, &sample)) {
			*missing = figures;
			row->inlined =
				side ? "inlined on the hardened side: figures of its bodies" :
				       "inlined on the baseline side: figures of its bodies";
			analyze_diff_row_pair(row);
			if (diff->ranges.sides[0].repetitions.unit ==
			    diff->ranges.sides[1].repetitions.unit)
				analyze_change_form(&row->change, side ? row->samples[0] : &sample,
						    side ? &sample : row->samples[1]);
			mark_partners(diff, row);
			n++;
		}
		analyze_sample_deinit(&sample);
	}
	return n;
}
