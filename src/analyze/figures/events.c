// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/figures/events.h"

#include <math.h>
#include <string.h>

#include "analyze/figures/calibration.h"
#include "analyze/figures/table.h"
#include "base/alloc.h"
#include "base/sorted.h"

/* A count, and the row that it is part of. */
struct part {
	const char *event, *name, *context;
	uint32_t order; /* of the event */
	int side;
	const struct profile_counted *of;
};

struct parts {
	struct part *parts;
	size_t n_parts, cap_parts;
};

struct side {
	const struct profile *p;
	struct analyze_repetitions repetitions;
	struct analyze_calibration *calibrations; /* by event */
};

static void side_init(struct side *side, const struct profile *p)
{
	side->p = p;
	analyze_repetitions_init(&side->repetitions, p, PROFILE_RUN_PROBED);
	side->calibrations = alloc_array(p->n_counters, sizeof(*side->calibrations));
	for (uint32_t i = 0; i < p->n_counters; i++)
		analyze_calibration_init(&side->calibrations[i], p, i);
}

static void side_deinit(struct side *side)
{
	for (uint32_t i = 0; i < side->p->n_counters; i++)
		analyze_calibration_deinit(&side->calibrations[i]);
	free(side->calibrations);
	analyze_repetitions_deinit(&side->repetitions);
}

define_compare(row_of_compare, struct part,
	       compare_values(a->order, b->order)                 ?:
		       compare_values(!!a->context, !!b->context) ?:
		       strcmp(a->name, b->name)                   ?:
		       analyze_context_compare(a->context, b->context));

define_compare(part_compare, struct part, row_of_compare(a, b) ?: compare_values(a->side, b->side));

/* Return the place of EVENT among those of A, and then those of B that A does not have. */
static uint32_t order_of(const char *event, const struct profile *a, const struct profile *b)
{
	for (uint32_t i = 0; i < a->n_counters; i++)
		if (!strcmp(a->counters[i].name, event))
			return i;
	for (uint32_t i = 0; b && i < b->n_counters; i++)
		if (!strcmp(b->counters[i].name, event))
			return a->n_counters + i;
	return UINT32_MAX;
}

static void collect(struct parts *list, const struct profile *const p[2], int side)
{
	vec_each(const struct profile_counted, of, p[side], counted) {
		const struct profile_site *site = &p[side]->sites[of->site];
		bool is_function = site->kind == PROFILE_SITE_FUNCTION;
		const char *context = p[side]->contexts[of->context].name;
		struct part part = { .event = p[side]->counters[of->counter].name,
				     .name = is_function ? site->name : context,
				     .context = is_function ? context : NULL,
				     .side = side,
				     .of = of };

		part.order = order_of(part.event, p[0], p[1]);
		vec_push(list, parts, part);
		part.context = ANALYZE_ALL_CONTEXTS;
		if (is_function)
			vec_push(list, parts, part);
	}
}

static void row_add(struct analyze_event_row *row, const struct part *part, const struct side *from)
{
	struct analyze_event_side *side = &row->sides[part->side];
	struct analyze_sample *sample = &row->samples[part->side];
	const struct profile_counted *of = part->of;
	const struct profile_cell *cell =
		profile_cell_find(from->p, of->run, of->site, of->context);
	uint32_t repetition = from->repetitions.of_run[of->run];
	double calls = (double)of->calls, total = (double)of->total;

	if (repetition == ANALYZE_NO_REPETITION)
		return;
	if (isnan(side->calls))
		*side = (struct analyze_event_side){ 0 };
	side->calls += calls;
	side->total += total;
	side->self += (double)of->self;
	analyze_sample_add(sample, repetition, calls, total);
	if (cell)
		sample->uncertainty += analyze_calibration_uncertainty(
			&from->calibrations[of->counter], from->p, cell);
}

/* From sums over RUNS to figures. */
static void side_form(struct analyze_event_side *side, uint32_t runs)
{
	side->mean = side->calls > 0 ? side->total / side->calls : NAN;
	side->self = side->calls > 0 ? side->self / side->calls : NAN;
	side->calls /= runs;
	side->total /= runs;
}

static void form(struct analyze_event_row *row, const struct profile *const p[2], bool comparable)
{
	for (int side = 0; side < 2 && p[side]; side++) {
		analyze_sample_finish(&row->samples[side]);
		side_form(&row->sides[side], profile_probed_runs(p[side]));
	}
	row->delta = row->sides[1].mean - row->sides[0].mean;
	row->delta_pct = analyze_percent(row->delta, row->sides[0].mean);
	row->change = analyze_change_none;
	if (comparable && row->samples[0].n_sums && row->samples[1].n_sums)
		analyze_change_form(&row->change, &row->samples[0], &row->samples[1]);
}

/* A function's contexts follow its sum. */
static void mark_redundant(struct analyze_events *e)
{
	const struct analyze_event_row *end = e->rows + e->n_rows;

	vec_each(struct analyze_event_row, row, e, rows)
		row->redundant = analyze_is_sum(row->context) &&
				 (row + 2 >= end || row[2].event != row->event || !row[2].context ||
				  strcmp(row[2].name, row->name));
}

/* Sums are not independent of what they are sums of, and are judged by the same. */
static void judge(struct analyze_events *e, double margin_pct, bool undecided)
{
	scoped_free struct analyze_change **changes = alloc_array(e->n_rows, sizeof(*changes));
	size_t n = 0;

	vec_each(struct analyze_event_row, row, e, rows)
		if (!row->redundant)
			changes[n++] = &row->change;
	analyze_changes_judge(changes, n, margin_pct, undecided);
	vec_each(struct analyze_event_row, row, e, rows)
		if (row->redundant)
			row->change = row[1].change;
}

void analyze_events_init(struct analyze_events *e, const struct profile *a, const struct profile *b,
			 double margin_pct, bool undecided)
{
	const struct profile *const p[2] = { a, b };
	struct side sides[2] = { 0 };
	static const struct analyze_event_side none = { NAN, NAN, NAN, NAN };
	struct parts list = { 0 };
	bool comparable;

	*e = (struct analyze_events){ 0 };
	for (int side = 0; side < 2 && p[side]; side++) {
		side_init(&sides[side], p[side]);
		collect(&list, p, side);
	}
	sort_array(list.parts, list.n_parts, sizeof(*list.parts), part_compare);
	for (size_t i = 0; i < list.n_parts; i++) {
		const struct part *part = &list.parts[i];

		if (!i || row_of_compare(part, part - 1))
			vec_push(e, rows,
				 ((struct analyze_event_row){ .event = part->event,
							      .name = part->name,
							      .context = part->context,
							      .sides = { none, none } }));
		row_add(&e->rows[e->n_rows - 1], part, &sides[part->side]);
	}
	comparable = b && sides[0].repetitions.unit == sides[1].repetitions.unit;
	vec_each(struct analyze_event_row, row, e, rows)
		form(row, p, comparable);
	mark_redundant(e);
	if (b)
		judge(e, margin_pct, undecided);
	for (int side = 0; side < 2 && p[side]; side++)
		side_deinit(&sides[side]);
	free(list.parts);
}

void analyze_events_deinit(struct analyze_events *e)
{
	vec_each(struct analyze_event_row, row, e, rows) {
		analyze_sample_deinit(&row->samples[0]);
		analyze_sample_deinit(&row->samples[1]);
	}
	free(e->rows);
	*e = (struct analyze_events){ 0 };
}
