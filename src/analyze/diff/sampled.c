// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/diff/diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/figures/table.h"
#include "base/sorted.h"

/* Rows that are compared: each takes a look at all runs. */
#define ROWS_MAX 256

/* Samples of one function in one repetition. */
struct part {
	struct analyze_leaf leaf;
	int side;
	uint32_t repetition;
};

struct parts {
	struct part *parts;
	size_t n_parts, cap_parts;
};

struct side {
	const struct profile *p;
	struct analyze_repetitions repetitions;
	double *runs; /* of each repetition */
};

static void side_init(struct side *side, const struct profile *p)
{
	side->p = p;
	analyze_repetitions_init(&side->repetitions, p, PROFILE_RUN_PROBED);
	side->runs = alloc_array(side->repetitions.n, sizeof(*side->runs));
	for (uint32_t i = 0; i < p->n_runs; i++)
		if (side->repetitions.of_run[i] != ANALYZE_NO_REPETITION)
			side->runs[side->repetitions.of_run[i]]++;
}

static void side_deinit(struct side *side)
{
	analyze_repetitions_deinit(&side->repetitions);
	free(side->runs);
}

static void collect(struct parts *list, struct analyze_sampled_events *s, const struct side *from,
		    int side)
{
	vec_each(const struct profile_sample, sample, from->p, samples) {
		struct part part = { .side = side,
				     .repetition = from->repetitions.of_run[sample->run] };

		if (part.repetition == ANALYZE_NO_REPETITION)
			continue;
		part.leaf = analyze_leaf_of(from->p, sample, &s->texts);
		vec_push(list, parts, part);
		part.leaf.n_frames = 0;
		vec_push(list, parts, part);
	}
}

define_compare(row_compare, struct part, analyze_leaf_compare(&a->leaf, &b->leaf));

define_compare(part_compare, struct part, row_compare(a, b) ?: compare_values(a->side, b->side));

define_compare(most_compare, struct analyze_sampled_row,
	       compare_values(b->totals[0] + b->totals[1], a->totals[0] + a->totals[1]) ?:
		       analyze_leaf_compare(&a->leaf, &b->leaf));

define_compare(change_compare, struct analyze_sampled_row,
	       compare_values(!!a->leaf.n_frames, !!b->leaf.n_frames) ?:
		       compare_values(fabs(b->delta), fabs(a->delta)) ?:
									most_compare(a, b));

/*
 * Repetitions may happen to agree better than samples can: of so many that each stand for WEIGHT events that the sum
 * has a variance of WEIGHT squared times their number (Poisson). What the repetitions show less of that is added.
 */
static double uncertainty_of(struct analyze_sample *s, double weight)
{
	struct analyze_moments seen = analyze_sample_moments(s);
	double sum = 0, runs = 0, variance;

	for (uint32_t i = 0; i < s->n_sums; i++) {
		sum += s->sums[i].total;
		runs += s->sums[i].calls;
	}
	if (weight <= 1 || seen.n < 2)
		return 0;
	variance = weight * sum - runs * runs * seen.variance / seen.n;
	return variance > 0 ? sqrt(variance) : 0;
}

/* Repetitions without a sample of the row count as well. */
static void samples_finish(struct analyze_sample *sample, const struct side *side)
{
	for (uint32_t i = 0; i < side->repetitions.n; i++)
		analyze_sample_add(sample, i, side->runs[i], 0);
	sample->known = uncertainty_of(sample, profile_sample_weight(side->p));
}

static void form(struct analyze_sampled_events *s, const struct side sides[2])
{
	bool comparable = sides[0].repetitions.unit == sides[1].repetitions.unit;

	vec_each(struct analyze_sampled_row, row, s, rows) {
		for (int side = 0; side < 2; side++)
			samples_finish(&row->samples[side], &sides[side]);
		row->change = analyze_change_none;
		for (int side = 0; side < 2; side++)
			row->change.moments[side] = analyze_sample_moments(&row->samples[side]);
		if (comparable)
			analyze_change_form(&row->change);
		row->delta = row->totals[1] - row->totals[0];
		row->delta_pct = analyze_percent(row->delta, row->totals[0]);
	}
	sort_array(s->rows, s->n_rows, sizeof(*s->rows), change_compare);
}

/* The sum is judged as the others: it is one more question. */
static void judge(struct analyze_sampled_events *s, double margin_pct, bool undecided)
{
	scoped_free struct analyze_change **changes = alloc_array(s->n_rows, sizeof(*changes));

	for (uint32_t i = 0; i < s->n_rows; i++)
		changes[i] = &s->rows[i].change;
	analyze_changes_judge(changes, s->n_rows, margin_pct, undecided);
}

static void keep_most(struct analyze_sampled_events *s)
{
	sort_array(s->rows, s->n_rows, sizeof(*s->rows), most_compare);
	while (s->n_rows > ROWS_MAX) {
		s->n_rows--;
		analyze_sample_deinit(&s->rows[s->n_rows].samples[0]);
		analyze_sample_deinit(&s->rows[s->n_rows].samples[1]);
	}
}

static void add_rows(struct analyze_sampled_events *s, struct parts *list,
		     const struct side sides[2])
{
	sort_array(list->parts, list->n_parts, sizeof(*list->parts), part_compare);
	for (size_t i = 0; i < list->n_parts; i++) {
		const struct part *part = &list->parts[i];
		const struct profile *p = sides[part->side].p;
		double events = part->leaf.samples * profile_sample_weight(p);
		struct analyze_sampled_row *row;

		if (!i || row_compare(part, part - 1))
			vec_push(s, rows, ((struct analyze_sampled_row){ .leaf = part->leaf }));
		row = &s->rows[s->n_rows - 1];
		row->totals[part->side] += events / profile_probed_runs(p);
		analyze_sample_add(&row->samples[part->side], part->repetition, 0, events);
	}
}

void analyze_sampled_events_init(struct analyze_sampled_events *s, const struct profile *a,
				 const struct profile *b, double margin_pct, bool undecided)
{
	const struct profile *const p[2] = { a, b };
	struct side sides[2] = { 0 };
	struct parts list = { 0 };

	*s = (struct analyze_sampled_events){ 0 };
	if (!profile_sample_event(a) ||
	    !same_text(profile_sample_event(a), profile_sample_event(b)))
		return;
	s->event = profile_sample_event(a);
	for (int side = 0; side < 2; side++) {
		side_init(&sides[side], p[side]);
		collect(&list, s, &sides[side], side);
	}
	add_rows(s, &list, sides);
	keep_most(s);
	form(s, sides);
	judge(s, margin_pct, undecided);
	for (int side = 0; side < 2; side++)
		side_deinit(&sides[side]);
	free(list.parts);
}

void analyze_sampled_events_deinit(struct analyze_sampled_events *s)
{
	vec_each(struct analyze_sampled_row, row, s, rows) {
		analyze_sample_deinit(&row->samples[0]);
		analyze_sample_deinit(&row->samples[1]);
	}
	free(s->rows);
	alloc_texts_free(&s->texts);
	*s = (struct analyze_sampled_events){ 0 };
}
