// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/figures/events.h"

#include <math.h>
#include <string.h>

#include "analyze/figures/calibration.h"
#include "analyze/figures/table.h"
#include "analyze/stats/statistics.h"
#include "base/alloc.h"
#include "base/number.h"
#include "base/sorted.h"

/* OF has the counts of EVENT in one function (or system call) and one context. They are added to a row. */
struct part {
	const char *event, *name, *context;
	uint32_t order; /* index of EVENT, from order_of() */
	int side;
	const struct profile_counted *of;
};

struct parts {
	vec_of(struct part, parts);
};

struct side {
	const struct profile *p;
	struct analyze_repetitions repetitions;
	struct analyze_calibration *calibrations; /* indexed by event */
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

/* Return the sort index of EVENT: A's events come first, then events that only B has. */
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

/* SIDE has sums over all runs. Set the means per call, then divide the sums by the number of RUNS. */
static void side_form(struct analyze_event_side *side, uint32_t runs)
{
	side->mean = side->calls > 0 ? side->total / side->calls : NAN;
	side->self = side->calls > 0 ? side->self / side->calls : NAN;
	side->calls /= runs;
	side->total /= runs;
}

static void form(struct analyze_event_row *row, const struct profile *const p[2], bool comparable)
{
	row->change = analyze_change_none;
	for (int side = 0; side < 2 && p[side]; side++) {
		row->change.moments[side] = analyze_sample_moments(&row->samples[side]);
		analyze_sample_deinit(&row->samples[side]);
		side_form(&row->sides[side], profile_probed_runs(p[side]));
	}
	row->delta = row->sides[1].mean - row->sides[0].mean;
	row->delta_pct = analyze_percent(row->delta, row->sides[0].mean);
	if (comparable && row->change.moments[0].n && row->change.moments[1].n)
		analyze_change_form(&row->change);
}

/* Mark a function's row for all contexts as redundant if only one row for a single context follows it. */
static void mark_redundant(struct analyze_events *e)
{
	const struct analyze_event_row *end = e->rows + e->n_rows;

	vec_each(struct analyze_event_row, row, e, rows)
		row->redundant = analyze_is_sum(row->context) &&
				 (row + 2 >= end || row[2].event != row->event || !row[2].context ||
				  strcmp(row[2].name, row->name));
}

/* Set the verdicts of all rows. A redundant row gets the verdict of the next row, the function's only context. */
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
	free(e->rows);
	*e = (struct analyze_events){ 0 };
}

static const char *const event_names[] = { MODEL_EVENT_NAMES };

define_compare(compare_place, struct analyze_misses_row,
	       compare_text(a->context ?: "", b->context ?: "") ?:
		       compare_text(a->function, b->function) ?:
		       compare_text(a->file ?: "", b->file ?: "") ?:
		       compare_values(a->line, b->line));

define_compare(compare_run, struct analyze_misses_row,
	       compare_place(a, b)                      ?:
		       compare_values(a->side, b->side) ?:
							  compare_values(a->run, b->run));

static double weight(const struct analyze_misses_row *row)
{
	return fabs(isnan(row->delta.data) ? row->sides[0].cycles : row->delta.data);
}

define_compare(compare_weight, struct analyze_misses_row,
	       compare_values(weight(b), weight(a)) ?: compare_place(a, b));

static void add_side(struct analyze_misses_side *to, const struct analyze_misses_side *from,
		     double factor)
{
	for (int event = 0; event < MODEL_N_EVENTS; event++)
		to->events[event] += factor * from->events[event];
	to->cycles += factor * from->cycles;
	to->data += factor * from->data;
	to->instructions += factor * from->instructions;
	to->squares += factor * from->squares;
}

static void add_row(void *to, void *from)
{
	for (int side = 0; side < 2; side++)
		add_side(&((struct analyze_misses_row *)to)->sides[side],
			 &((struct analyze_misses_row *)from)->sides[side], 1);
}

static void read_cycles(const struct profile *p, double cycles[MODEL_N_EVENTS])
{
	const char *text = profile_env_get(p, PROFILE_ENV_CYCLES) ?: "";

	for (int event = 0; event < MODEL_N_EVENTS; event++) {
		size_t length = strlen(event_names[event]);
		const char *at = text;

		cycles[event] = 0;
		while ((at = strstr(at, event_names[event]))) {
			bool begins = at == text || at[-1] == ' ';

			at += length;
			if (begins && *at == '=' && (at++, number_scan_double(&at, &cycles[event])))
				break;
		}
	}
}

/* Return a row without counts for the innermost function on STACK. BY decides if the row has the context or the source line. */
static struct analyze_misses_row place_of(const struct profile *p, uint32_t stack, uint32_t context,
					  enum analyze_misses_by by)
{
	const struct profile_stack *s = &p->stacks[stack];
	const struct profile_location *l = s->n_locations ? &p->locations[s->locations[0]] : NULL;
	struct analyze_misses_row row = {
		.function = "[user]",
	};

	if (l)
		row.function = l->n_frames ? l->frames[l->n_frames - 1].name : "[unknown]";
	if (by == ANALYZE_MISSES_BY_FUNCTION) {
		row.context = p->contexts[context].name;
	} else if (l && l->n_frames && l->frames[0].file) {
		row.file = l->frames[0].file;
		row.line = l->frames[0].line;
	}
	return row;
}

static bool is_row(const void *ctx, uint32_t item, const void *key)
{
	return !compare_run(&((const struct analyze_misses *)ctx)->rows[item], key);
}

static void add_place(struct analyze_misses *m, const struct analyze_misses_row *place)
{
	uint32_t hash = hash_string(place->function) + 31 * place->run + (uint32_t)place->line;
	uint32_t found = hash_find_or_add(&m->index, hash, is_row, m, place, m->n_rows);

	if (found < m->n_rows)
		add_row(&m->rows[found], (void *)place);
	else
		vec_push(m, rows, *place);
}

static void add(struct analyze_misses *m, struct analyze_misses_row row, uint32_t side,
		uint32_t run, const struct analyze_misses_side *what)
{
	row.side = side;
	row.run = run;
	row.sides[side] = *what;
	add_place(m, &row);
	if (row.context) {
		row.function = "*";
		add_place(m, &row);
	}
}

static bool is_of_code(uint32_t event)
{
	return event == MODEL_L1I || event == MODEL_ITLB || event == MODEL_BRANCH;
}

static void add_objects(struct analyze_misses *m, const struct profile *p, uint32_t side,
			const double cycles[MODEL_N_EVENTS])
{
	vec_each(const struct profile_object, o, p, objects) {
		struct analyze_misses_row row = { .context = p->contexts[o->context].name,
						  .function = o->type,
						  .side = side,
						  .run = o->run };
		struct analyze_misses_side *what = &row.sides[side];

		what->events[o->event] = (double)o->count;
		what->cycles = what->data = (double)o->count * cycles[o->event];
		add_place(m, &row);
		row.context = "*";
		add_place(m, &row);
	}
}

static void add_profile(struct analyze_misses *m, const struct profile *p, uint32_t side,
			enum analyze_misses_by by)
{
	double cycles[MODEL_N_EVENTS];

	read_cycles(p, cycles);
	if (by == ANALYZE_MISSES_BY_OBJECT) {
		add_objects(m, p, side, cycles);
		return;
	}
	vec_each(const struct profile_miss, miss, p, misses) {
		struct analyze_misses_side what = {
			.cycles = (double)miss->count * cycles[miss->event],
		};

		what.events[miss->event] = (double)miss->count;
		what.data = is_of_code(miss->event) ? 0 : what.cycles;
		add(m, place_of(p, miss->stack, miss->context, by), side, miss->run, &what);
	}
	vec_each(const struct profile_sample, s, p, samples) {
		struct analyze_misses_side what = { .instructions = (double)s->count };

		add(m, place_of(p, s->stack, s->context, by), side, s->run, &what);
	}
}

static void per_run(struct analyze_misses_side *side, double runs)
{
	const struct analyze_misses_side sum = *side;

	*side = (struct analyze_misses_side){};
	add_side(side, &sum, 1 / runs);
}

static struct analyze_moments moments_of(const struct analyze_misses_side *side, uint32_t runs)
{
	double n = runs, mean = side->data;

	return (struct analyze_moments){
		.n = runs,
		.mean = mean,
		.variance = runs < 2 ? NAN : fmax(side->squares - mean * mean, 0) * n / (n - 1),
	};
}

static void compare_sides(struct analyze_misses_row *row, uint32_t runs_a, uint32_t runs_b)
{
	struct analyze_moments a = moments_of(&row->sides[0], runs_a);
	struct analyze_moments b = moments_of(&row->sides[1], runs_b);
	struct analyze_welch welch = analyze_welch_form(&a, &b);
	struct analyze_interval interval = analyze_welch_interval(&welch, 0.95);

	row->delta = row->sides[1];
	add_side(&row->delta, &row->sides[0], -1);
	row->plus_minus = (interval.high - interval.low) / 2;
	row->p = welch.p;
}

static bool is_missing(const struct profile *a, const struct profile *b)
{
	const char *of_a = profile_env_get(a, PROFILE_ENV_MODEL);
	const char *of_b = b ? profile_env_get(b, PROFILE_ENV_MODEL) : of_a;

	return !of_a || !of_b || strcmp(of_a, of_b) != 0 || !a->n_runs || (b && !b->n_runs);
}

void analyze_misses_init(struct analyze_misses *m, const struct profile *a, const struct profile *b,
			 enum analyze_misses_by by)
{
	uint32_t n = 0;

	*m = (struct analyze_misses){};
	if (is_missing(a, b))
		return;
	m->model = profile_env_get(a, PROFILE_ENV_MODEL);
	add_profile(m, a, 0, by);
	if (b)
		add_profile(m, b, 1, by);
	for (uint32_t i = 0; i < m->n_rows; i++) {
		struct analyze_misses_side *side = &m->rows[i].sides[m->rows[i].side];

		side->squares = side->data * side->data;
	}
	vec_unite(m, rows, compare_place, add_row);
	vec_each(struct analyze_misses_row, row, m, rows) {
		if (!(row->sides[0].cycles + row->sides[1].cycles > 0))
			continue;
		row->delta.data = row->plus_minus = row->p = NAN;
		per_run(&row->sides[0], a->n_runs);
		if (b) {
			per_run(&row->sides[1], b->n_runs);
			compare_sides(row, a->n_runs, b->n_runs);
		}
		m->rows[n++] = *row;
	}
	m->n_rows = n;
	sort_array(m->rows, n, sizeof(*m->rows), compare_weight);
}

void analyze_misses_deinit(struct analyze_misses *m)
{
	free(m->rows);
	hash_deinit(&m->index);
}
