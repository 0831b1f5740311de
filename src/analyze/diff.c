// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/diff.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/compare.h"
#include "analyze/sort.h"
#include "base/alloc.h"
#include "base/log.h"

double analyze_percent(double delta, double base)
{
	return base > 0 ? delta / base * 100 : NAN;
}

static int row_order(const struct analyze_row *a, const struct analyze_row *b)
{
	int diff = strcmp(a->name, b->name);

	return diff ? diff : analyze_context_compare(a->context, b->context);
}

static void rows_match(struct analyze_diff_rows *out, const struct analyze_table *a,
		       const struct analyze_table *b, const struct analyze_rows *rows_a,
		       const struct analyze_rows *rows_b)
{
	uint32_t i = 0, j = 0;

	while (i < rows_a->n_rows || j < rows_b->n_rows) {
		struct analyze_diff_row row = { .baseline = analyze_figures_none,
						.hardened = analyze_figures_none,
						.delta = NAN,
						.delta_pct = NAN,
						.delta_total = NAN,
						.share = NAN };
		int order = i == rows_a->n_rows ? 1 :
			    j == rows_b->n_rows ? -1 :
						  row_order(&rows_a->rows[i], &rows_b->rows[j]);
		const struct analyze_row *from = order <= 0 ? &rows_a->rows[i] : &rows_b->rows[j];

		row.name = from->name;
		row.context = from->context;
		if (order <= 0)
			row.samples[0] = &rows_a->rows[i].sample;
		if (order >= 0)
			row.samples[1] = &rows_b->rows[j].sample;
		if (order <= 0)
			row.baseline = analyze_figures_per_run(&rows_a->rows[i++].figures, a->runs);
		if (order >= 0)
			row.hardened = analyze_figures_per_run(&rows_b->rows[j++].figures, b->runs);
		analyze_diff_row_pair(&row);
		if (a->repetitions.unit == b->repetitions.unit)
			analyze_change_form(&row.change, row.samples[0], row.samples[1]);
		else
			row.change = analyze_change_none;
		vec_push(out, rows, row);
	}
}

/* The total of a side where it is known: KNOWN tells whether no calls there means none were made. */
static double side_total(const struct analyze_figures *f, enum analyze_time time, bool known)
{
	return isnan(f->totals[time]) && known ? 0 : f->totals[time];
}

/* The change of a syscall's total; a side that has no row made no call. */
static double syscall_change(const struct analyze_diff_row *row, enum analyze_time time)
{
	return side_total(&row->hardened, time, true) - side_total(&row->baseline, time, true);
}

static void syscall_totals(struct analyze_diff *diff)
{
	uint32_t i;

	for (i = 0; i < diff->syscalls.n_rows; i++)
		diff->syscalls.rows[i].delta_total =
			syscall_change(&diff->syscalls.rows[i], diff->time);
}

static const struct analyze_diff_row *syscall_find(const struct analyze_diff_rows *syscalls,
						   const char *name)
{
	uint32_t low = 0, high = syscalls->n_rows;

	while (low < high) {
		uint32_t mid = low + (high - low) / 2;
		int order = strcmp(name, syscalls->rows[mid].name);

		if (!order)
			return &syscalls->rows[mid];
		if (order < 0)
			high = mid;
		else
			low = mid + 1;
	}
	return NULL;
}

/* What functions in CONTEXT have shares of. */
static double context_change(const struct analyze_diff *diff, const char *context)
{
	enum analyze_time time = diff->time == ANALYZE_TIME_SELF ? ANALYZE_TIME_ONCPU : diff->time;
	const struct analyze_diff_row *row;
	double all = 0;
	uint32_t i;

	if (strcmp(context, ANALYZE_ALL_CONTEXTS)) {
		row = syscall_find(&diff->syscalls, context);
		return row ? syscall_change(row, time) : NAN;
	}
	for (i = 0; i < diff->syscalls.n_rows; i++)
		all += syscall_change(&diff->syscalls.rows[i], time);
	return all;
}

/* Rows are still in the order of their names: a function's sum comes first, then its contexts. */
static void function_totals(struct analyze_diff *diff)
{
	struct analyze_diff_rows *functions = &diff->functions;
	double all = context_change(diff, ANALYZE_ALL_CONTEXTS);
	struct analyze_diff_row *sum = NULL;
	uint32_t i;

	for (i = 0; i < functions->n_rows; i++) {
		struct analyze_diff_row *row = &functions->rows[i];
		bool is_sum = !strcmp(row->context, ANALYZE_ALL_CONTEXTS);
		double change;

		if (is_sum)
			sum = row;
		row->delta_total =
			side_total(&row->hardened, diff->time, !isnan(sum->hardened.calls)) -
			side_total(&row->baseline, diff->time, !isnan(sum->baseline.calls));
		change = is_sum ? all : context_change(diff, row->context);
		if (change != 0)
			row->share = row->delta_total / change;
		if (!is_sum)
			sum->redundant =
				row == sum + 1 && (i + 1 == functions->n_rows ||
						   strcmp(functions->rows[i + 1].name, row->name));
	}
}

/*
 * What a row weighs in the order: the cost itself where there is nothing to take it from. Those come last, since
 * they are no change.
 */
static double row_weight(const struct analyze_diff_row *row)
{
	if (!isnan(row->delta_total))
		return fabs(row->delta_total);
	return fabs(isnan(row->hardened.total) ? row->baseline.total : row->hardened.total);
}

static int weight_compare(const void *left, const void *right)
{
	const struct analyze_diff_row *a = left, *b = right;
	double weight_a = row_weight(a), weight_b = row_weight(b);
	int diff = !!isnan(a->delta_total) - !!isnan(b->delta_total);

	if (diff)
		return diff;
	if (weight_a != weight_b)
		return weight_a < weight_b ? 1 : -1;
	diff = strcmp(a->name, b->name);
	return diff ? diff : analyze_context_compare(a->context, b->context);
}

/* One name's rows on one side: [0] unprobed, [1] probed; NULL where there is none. */
struct workload_pair {
	const struct analyze_workload_row *rows[2];
};

/* Takes the rows of NAME, if they are next in W, and moves *I behind them. */
static struct workload_pair pair_take(const struct analyze_workload *w, uint32_t *i,
				      const char *name)
{
	struct workload_pair pair = { { NULL, NULL } };

	for (; *i < w->n_rows && !strcmp(w->rows[*i].name, name); (*i)++)
		pair.rows[w->rows[*i].probed] = &w->rows[*i];
	return pair;
}

static struct analyze_diff_workload_row workload_row(struct workload_pair a, struct workload_pair b)
{
	/* Like is compared with like: unprobed where both sides have it, else probed likewise. */
	int how = a.rows[0] && b.rows[0] ? 0 :
		  a.rows[1] && b.rows[1] ? 1 :
					   !a.rows[0] && !b.rows[0];
	const struct analyze_workload_row *from = a.rows[how] ? a.rows[how] : b.rows[how];
	struct analyze_diff_workload_row row = {
		.name = from->name,
		.probed = from->probed,
		.how = from->how,
		.order = from->order,
		.baseline = a.rows[how] ? a.rows[how]->figures : analyze_workload_none,
		.hardened = b.rows[how] ? b.rows[how]->figures : analyze_workload_none,
	};
	bool comparable;

	row.delta = row.hardened.mean - row.baseline.mean;
	row.delta_pct = analyze_percent(row.delta, row.baseline.mean);
	comparable = a.rows[how] && b.rows[how] && a.rows[how]->unit == b.rows[how]->unit;
	analyze_change_form(&row.change, comparable ? &a.rows[how]->sample : NULL,
			    comparable ? &b.rows[how]->sample : NULL);
	return row;
}

static int workload_compare(const void *left, const void *right)
{
	const struct analyze_diff_workload_row *a = left, *b = right;

	if (a->order != b->order)
		return a->order < b->order ? -1 : 1;
	return strcmp(a->name, b->name);
}

static void workload_diff(struct analyze_diff *diff, const struct profile *baseline,
			  const struct profile *hardened, bool raw)
{
	struct analyze_workload a, b;
	uint32_t i = 0, j = 0;

	analyze_workload_init(&a, baseline, raw);
	analyze_workload_init(&b, hardened, raw);
	while (i < a.n_rows || j < b.n_rows) {
		int order = i == a.n_rows ? 1 :
			    j == b.n_rows ? -1 :
					    strcmp(a.rows[i].name, b.rows[j].name);
		const char *name = order <= 0 ? a.rows[i].name : b.rows[j].name;
		struct workload_pair pair_a = pair_take(&a, &i, name);
		struct workload_pair pair_b = pair_take(&b, &j, name);

		vec_push(diff, workload, workload_row(pair_a, pair_b));
	}
	analyze_sort(diff->workload, diff->n_workload, sizeof(*diff->workload), workload_compare);
	analyze_workload_deinit(&a);
	analyze_workload_deinit(&b);
}

/* ---- statistics ---- */

/* Every row that stands for itself, so that none is counted twice. NULL in CHANGES: only their number. */
static size_t changes_collect(struct analyze_diff *diff, struct analyze_change **changes)
{
	struct analyze_diff_rows *lists[] = { &diff->syscalls, &diff->functions };
	size_t i, n = 0;
	uint32_t j;

	for (j = 0; j < diff->n_workload; j++, n++)
		if (changes)
			changes[n] = &diff->workload[j].change;
	for (i = 0; i < 2; i++) {
		for (j = 0; j < lists[i]->n_rows; j++) {
			if (lists[i]->rows[j].redundant)
				continue;
			if (changes)
				changes[n] = &lists[i]->rows[j].change;
			n++;
		}
	}
	for (j = 0; j < diff->ranges.n_rows; j++) {
		if (diff->ranges.rows[j].redundant)
			continue;
		if (changes)
			changes[n] = &diff->ranges.rows[j].change;
		n++;
	}
	return n;
}

/* Whether samples of SIDE hit inlined bodies of NAME. */
static bool is_inlined(const struct analyze_diff *diff, int side, const char *name)
{
	const struct analyze_bodies *bodies = &diff->ranges.sides[side].bodies;
	uint32_t i;

	for (i = 0; i < bodies->n_counts; i++)
		if (!strcmp(bodies->bodies[bodies->counts[i].body].name, name))
			return true;
	return false;
}

/* Why FUNCTION, a sum over all contexts, was timed on one side only; NULL: it was on both. */
static const char *partner_note(const struct analyze_diff_row *function,
				const struct analyze_diff *diff)
{
	static const char *const notes[2][2] = {
		{ "not timed on the baseline side (no such function there, or not recorded)",
		  "not timed on the baseline side, which inlines it" },
		{ "not timed on the hardened side (no such function there, or not recorded)",
		  "not timed on the hardened side, which inlines it" },
	};
	int missing = isnan(function->baseline.calls) ? 0 : 1;

	if (isnan(function->baseline.calls) == isnan(function->hardened.calls))
		return NULL;
	return notes[missing][is_inlined(diff, missing, function->name)];
}

/* What a reader would ask who sees that something is missing in this row and not in all. */
static const char *row_note(const struct analyze_diff_row *row, const struct analyze_diff *diff)
{
	const struct analyze_change *c = &row->change;
	bool enough = !diff->repetitions.note || diff->repetitions.rows;

	if (row->inlined)
		return row->inlined;
	if (!(row->baseline.calls > 0) != !(row->hardened.calls > 0))
		return row->hardened.calls > 0 ? "called on the hardened side only" :
						 "called on the baseline side only";
	if (!(row->baseline.calls > 0) || !enough)
		return NULL;
	if (isnan(c->p))
		return "called in too few repetitions";
	if (isnan(c->plus_minus_pct))
		return "mean not surely above 0: no percentages";
	if (c->verdict == ANALYZE_VERDICT_UNCLEAR && isnan(c->boots_needed))
		return "no number of boots would settle it: probe cost is not known well enough";
	return NULL;
}

/* ROWS are in the order of their names: a function's sum comes first. */
static void form_notes(struct analyze_diff_rows *rows, const struct analyze_diff *diff)
{
	const char *partner = NULL;
	uint32_t i;

	for (i = 0; i < rows->n_rows; i++) {
		struct analyze_diff_row *row = &rows->rows[i];

		if (row->context && !strcmp(row->context, ANALYZE_ALL_CONTEXTS))
			partner = partner_note(row, diff);
		row->alone = partner;
		row->note = partner ? partner : row_note(row, diff);
	}
}

/* The same of inlined bodies, which are in another order. */
static void ranges_repeat(struct analyze_diff_ranges *ranges)
{
	uint32_t i, j;

	for (i = 0; i < ranges->n_rows; i++) {
		struct analyze_diff_range *row = &ranges->rows[i];

		if (!row->redundant || isnan(row->change.p))
			continue;
		row->change = analyze_change_none;
		for (j = 0; j < ranges->n_rows; j++)
			if (!ranges->rows[j].redundant &&
			    !analyze_body_compare(&ranges->rows[j].body, &row->body))
				row->change = ranges->rows[j].change;
	}
}

static void judge(struct analyze_diff *diff, double margin_pct)
{
	size_t n = changes_collect(diff, NULL), i;
	struct analyze_change **changes = alloc_array(n, sizeof(*changes));
	struct analyze_diff_rows *functions = &diff->functions;

	changes_collect(diff, changes);
	analyze_changes_judge(changes, n, margin_pct);
	for (i = 0; i < n; i++)
		diff->repetitions.rows += !isnan(changes[i]->p);
	free(changes);
	/* A sum over one context is that context, which follows it. */
	for (i = 0; i < functions->n_rows; i++)
		if (functions->rows[i].redundant)
			functions->rows[i].change = functions->rows[i + 1].change;
	ranges_repeat(&diff->ranges);
	form_notes(&diff->syscalls, diff);
	form_notes(functions, diff);
}

static char *repetitions_note(const struct analyze_repetitions *a,
			      const struct analyze_repetitions *b)
{
	if (a->unit != b->unit)
		return alloc_printf("one boot on the %s side and several on the other: how sure "
				    "differences are is not known (boot both as often)",
				    a->unit == ANALYZE_UNIT_RUN ? "baseline" : "hardened");
	if (a->n < ANALYZE_MIN_REPETITIONS || b->n < ANALYZE_MIN_REPETITIONS)
		return alloc_printf(
			"too few runs (%u and %u) to say how sure differences are: lab ab "
			"--boots=5 boots again, record --repeat=5 runs again",
			a->n, b->n);
	if (a->unit == ANALYZE_UNIT_RUN)
		return alloc_strdup("runs in one boot a side: what differs from boot to boot is in "
				    "no interval (lab ab --boots=5)");
	return NULL;
}

static void repetitions_form(struct analyze_diff_repetitions *r,
			     const struct analyze_repetitions *a,
			     const struct analyze_repetitions *b,
			     const struct analyze_options *options)
{
	r->unit = a->unit;
	r->n[0] = a->n;
	r->n[1] = b->n;
	r->margin_pct = options->margin_pct > 0 ? options->margin_pct : ANALYZE_MARGIN_PCT;
	r->note = repetitions_note(a, b);
}

/* They are the tables'. */
static void forget_samples(struct analyze_diff_rows *rows)
{
	uint32_t i;

	for (i = 0; i < rows->n_rows; i++)
		rows->rows[i].samples[0] = rows->rows[i].samples[1] = NULL;
}

int analyze_diff_init(struct analyze_diff *diff, const struct profile *baseline,
		      const struct profile *hardened, const struct analyze_options *options)
{
	struct analyze_table a, b;

	memset(diff, 0, sizeof(*diff));
	if (baseline->clock != hardened->clock) {
		log_error(
			"cannot compare: the baseline's times are in %s, the hardened side's in %s; "
			"record both with the same --accel",
			profile_clock_unit(baseline->clock), profile_clock_unit(hardened->clock));
		return -EINVAL;
	}
	diff->clock = baseline->clock;
	diff->time = options->time;
	analyze_table_init(&a, baseline, options);
	analyze_table_init(&b, hardened, options);
	diff->runs[0] = a.runs;
	diff->runs[1] = b.runs;
	diff->boots[0] = a.boots;
	diff->boots[1] = b.boots;
	rows_match(&diff->syscalls, &a, &b, &a.syscalls, &b.syscalls);
	rows_match(&diff->functions, &a, &b, &a.functions, &b.functions);
	syscall_totals(diff);
	function_totals(diff);
	workload_diff(diff, baseline, hardened, options->raw);
	repetitions_form(&diff->repetitions, &a.repetitions, &b.repetitions, options);
	analyze_diff_ranges_init(&diff->ranges, diff, baseline, hardened, options);
	analyze_diff_blocks_init(&diff->blocks, baseline, hardened, diff->runs,
				 diff->ranges.same_source);
	if (analyze_diff_partners(diff))
		function_totals(diff);
	forget_samples(&diff->syscalls);
	forget_samples(&diff->functions);
	judge(diff, diff->repetitions.margin_pct);
	analyze_sort(diff->syscalls.rows, diff->syscalls.n_rows, sizeof(*diff->syscalls.rows),
		     weight_compare);
	analyze_sort(diff->functions.rows, diff->functions.n_rows, sizeof(*diff->functions.rows),
		     weight_compare);
	analyze_table_deinit(&a);
	analyze_table_deinit(&b);
	analyze_env_diff(&diff->env, baseline, hardened);
	analyze_warnings_of_pair(&diff->warnings, baseline, hardened, options->raw);
	return 0;
}

void analyze_diff_deinit(struct analyze_diff *diff)
{
	free(diff->repetitions.note);
	free(diff->workload);
	free(diff->syscalls.rows);
	free(diff->functions.rows);
	analyze_diff_blocks_deinit(&diff->blocks);
	analyze_diff_ranges_deinit(&diff->ranges);
	analyze_env_deinit(&diff->env);
	analyze_warnings_deinit(&diff->warnings);
	memset(diff, 0, sizeof(*diff));
}
