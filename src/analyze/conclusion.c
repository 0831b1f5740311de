// SPDX-License-Identifier: GPL-2.0-or-later
/* The diff in a sentence. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/diff.h"
#include "base/alloc.h"
#include "output/number.h"
#include "output/text.h"

/* Shares this close to the largest are taken for the same cost seen from further inside. */
#define INNERMOST_SHARE 0.9
/* A share under this does not explain its syscall. */
#define LEAST_SHARE 0.1
/* A change of less than this share of what the command times is no headline, however sure. */
#define TRIFLE_SHARE 0.001
/* What is said of an inlined body's share of its function. */
#define RANGE_SHARE 0.5
#define NEARLY_ALL  0.9
#define WHOLE_SHARE 1.15 /* with more, something else must have become less */
/* Standard errors of a total that its calls' spread is taken to explain. */
#define CHANCE_ERRORS 2

/*
 * The function that carries ROW's change: callers of a costly function carry its cost as well, so
 * of those with nearly the largest share, the one with the least cost of its own is named.
 */
static const struct analyze_diff_row *find_carrier(const struct analyze_diff *diff,
						   const struct analyze_diff_row *row)
{
	const struct analyze_diff_row *best = NULL;
	double largest = LEAST_SHARE;
	uint32_t i;

	for (i = 0; i < diff->functions.n_rows; i++) {
		const struct analyze_diff_row *f = &diff->functions.rows[i];

		if (!strcmp(f->context, row->name) && f->share > largest)
			largest = f->share;
	}
	for (i = 0; i < diff->functions.n_rows; i++) {
		const struct analyze_diff_row *f = &diff->functions.rows[i];

		if (strcmp(f->context, row->name) || !(f->share >= INNERMOST_SHARE * largest) ||
		    f->share < LEAST_SHARE)
			continue;
		if (!best || fmax(f->baseline.total, f->hardened.total) <
				     fmax(best->baseline.total, best->hardened.total))
			best = f;
	}
	return best;
}

/* Whether the change of the total comes from more or fewer calls rather than from dearer ones. */
static bool is_change_of_calls(const struct analyze_diff_row *row)
{
	double by_calls = (row->hardened.calls - row->baseline.calls) * row->baseline.mean;
	double by_mean = row->hardened.calls * row->delta;

	return fabs(by_calls) > fabs(by_mean);
}

/* NAME is the row's, for printing. */
static char *change_text(const struct analyze_diff *diff, const struct analyze_diff_row *row,
			 const char *name)
{
	const char *clock = diff->time == ANALYZE_TIME_WALL ? " by the wall clock" : "";
	const char *unit = diff->clock == PROFILE_CLOCK_INSN ? " insn" : "";
	char a[OUTPUT_NUMBER_MAX], b[OUTPUT_NUMBER_MAX], sure[32] = "", more[64] = "";

	if (isnan(row->delta))
		return alloc_printf("%s is called on the %s side only (%s%s a run)", name,
				    isnan(row->baseline.mean) ? "hardened" : "baseline",
				    output_number(a, OUTPUT_DELTA, row->delta_total, diff->clock),
				    unit);
	if (is_change_of_calls(row)) {
		output_number(a, OUTPUT_COUNT, row->baseline.calls, diff->clock);
		output_number(b, OUTPUT_COUNT, row->hardened.calls, diff->clock);
		return alloc_printf("%s is called %s times a run instead of %s", name, b, a);
	}
	output_number(a, OUTPUT_PERCENT, row->delta_pct, diff->clock);
	output_number(b, OUTPUT_DELTA, row->delta, diff->clock);
	if (!isnan(row->change.plus_minus_pct))
		snprintf(sure, sizeof(sure), "\u00b1%.2g; ", row->change.plus_minus_pct);
	if (row->change.verdict == ANALYZE_VERDICT_SAME)
		return alloc_printf("%s is the same within %g %%%s (%s %s%s%s a call)", name,
				    diff->repetitions.margin_pct, clock, a, sure, b, unit);
	if (!isnan(row->change.boots_needed))
		snprintf(more, sizeof(more), "; about %.0f %ss a side would tell",
			 row->change.boots_needed, analyze_unit_key(diff->repetitions.unit));
	if (row->change.verdict == ANALYZE_VERDICT_UNCLEAR)
		return alloc_printf("%s is not surely slower or faster%s (%s %s%s%s a call%s)",
				    name, clock, a, sure, b, unit, more);
	return alloc_printf("%s is %s %s%s (%s%s%s a call)", name,
			    a[0] == '+' || a[0] == '-' ? a + 1 : a,
			    row->delta < 0 ? "faster" : "slower", clock, sure, b, unit);
}

static bool is_one_sided(const struct analyze_diff_range *r)
{
	return !r->baseline.source != !r->hardened.source;
}

static double range_total(const struct analyze_diff_range *r)
{
	return fmax(r->baseline.source ? r->baseline.figures.total : 0,
		    r->hardened.source ? r->hardened.figures.total : 0);
}

/*
 * Whether A says more than B of a change that both have in them: a measurement more than an estimate,
 * and what only one kernel has more than what both have. Of the former the outermost is what was put
 * there, with all that it needs; of the latter the innermost has least that did not change.
 */
static bool is_better_range(const struct analyze_diff_range *a, const struct analyze_diff_range *b)
{
	if (a->estimated != b->estimated)
		return b->estimated;
	if (is_one_sided(a) != is_one_sided(b))
		return is_one_sided(a);
	return is_one_sided(a) ? range_total(a) > range_total(b) : range_total(a) < range_total(b);
}

/*
 * The inlined body in F that carries most of its change, of all with nearly the largest share. NULL:
 * there is none with half of it.
 */
static const struct analyze_diff_range *find_range(const struct analyze_diff *diff,
						   const struct analyze_diff_row *f)
{
	const struct analyze_diff_range *best = NULL;
	double largest = RANGE_SHARE;
	uint32_t i, pass;

	for (pass = 0; pass < 2; pass++) {
		for (i = 0; i < diff->ranges.n_rows; i++) {
			const struct analyze_diff_range *r = &diff->ranges.rows[i];

			if (r->redundant || strcmp(r->body.function, f->name) ||
			    strcmp(r->context, f->context) || !(r->share >= RANGE_SHARE) ||
			    !strcmp(r->body.name, ANALYZE_RANGE_REST))
				continue;
			if (!pass)
				largest = fmax(largest, r->share);
			else if (r->share >= INNERMOST_SHARE * largest &&
				 (!best || is_better_range(r, best)))
				best = r;
		}
	}
	return best;
}

/* ", nearly all in shuffle_freelist (mm/slub.c:1978)", or nothing. */
static char *range_text(const struct analyze_diff *diff, const struct analyze_diff_row *carrier)
{
	const struct analyze_diff_range *r = find_range(diff, carrier);
	char delta[OUTPUT_NUMBER_MAX], *place, *name, *text;

	if (!r)
		return alloc_strdup("");
	place = output_text_escape(r->location ? r->location : "inlined");
	name = output_text_escape(r->body.name);
	output_number(delta, OUTPUT_DELTA, r->delta_total.value, diff->clock);
	text = r->share <= WHOLE_SHARE ?
		       alloc_printf(", %s in %s (%s%s)",
				    r->share >= NEARLY_ALL ? "nearly all" : "most", name, place,
				    r->estimated ? ", as samples estimate" : "") :
		       alloc_printf(", where %s (%s%s) makes %s%s a run and the rest less", name,
				    place, r->estimated ? ", as samples estimate" : "", delta,
				    diff->clock == PROFILE_CLOCK_INSN ? " insn" : "");
	free(place);
	free(name);
	return text;
}

/*
 * Where no timed function carries ROW's change: the inlined body whose samples do, most of all; NULL: none has a
 * tenth of it.
 */
static const struct analyze_diff_range *find_body(const struct analyze_diff *diff,
						  const struct analyze_diff_row *row)
{
	const struct analyze_diff_range *best = NULL;
	uint32_t i;

	for (i = 0; i < diff->ranges.n_rows; i++) {
		const struct analyze_diff_range *r = &diff->ranges.rows[i];

		if (r->redundant || !r->estimated || strcmp(r->context, row->name) ||
		    !(r->syscall_share >= LEAST_SHARE) || r->syscall_share > WHOLE_SHARE)
			continue;
		if (!best || r->syscall_share > best->syscall_share)
			best = r;
	}
	return best;
}

static char *body_text(const struct analyze_diff_range *r)
{
	char *name = output_text_escape(r->body.name);
	char *place = output_text_escape(r->location ? r->location : r->body.function);
	char *text = alloc_printf(", but %s (%s), %.0f %% as samples estimate", name, place,
				  r->syscall_share * 100);

	free(place);
	free(name);
	return text;
}

static char *carrier_text(const struct analyze_diff *diff, const struct analyze_diff_row *row)
{
	const struct analyze_diff_row *carrier = find_carrier(diff, row);
	char *name, *range, *text;

	if (carrier) {
		name = output_text_escape(carrier->name);
		range = range_text(diff, carrier);
		text = alloc_printf("; %.0f %% of that is %s%s", carrier->share * 100, name, range);
		free(range);
		free(name);
		return text;
	}
	if (diff->functions.n_rows) {
		const struct analyze_diff_range *body = find_body(diff, row);

		range = body ? body_text(body) : alloc_strdup("");
		text = alloc_printf("; no recorded function carries a tenth of it%s", range);
		free(range);
		return text;
	}
	return alloc_strdup("; record with --func to see where");
}

static char *runs_text(const struct analyze_diff *diff)
{
	const struct analyze_diff_repetitions *r = &diff->repetitions;

	if (r->rows)
		return alloc_printf("%u and %u %ss", r->n[0], r->n[1], analyze_unit_key(r->unit));
	if (diff->runs[0] > 1 && diff->runs[1] > 1)
		return alloc_printf("%u and %u runs", diff->runs[0], diff->runs[1]);
	if (diff->runs[0] == 1 && diff->runs[1] == 1)
		return alloc_strdup("one run a side: how much runs differ is not known");
	return alloc_printf("%u against %u runs: how much runs differ is not known", diff->runs[0],
			    diff->runs[1]);
}

/* Where self times are asked for: the row that changed most, a sum over contexts being none. */
static const struct analyze_diff_row *largest_self(const struct analyze_diff *diff)
{
	const struct analyze_diff_row *best = diff->syscalls.rows;
	uint32_t i;

	for (i = 0; i < diff->functions.n_rows; i++) {
		const struct analyze_diff_row *f = &diff->functions.rows[i];

		if (strcmp(f->context, ANALYZE_ALL_CONTEXTS) &&
		    fabs(f->delta_total) > fabs(best->delta_total))
			best = f;
	}
	return best;
}

static char *self_text(const struct analyze_diff *diff, const char *runs)
{
	const struct analyze_diff_row *row = largest_self(diff);
	char a[OUTPUT_NUMBER_MAX], share[OUTPUT_NUMBER_MAX];
	const char *unit = diff->clock == PROFILE_CLOCK_INSN ? " insn" : "";
	char *name = output_text_escape(row->name), *text, *context;

	output_number(a, OUTPUT_DELTA, row->delta_total, diff->clock);
	output_number(share, OUTPUT_FRACTION, row->share, diff->clock);
	if (!row->context) {
		text = alloc_printf(
			"%s itself, outside the timed functions it calls, changed most: "
			"%s%s a run (%s).",
			name, a, unit, runs);
	} else {
		context = output_text_escape(row->context);
		text = alloc_printf("%s itself, in %s, changed most: %s%s a run, %s of %s's change "
				    "(%s).",
				    name, context, a, unit, share, context, runs);
		free(context);
	}
	free(name);
	return text;
}

/* What a run's total may differ by for nothing but which calls were dear; 0: not known. */
static double chance(const struct analyze_figures *f)
{
	return isnan(f->spread) ? 0 : f->calls * f->spread * f->spread;
}

/*
 * How far ROW's total changed beyond what the spread of its calls explains. That is no test, since
 * calls of one run are no repetitions; but where there are no others it keeps a few calls that differ
 * threefold among themselves from the headline.
 */
static double beyond_chance(const struct analyze_diff_row *row)
{
	double both = chance(&row->baseline) + chance(&row->hardened);

	return fabs(row->delta_total) - CHANCE_ERRORS * sqrt(both);
}

/*
 * The syscall that changed most, of those that surely did if there are any; of those that nothing can
 * be said about, the one that changed most beyond chance.
 */
static const struct analyze_diff_row *headline(const struct analyze_diff *diff)
{
	const struct analyze_diff_row *best = diff->syscalls.rows;
	uint32_t i;

	for (i = 0; i < diff->syscalls.n_rows; i++) {
		const struct analyze_diff_row *row = &diff->syscalls.rows[i];

		/* However little: what is called the same may differ for sure. */
		if (row->change.p < ANALYZE_SIGNIFICANT)
			return row;
		if (beyond_chance(row) > beyond_chance(best))
			best = row;
	}
	return diff->repetitions.rows ? diff->syscalls.rows : best;
}

static bool is_sure_change(enum analyze_verdict verdict)
{
	return verdict == ANALYZE_VERDICT_SLOWER || verdict == ANALYZE_VERDICT_FASTER;
}

/* Iterations of W a run; the unprobed runs are the iterations of the command as a whole. NAN: not known. */
static double iterations_a_run(const struct analyze_diff *diff,
			       const struct analyze_diff_workload_row *w)
{
	uint32_t i;

	for (i = 0; i < diff->n_workload; i++) {
		const struct analyze_diff_workload_row *command = &diff->workload[i];

		if (!command->probed && !strcmp(command->name, ANALYZE_COMMAND))
			return (double)w->baseline.iterations / command->baseline.iterations;
	}
	return NAN;
}

/* Whether some syscall surely changed, by LEAST a run or more. */
static bool has_sure_syscall(const struct analyze_diff *diff, double least)
{
	uint32_t i;

	for (i = 0; i < diff->syscalls.n_rows; i++) {
		const struct analyze_diff_row *row = &diff->syscalls.rows[i];

		if (is_sure_change(row->change.verdict) && fabs(row->delta_total) >= least)
			return true;
	}
	return false;
}

/* Whether ROW surely changed, but by nothing beside what W times. */
static bool is_trifle(const struct analyze_diff *diff, const struct analyze_diff_row *row,
		      const struct analyze_diff_workload_row *w)
{
	return row->change.p < ANALYZE_SIGNIFICANT &&
	       fabs(row->delta_total) < TRIFLE_SHARE * w->baseline.mean * iterations_a_run(diff, w);
}

/*
 * What the command says of itself, unprobed, where no syscall tells more: it surely changed and no syscall surely
 * carries that, as with what acts outside sys_enter...sys_exit; or it surely did not, and nothing is sure of ROW, the
 * syscalls' headline; or that is a trifle. NULL: a syscall tells more.
 */
static const struct analyze_diff_workload_row *own_headline(const struct analyze_diff *diff,
							    const struct analyze_diff_row *row)
{
	const struct analyze_diff_workload_row *quiet = NULL;
	uint32_t i;

	for (i = 0; i < diff->n_workload; i++) {
		const struct analyze_diff_workload_row *w = &diff->workload[i];
		enum analyze_verdict verdict = w->change.verdict;

		if (w->probed || !strcmp(w->name, ANALYZE_COMMAND) ||
		    !strcmp(w->name, ANALYZE_COMMAND_CPU))
			continue;
		if (is_sure_change(verdict) &&
		    !has_sure_syscall(diff,
				      LEAST_SHARE * fabs(w->delta) * iterations_a_run(diff, w)))
			return w;
		if (quiet || !row)
			continue;
		if ((verdict == ANALYZE_VERDICT_SAME && !(row->change.p < ANALYZE_SIGNIFICANT)) ||
		    (verdict != ANALYZE_VERDICT_NONE && is_trifle(diff, row, w)))
			quiet = w;
	}
	return quiet;
}

/* "3.9 % slower (", "the same within 1 % (+0.01 % ", into BUF. */
static void own_change(char *buf, size_t size, const struct analyze_diff *diff,
		       const struct analyze_diff_workload_row *w)
{
	char percent[OUTPUT_NUMBER_MAX];

	output_number(percent, OUTPUT_PERCENT, w->delta_pct, diff->clock);
	if (w->change.verdict == ANALYZE_VERDICT_SAME)
		snprintf(buf, size, "the same within %g %% (%s ", diff->repetitions.margin_pct,
			 percent);
	else if (w->change.verdict == ANALYZE_VERDICT_UNCLEAR)
		snprintf(buf, size, "not surely slower or faster (%s ", percent);
	else
		snprintf(buf, size, "%s %s (",
			 percent[0] == '+' || percent[0] == '-' ? percent + 1 : percent,
			 w->delta < 0 ? "faster" : "slower");
}

/* ROW is the syscalls' headline. */
static char *own_text(const struct analyze_diff *diff, const struct analyze_diff_workload_row *w,
		      const struct analyze_diff_row *row, const char *runs)
{
	const char *unit = diff->clock == PROFILE_CLOCK_INSN ? " insn" : "";
	const char *syscalls = "no syscall surely changed";
	char delta[OUTPUT_NUMBER_MAX], how[OUTPUT_NUMBER_MAX + 64];
	char *name = output_text_escape(w->name), *text;

	own_change(how, sizeof(how), diff, w);
	output_number(delta, OUTPUT_DELTA, w->delta, diff->clock);
	if (is_sure_change(w->change.verdict))
		syscalls = "no syscall surely carries a tenth of that";
	else if (is_trifle(diff, row, w))
		syscalls = "no syscall surely changed by as much as 0.1 % of it";
	text = alloc_printf(
		"The workload %s is %s\u00b1%.2g; %s%s an iteration, unprobed); %s (%s).", name,
		how, w->change.plus_minus_pct, delta, unit, syscalls, runs);
	free(name);
	return text;
}

char *analyze_diff_conclusion(const struct analyze_diff *diff)
{
	const struct analyze_diff_row *row = headline(diff);
	const struct analyze_diff_workload_row *own = own_headline(diff, row);
	char *name, *change, *carrier, *runs = runs_text(diff), *text;

	if (!diff->syscalls.n_rows) {
		text = alloc_strdup("There is nothing to compare: no syscalls were recorded.");
	} else if (diff->time == ANALYZE_TIME_SELF && largest_self(diff)->delta_total != 0) {
		text = self_text(diff, runs);
	} else if (own) {
		text = own_text(diff, own, row, runs);
	} else if (row->delta_total == 0) {
		text = alloc_printf("No syscall differs (%s).", runs);
	} else {
		name = output_text_escape(row->name);
		change = change_text(diff, row, name);
		carrier = carrier_text(diff, row);
		text = alloc_printf("%s%s (%s).", change, carrier, runs);
		free(change);
		free(carrier);
		free(name);
	}
	free(runs);
	return text;
}
