// SPDX-License-Identifier: GPL-2.0-or-later
#include "view/words.h"

#include <math.h>

#include "base/alloc.h"
#include "base/plural.h"
#include "output/number.h"
#include "view/names.h"
#include "view/page/page.h"

#define NEARLY_ALL 0.9

/* "+2,496,034 instructions per call" */
static void append_delta(char **text, const struct analyze_conclusion *c, double delta,
			 const char *per)
{
	alloc_append(text, "%s%s per %s", output_number(OUTPUT_DELTA, delta, c->clock),
		     view_unit(c->clock, delta), per);
}

/* BEFORE, then "+3.5 % of the command's CPU time", then AFTER; nothing where that is unknown. */
static void append_of_command(char **text, const struct analyze_conclusion *c, const char *before,
			      const char *after)
{
	if (!isnan(c->cpu_pct))
		alloc_append(text, "%s%s of the command's CPU time%s", before,
			     output_number(OUTPUT_PERCENT, c->cpu_pct, c->clock), after);
}

static void append_plus_minus(char **text, const struct analyze_conclusion *c)
{
	if (!isnan(c->change.plus_minus_pct))
		alloc_append(text, "\u00b1%.2g %%, ", c->change.plus_minus_pct);
}

/* Whether "same" still is a change: it lies within the margin, and its interval excludes 0. */
static bool is_small_change(const struct analyze_conclusion *c)
{
	return c->change.verdict == ANALYZE_VERDICT_SAME && c->change.p < ANALYZE_SIGNIFICANT;
}

/* Whether nothing is shown to have changed, beyond what one kernel varies by. */
static bool is_noise(const struct analyze_conclusion *c)
{
	return c->change.verdict == ANALYZE_VERDICT_UNCLEAR &&
	       !(c->undecided && c->change.p < ANALYZE_SIGNIFICANT);
}

/*
 * "clone is 20.2 % slower (±0.05 %, +2,496,034 instructions per call)"; the caller has written "clone", PER is "call", and
 * REMARK goes with the figures.
 */
static void append_mean(char **text, const struct analyze_conclusion *c, const char *per,
			const char *remark)
{
	const char *clock = c->time == ANALYZE_TIME_WALL ? " by the wall clock" : "";
	const char *pct = output_number(OUTPUT_PERCENT, c->delta_pct, c->clock);
	bool sign = pct[0] == '+' || pct[0] == '-';

	if (c->change.verdict == ANALYZE_VERDICT_SAME && !is_small_change(c))
		alloc_append(text, " is the same to within %g %%%s (%s, ", c->margin_pct, clock,
			     pct);
	else if (is_noise(c))
		alloc_append(text, " shows no significant change%s (%s, ", clock, pct);
	else
		alloc_append(text, " %s %s %s%s (", c->undecided ? "appears" : "is", pct + sign,
			     c->delta < 0 ? "faster" : "slower", clock);
	view_append_context(text, c->what);
	append_plus_minus(text, c);
	append_delta(text, c, c->delta, per);
	append_of_command(text, c, ", ", "");
	if (c->change.verdict == ANALYZE_VERDICT_UNCLEAR && !isnan(c->change.boots_needed))
		alloc_append(text, "; about %.0f %s%s per side needed", c->change.boots_needed,
			     view_units[c->unit], plural(c->change.boots_needed, "", "s"));
	alloc_append(text, "%s)", remark);
	if (is_small_change(c))
		alloc_append(text, ", within the %g %% threshold for equivalence", c->margin_pct);
}

/* "(mm/slub.c:1978, estimated from samples)" */
static void append_place(char **text, const struct analyze_conclusion *c, const char *otherwise)
{
	alloc_append(text, " (");
	view_append_name(text, c->body.location ? c->body.location : otherwise);
	alloc_append(text, "%s)", c->body.estimated ? ", estimated from samples" : "");
}

/* Return the body's share of the change. An estimate from samples is all of it up to ANALYZE_WHOLE_SHARE. */
static double body_share(const struct analyze_conclusion *c)
{
	double share = c->body.share;

	return c->body.estimated && share <= ANALYZE_WHOLE_SHARE ? fmin(share, 1) : share;
}

static void append_body_of_function(char **text, const struct analyze_conclusion *c)
{
	if (!c->body.name)
		return;
	if (!view_is_more_than_all(body_share(c))) {
		alloc_append(text, ", %s of it in ",
			     c->body.share >= NEARLY_ALL ? "nearly all" : "most");
		view_append_name(text, c->body.name);
		append_place(text, c, "inlined");
		return;
	}
	alloc_append(text, ", where ");
	view_append_name(text, c->body.name);
	append_place(text, c, "inlined");
	alloc_append(text, " accounts for ");
	append_delta(text, c, c->body.delta_total, "run");
	alloc_append(text, ", partly offset by the rest of the function");
}

/* ". 97 % of the change is in ", or behind a clause about functions ", but 97 % of it is in "; REMARK is on the share. */
static void append_share(char **text, const struct analyze_conclusion *c, double share,
			 const char *remark)
{
	bool none = c->where == ANALYZE_WHERE_NONE;
	scoped_free char *whole = alloc_printf("%s%s", none ? "it" : "the change", remark);

	view_append_share(text, none ? ", but " : ". ", share, whole);
	alloc_append(text, " is in ");
}

/* The body that carries a change which no function does: ". 97 % of the change is in shuffle_freelist (mm/slub.c:1978)". */
static void append_body(char **text, const struct analyze_conclusion *c)
{
	append_share(text, c, body_share(c), "");
	view_append_name(text, c->body.name);
	append_place(text, c, c->body.function);
}

/* ", called via allocate_slab, shuffle_freelist and get_random_u32" */
static void append_way(char **text, const struct analyze_conclusion *c)
{
	size_t n = 0;

	while (n < ANALYZE_WAY && c->by_way[n])
		n++;
	alloc_append(text, "%s", n ? ", called via " : "");
	view_append_list(text, c->by_way, n);
}

/*
 * ". 97 % of the change (±14 %, from samples) is in extract_entropy, called via allocate_slab; record with
 * --func=extract_entropy to time it"
 */
static void append_sampled(char **text, const struct analyze_conclusion *c)
{
	scoped_free char *error =
		alloc_printf(" (\u00b1%.2g %%, from samples)", c->function_error * 100);
	double least = c->function_share - c->function_error;

	/* Within its error, more than all is all. */
	append_share(text, c, least > 1 ? c->function_share : fmin(c->function_share, 1), error);
	view_append_name(text, c->function);
	append_way(text, c);
	if (!c->to_time)
		return;
	alloc_append(text, "; record with --func=");
	view_append_name(text, c->to_time);
	alloc_append(text, " to time it");
}

/* Where a syscall's change comes from. */
static void append_where(char **text, const struct analyze_conclusion *c)
{
	if (c->where == ANALYZE_WHERE_NONE)
		alloc_append(text, ". Less than a tenth of the change is in any recorded function");
	switch (c->where) {
	case ANALYZE_WHERE_NOT_RECORDED:
	case ANALYZE_WHERE_NONE:
		if (c->body.name)
			append_body(text, c);
		else if (c->sampled)
			append_sampled(text, c);
		else if (c->where == ANALYZE_WHERE_NOT_RECORDED)
			alloc_append(text, ". Record with --func to see where");
		break;
	case ANALYZE_WHERE_FUNCTION:
		append_share(text, c, c->function_share, "");
		view_append_name(text, c->function);
		append_body_of_function(text, c);
		break;
	}
}

static void append_self(char **text, const struct analyze_conclusion *c)
{
	alloc_append(text, "The self time of ");
	view_append_name(text, c->what);
	if (c->context) {
		alloc_append(text, " in ");
		view_append_name(text, c->context);
	}
	alloc_append(text, ", excluding timed callees, changed most: ");
	append_delta(text, c, c->delta_total, "run");
	if (!c->context || isnan(c->share))
		return;
	if (c->share < 0)
		alloc_append(text, ", more than offset by the rest of ");
	else if (view_is_more_than_all(c->share))
		alloc_append(text, ", partly offset by the rest of ");
	else
		alloc_append(text, ", %.0f %% of the change of ", c->share * 100);
	view_append_name(text, c->context);
}

static void append_workload(char **text, const struct analyze_conclusion *c)
{
	static const char *const syscalls[] = {
		[ANALYZE_SYSCALLS_UNCHANGED] = "No syscall changed significantly",
		[ANALYZE_SYSCALLS_NEGLIGIBLE] =
			"No syscall changed significantly by 0.1 % of the workload's time or more",
		[ANALYZE_SYSCALLS_NOT_IT] =
			"No significantly changed syscall accounts for a tenth of that",
	};

	alloc_append(text, "The workload ");
	view_append_name(text, c->what);
	append_mean(text, c, "iteration", ", unprobed");
	alloc_append(text, ". %s", syscalls[c->syscalls]);
}

/* No headline, so nothing carries it. */
static void append_untold(char **text, const struct analyze_conclusion *c)
{
	alloc_append(text, "No significant change: the largest difference is in ");
	view_append_name(text, c->what);
	alloc_append(text, " (%s, ", output_number(OUTPUT_PERCENT, c->delta_pct, c->clock));
	append_delta(text, c, c->delta_total, "run");
	alloc_append(text, "), and ");
	view_append_sides(text, c->runs, view_units[ANALYZE_UNIT_RUN]);
	alloc_append(text, " cannot resolve changes below %.2g %%.", c->least_pct);
}

/* Of what no row of a syscall tells. */
static void append_outside(char **text, const struct analyze_conclusion *c)
{
	scoped_free char *whole =
		alloc_printf("the change in the command's CPU time (%s)",
			     output_number(OUTPUT_PERCENT, c->command_pct, c->clock));

	if (isnan(c->outside_share))
		return;
	view_append_share(text, " ", c->outside_share, whole);
	alloc_append(text, " is outside syscalls and page faults.");
}

static void append_runs(char **text, const struct analyze_conclusion *c)
{
	bool one = c->undecided == ANALYZE_REPETITIONS_ONE_RECORDING;

	if (c->undecided) {
		alloc_append(
			text,
			". %s: %s. Record both sides in turn, several times, and merge each side's files%s.",
			is_noise(c) ? "Smaller changes cannot be resolved" : "This is unclear",
			one ? "a side is a single recording" :
			      "each side's recordings were made in a row",
			one ? "" : ", or pass as many recordings of the baseline as --control");
		return;
	}
	alloc_append(text, ". Measured over ");
	view_append_sides(text, c->repeated ? c->repetitions : c->runs,
			  view_units[c->repeated ? c->unit : ANALYZE_UNIT_RUN]);
	if (!c->repeated && !(c->runs[0] > 1 && c->runs[1] > 1))
		alloc_append(text, "; variation between runs is unknown");
	alloc_append(text, ".");
}

char *view_conclusion(const struct analyze_conclusion *c)
{
	char *text = NULL;

	switch (c->kind) {
	case ANALYZE_CONCLUSION_EMPTY:
		return alloc_strdup("Nothing to compare: no syscalls were recorded.");
	case ANALYZE_CONCLUSION_EQUAL:
		alloc_append(&text, "No syscall changed");
		break;
	case ANALYZE_CONCLUSION_UNTOLD:
		append_untold(&text, c);
		append_outside(&text, c);
		return text;
	case ANALYZE_CONCLUSION_SELF:
		append_self(&text, c);
		break;
	case ANALYZE_CONCLUSION_WORKLOAD:
		append_workload(&text, c);
		break;
	case ANALYZE_CONCLUSION_MEAN:
		view_append_name(&text, c->what);
		append_mean(&text, c, "call", "");
		if (!is_noise(c))
			append_where(&text, c);
		break;
	case ANALYZE_CONCLUSION_CALLS:
		view_append_name(&text, c->what);
		alloc_append(&text, " is called %s %s per run instead of %s",
			     output_number(OUTPUT_COUNT, c->calls[1], c->clock),
			     plural(c->calls[1], "time", "times"),
			     output_number(OUTPUT_COUNT, c->calls[0], c->clock));
		append_of_command(&text, c, " (", ")");
		append_where(&text, c);
		break;
	case ANALYZE_CONCLUSION_ONE_SIDE:
		view_append_name(&text, c->what);
		alloc_append(&text, " is called on the %s side only (",
			     c->calls[0] > 0 ? "baseline" : "hardened");
		view_append_context(&text, c->what);
		append_delta(&text, c, c->delta_total, "run");
		append_of_command(&text, c, ", ", "");
		alloc_append(&text, ")");
		append_where(&text, c);
		break;
	}
	append_runs(&text, c);
	append_outside(&text, c);
	return text;
}
