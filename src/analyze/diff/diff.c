// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/diff/diff.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/sorted.h"

/* ---- compare the workload's own results ---- */

/* The results of one name in one profile: without probes [0], with probes [1], or NULL. */
struct workload_pair {
	const struct analyze_workload_row *rows[2];
};

static struct workload_pair workload_pair(const struct analyze_workload_row *rows, size_t n)
{
	struct workload_pair pair = { { NULL, NULL } };

	for (size_t i = 0; i < n; i++)
		pair.rows[rows[i].probed] = &rows[i];
	return pair;
}

/* Return the row that compares A with B. If neither has a result to compare, the row is named after NAMED, a row of A or B. */
static struct analyze_diff_workload_row workload_row(struct workload_pair a, struct workload_pair b,
						     const struct analyze_workload_row *named)
{
	/* Compare runs without probes if both profiles have them. Otherwise compare runs with probes if both have them. */
	int how = a.rows[0] && b.rows[0] ? 0 :
		  a.rows[1] && b.rows[1] ? 1 :
					   !a.rows[0] && !b.rows[0];
	const struct analyze_workload_row *ra = a.rows[how], *rb = b.rows[how];
	const struct analyze_workload_row *from = ra ? ra : rb ? rb : named;
	struct analyze_diff_workload_row row = {
		.name = from->name,
		.probed = from->probed,
		.how = from->how,
		.order = from->order,
		.sides = { ra ? ra->figures : analyze_workload_none,
			   rb ? rb->figures : analyze_workload_none },
		.change = analyze_change_none,
	};

	row.delta = row.sides[1].mean - row.sides[0].mean;
	row.delta_pct = analyze_percent(row.delta, row.sides[0].mean);
	if (ra && rb && ra->unit == rb->unit) {
		row.change.moments[0] = ra->moments;
		row.change.moments[1] = rb->moments;
		analyze_change_form(&row.change);
	}
	return row;
}

define_compare(workload_name_compare, struct analyze_workload_row, strcmp(a->name, b->name));

define_compare(workload_compare, struct analyze_diff_workload_row,
	       compare_values(a->order, b->order) ?: strcmp(a->name, b->name));

static void workload_diff(struct analyze_diff *diff, const struct analyze_workload *a,
			  const struct analyze_workload *b)
{
	struct join j = join_sorted(a->rows, a->n_rows, b->rows, b->n_rows, sizeof(*a->rows),
				    workload_name_compare);

	while (join_next(&j))
		vec_push(diff, workload,
			 workload_row(workload_pair(j.a, j.n_a), workload_pair(j.b, j.n_b),
				      j.n_a ? j.a : j.b));
	sort_array(diff->workload, diff->n_workload, sizeof(*diff->workload), workload_compare);
}

/* ---- functions that one kernel's compiler inlined ---- */

define_compare(body_order, struct analyze_range,
	       strcmp(a->body.name, b->body.name) ?: strcmp(a->context, b->context));

/* Return the *N rows of inlined functions with this NAME and CONTEXT. */
static const void *const *bodies_named(const struct analyze_diff *diff, int side, const char *name,
				       const char *context, size_t *n)
{
	const struct analyze_range key = { .body.name = name, .context = context };

	return pointers_find(&diff->bodies_by_name[side], &key, n);
}

/* Divide RANGE's figures by the number of RUNS, and add them to F. */
static void figures_add(struct analyze_figures *f, const struct analyze_range *range, uint32_t runs,
			enum analyze_time time)
{
	struct analyze_figures one = analyze_figures_per_run(&range->side.figures, runs);

	if (isnan(f->calls)) {
		*f = one;
		return;
	}
	f->calls += one.calls;
	for (enum analyze_time t = 0; t < ANALYZE_N_TIMES; t++) {
		f->totals[t] += one.totals[t];
		f->means[t] = f->calls > 0 ? f->totals[t] / f->calls : NAN;
	}
	f->total = f->totals[time];
	f->mean = f->means[time];
	/* Percentiles of several inlined copies cannot be added. */
	f->p50 = f->p90 = f->p99 = f->p999 = f->min = f->max = NAN;
}

/* Sum up the timed inlined copies of ROW's function in ROW's context. Return false if there are none. */
static bool partners_sum(const struct analyze_diff *diff, const struct analyze_diff_row *row,
			 int side, struct analyze_figures *figures, struct analyze_moments *moments)
{
	size_t n;
	const void *const *found = bodies_named(diff, side, row->name, row->context, &n);
	scoped(analyze_sample_deinit) struct analyze_sample sample = {};

	*figures = analyze_figures_none;
	for (size_t i = 0; i < n; i++) {
		const struct analyze_range *range = found[i];

		if (!range->side.source || range->estimated)
			continue;
		figures_add(figures, range, diff->runs[side], diff->time);
		analyze_sample_merge(&sample, &range->sample);
	}
	*moments = analyze_sample_moments(&sample);
	return !isnan(figures->calls);
}

/* If one kernel has no figures of a function, use the sum over its inlined copies instead. Return the number of such functions. */
static uint32_t find_partners(struct analyze_diff *diff)
{
	uint32_t n = 0;

	vec_each(struct analyze_diff_row, row, &diff->functions, rows) {
		int side = isnan(row->sides[0].calls) ? 0 : 1;
		struct analyze_figures figures;
		struct analyze_moments moments;

		if (!isnan(row->sides[side].calls) ||
		    !partners_sum(diff, row, side, &figures, &moments))
			continue;
		row->sides[side] = figures;
		row->change.moments[side] = moments;
		row->inlined = side ? ANALYZE_NOTE_BODIES_HARDENED : ANALYZE_NOTE_BODIES_BASELINE;
		analyze_diff_row_pair(row, diff->bodies[0].repetitions.unit ==
						   diff->bodies[1].repetitions.unit);
		n++;
	}
	return n;
}

struct changes {
	vec_of(struct analyze_change *, changes);
};

/* Collect the changes of all rows. Leave out redundant rows, since such a row repeats the next row. */
static void changes_collect(struct changes *list, struct analyze_diff *diff)
{
	struct analyze_diff_rows *lists[] = { &diff->syscalls, &diff->functions };

	for (uint32_t j = 0; j < diff->n_workload; j++)
		vec_push(list, changes, &diff->workload[j].change);
	for (uint32_t i = 0; i < 2; i++)
		for (uint32_t j = 0; j < lists[i]->n_rows; j++)
			if (!lists[i]->rows[j].redundant)
				vec_push(list, changes, &lists[i]->rows[j].change);
}

/* Return whether a sample in kernel SIDE hit an inlined copy of the function NAME, in any context. */
static bool is_inlined(const struct analyze_diff *diff, int side, const char *name)
{
	size_t n;
	const void *const *found = bodies_named(diff, side, name, ANALYZE_ALL_CONTEXTS, &n);

	for (size_t i = 0; i < n; i++)
		if (((const struct analyze_range *)found[i])->side.estimate.samples > 0)
			return true;
	return false;
}

/* Return the reason why only one kernel has figures in FUNCTION, the row of all contexts. NONE: both or neither have figures. */
static enum analyze_note partner_note(const struct analyze_diff_row *function,
				      const struct analyze_diff *diff)
{
	static const enum analyze_note notes[2][2] = {
		{ ANALYZE_NOTE_NOT_TIMED_BASELINE, ANALYZE_NOTE_INLINED_BASELINE },
		{ ANALYZE_NOTE_NOT_TIMED_HARDENED, ANALYZE_NOTE_INLINED_HARDENED },
	};
	int missing = isnan(function->sides[0].calls) ? 0 : 1;

	if (isnan(function->sides[0].calls) == isnan(function->sides[1].calls))
		return ANALYZE_NOTE_NONE;
	return notes[missing][is_inlined(diff, missing, function->name)];
}

/* Return the remark on ROW, or NONE. If all rows have too few repetitions, DIFF->repetitions.note says it once. */
static enum analyze_note row_note(const struct analyze_diff_row *row,
				  const struct analyze_diff *diff)
{
	const struct analyze_diff_repetitions *r = &diff->repetitions;
	const struct analyze_change *c = &row->change;
	bool enough = r->note == ANALYZE_REPETITIONS_ENOUGH || r->rows;

	if (row->inlined)
		return row->inlined;
	if (!(row->sides[0].calls > 0) != !(row->sides[1].calls > 0))
		return row->sides[1].calls > 0 ? ANALYZE_NOTE_CALLED_HARDENED :
						 ANALYZE_NOTE_CALLED_BASELINE;
	if (!(row->sides[0].calls > 0) || !enough)
		return ANALYZE_NOTE_NONE;
	if (isnan(c->p))
		return ANALYZE_NOTE_FEW;
	if (isnan(c->plus_minus_pct))
		return ANALYZE_NOTE_NEAR_ZERO;
	if (c->verdict == ANALYZE_VERDICT_UNCLEAR && !c->verdict_of_runs && isnan(c->boots_needed))
		return ANALYZE_NOTE_NO_NUMBER;
	return ANALYZE_NOTE_NONE;
}

/* Set the remarks on ROWS. If a function's first row (all contexts) lacks figures in a kernel, all rows of the function say so. */
static void form_notes(struct analyze_diff_rows *rows, const struct analyze_diff *diff)
{
	enum analyze_note partner = ANALYZE_NOTE_NONE;

	vec_each(struct analyze_diff_row, row, rows, rows) {
		if (analyze_is_sum(row->context))
			partner = partner_note(row, diff);
		row->no_partner = partner;
		row->note = partner ? partner : row_note(row, diff);
	}
}

static void judge(struct analyze_diff *diff)
{
	struct analyze_diff_rows *functions = &diff->functions;
	struct changes list = { 0 };

	changes_collect(&list, diff);
	analyze_changes_judge(list.changes, list.n_changes, diff->repetitions.margin_pct,
			      analyze_repetitions_undecided(diff->repetitions.note));
	for (size_t i = 0; i < list.n_changes; i++)
		diff->repetitions.rows += !isnan(list.changes[i]->p);
	free(list.changes);
	/* A redundant row gets the change of the next row, the function's only context. */
	for (size_t i = 0; i < functions->n_rows; i++)
		if (functions->rows[i].redundant)
			functions->rows[i].change = functions->rows[i + 1].change;
	form_notes(&diff->syscalls, diff);
	form_notes(functions, diff);
}

static enum analyze_repetitions_note repetitions_note(enum profile_clock clock,
						      const struct analyze_repetitions *a,
						      const struct analyze_repetitions *b,
						      bool alternate)
{
	if (clock == PROFILE_CLOCK_NS &&
	    (a->unit == ANALYZE_UNIT_RUN || b->unit == ANALYZE_UNIT_RUN))
		return ANALYZE_REPETITIONS_ONE_RECORDING;
	if (a->unit != b->unit)
		return b->unit == ANALYZE_UNIT_BOOT ? ANALYZE_REPETITIONS_BOOT_BASELINE :
						      ANALYZE_REPETITIONS_BOOT_HARDENED;
	if (a->n < ANALYZE_MIN_REPETITIONS || b->n < ANALYZE_MIN_REPETITIONS)
		return ANALYZE_REPETITIONS_TOO_FEW;
	if (a->unit == ANALYZE_UNIT_RECORDING && !alternate)
		return ANALYZE_REPETITIONS_IN_A_ROW;
	if (a->unit != ANALYZE_UNIT_BOOT)
		return ANALYZE_REPETITIONS_ONE_BOOT;
	return ANALYZE_REPETITIONS_ENOUGH;
}

static void repetitions_form(struct analyze_diff_repetitions *r, enum profile_clock clock,
			     const struct analyze_repetitions *a,
			     const struct analyze_repetitions *b, bool alternate,
			     const struct analyze_options *options)
{
	r->unit = a->unit;
	r->n[0] = a->n;
	r->n[1] = b->n;
	r->margin_pct = options->margin_pct > 0 ? options->margin_pct : ANALYZE_MARGIN_PCT;
	r->note = repetitions_note(clock, a, b, alternate);
}

/* If a function has figures in only one kernel, find the inlined functions of both kernels. */
static void find_bodies(struct analyze_diff *diff, const struct profile *const p[2],
			const struct analyze_options *options)
{
	bool any = false;

	vec_each(const struct analyze_diff_row, row, &diff->functions, rows)
		any |= isnan(row->sides[0].calls) != isnan(row->sides[1].calls);
	for (int side = 0; side < 2 && any; side++) {
		struct analyze_ranges *bodies = &diff->bodies[side];

		analyze_ranges_init(bodies, p[side], options);
		diff->bodies_by_name[side] = pointers_sort(bodies->rows, bodies->n_rows,
							   sizeof(*bodies->rows), body_order);
	}
}

static void side_init(struct analyze_diff *diff, int side, struct analyze_table *table,
		      struct analyze_workload *command, const struct profile *p,
		      const struct analyze_options *options)
{
	analyze_table_init(table, p, options);
	analyze_workload_init(command, p, options->raw);
	diff->runs[side] = table->runs;
	diff->boots[side] = table->boots;
	diff->kernel[side] = analyze_kernel_share_of(p, table, command);
}

int analyze_diff_init(struct analyze_diff *diff, const struct profile *baseline,
		      const struct profile *hardened, const struct analyze_options *options)
{
	struct analyze_table tables[2], *a = &tables[0], *b = &tables[1];
	struct analyze_workload commands[2];

	memset(diff, 0, sizeof(*diff));
	if (baseline->clock != hardened->clock) {
		log_error("cannot compare: times are in %s on the baseline side and in %s on the "
			  "hardened side; record both with the same --accel",
			  profile_clock_words(baseline->clock),
			  profile_clock_words(hardened->clock));
		return -EINVAL;
	}
	diff->clock = baseline->clock;
	diff->some = profile_env_get(baseline, PROFILE_ENV_SYSCALLS) ||
		     profile_env_get(hardened, PROFILE_ENV_SYSCALLS);
	diff->time = options->time;
	side_init(diff, 0, a, &commands[0], baseline, options);
	side_init(diff, 1, b, &commands[1], hardened, options);
	analyze_diff_rows_match(&diff->syscalls, tables, &a->syscalls, &b->syscalls);
	analyze_diff_rows_match(&diff->functions, tables, &a->functions, &b->functions);
	analyze_diff_totals(&diff->syscalls, &diff->functions, diff->time);
	workload_diff(diff, &commands[0], &commands[1]);
	repetitions_form(&diff->repetitions, diff->clock, &a->repetitions, &b->repetitions,
			 analyze_recordings_alternate(baseline, hardened), options);
	find_bodies(diff, (const struct profile *const[]){ baseline, hardened }, options);
	if (find_partners(diff))
		analyze_diff_totals(&diff->syscalls, &diff->functions, diff->time);
	judge(diff);
	analyze_diff_rows_sort_by_change(&diff->syscalls);
	analyze_diff_rows_sort_by_change(&diff->functions);
	analyze_env_diff(&diff->env, baseline, hardened);
	analyze_warnings_of_pair(&diff->warnings, baseline, hardened, tables, options->raw);
	for (int side = 0; side < 2; side++) {
		analyze_table_deinit(&tables[side]);
		analyze_workload_deinit(&commands[side]);
	}
	return 0;
}

void analyze_diff_deinit(struct analyze_diff *diff)
{
	for (int side = 0; side < 2; side++) {
		analyze_ranges_deinit(&diff->bodies[side]);
		free(diff->bodies_by_name[side].items);
	}
	free(diff->workload);
	free(diff->syscalls.rows);
	free(diff->functions.rows);
	analyze_env_deinit(&diff->env);
	analyze_warnings_deinit(&diff->warnings);
	memset(diff, 0, sizeof(*diff));
}
