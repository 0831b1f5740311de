// SPDX-License-Identifier: GPL-2.0-or-later
#include "view/words.h"

#include <math.h>

#include "base/alloc.h"
#include "output/number.h"
#include "view/names.h"

#define NEARLY_ALL 0.9

static const char *insn_unit(const struct analyze_conclusion *c)
{
	return c->clock == PROFILE_CLOCK_INSN ? " instructions" : "";
}

static void append_number(char **text, enum output_type type, double value,
			  const struct analyze_conclusion *c)
{
	char number[OUTPUT_NUMBER_MAX];

	alloc_append(text, "%s", output_number(number, type, value, c->clock));
}

/* "+2,496,034 instructions per call" */
static void append_delta(char **text, const struct analyze_conclusion *c, double delta,
			 const char *per)
{
	append_number(text, OUTPUT_DELTA, delta, c);
	alloc_append(text, "%s per %s", insn_unit(c), per);
}

/* BEFORE "+3.5 % of the command's CPU time" AFTER, where that is known. */
static void append_of_command(char **text, const struct analyze_conclusion *c, const char *before,
			      const char *after)
{
	if (isnan(c->cpu_pct))
		return;
	alloc_append(text, "%s", before);
	append_number(text, OUTPUT_PERCENT, c->cpu_pct, c);
	alloc_append(text, " of the command's CPU time%s", after);
}

static void append_plus_minus(char **text, const struct analyze_conclusion *c)
{
	if (!isnan(c->change.plus_minus_pct))
		alloc_append(text, "\u00b1%.2g %%, ", c->change.plus_minus_pct);
}

/* "clone is 20.2 % slower (±0.05 %, +2,496,034 instructions per call"; WHAT begins it, PER is "call". */
static void append_mean(char **text, const struct analyze_conclusion *c, const char *per)
{
	const char *clock = c->time == ANALYZE_TIME_WALL ? " by the wall clock" : "";
	char pct[OUTPUT_NUMBER_MAX];
	bool sign;

	output_number(pct, OUTPUT_PERCENT, c->delta_pct, c->clock);
	sign = pct[0] == '+' || pct[0] == '-';
	if (c->change.verdict == ANALYZE_VERDICT_SAME)
		alloc_append(text, " is the same within %g %%%s (%s, ", c->margin_pct, clock, pct);
	else if (c->change.verdict == ANALYZE_VERDICT_UNCLEAR && !c->one_recording)
		alloc_append(text, " shows no significant change%s (%s, ", clock, pct);
	else
		alloc_append(text, " %s %s %s%s (", c->one_recording ? "reads" : "is", pct + sign,
			     c->delta < 0 ? "faster" : "slower", clock);
	view_append_queued(text, c->what);
	append_plus_minus(text, c);
	append_delta(text, c, c->delta, per);
	append_of_command(text, c, ", ", "");
	if (c->change.verdict == ANALYZE_VERDICT_UNCLEAR && !isnan(c->change.boots_needed))
		alloc_append(text, "; about %.0f %ss per side needed", c->change.boots_needed,
			     view_units[c->unit]);
}

/* "(mm/slub.c:1978, estimated from samples)" */
static void append_place(char **text, const struct analyze_conclusion *c, const char *otherwise)
{
	alloc_append(text, " (");
	view_append_name(text, c->body.location ? c->body.location : otherwise);
	alloc_append(text, "%s)", c->body.estimated ? ", estimated from samples" : "");
}

static void append_body_of_function(char **text, const struct analyze_conclusion *c)
{
	if (!c->body.name)
		return;
	if (c->body.share <= ANALYZE_WHOLE_SHARE) {
		alloc_append(text, ", %s of that in ",
			     c->body.share >= NEARLY_ALL ? "nearly all" : "most");
		view_append_name(text, c->body.name);
		append_place(text, c, "inlined");
		return;
	}
	alloc_append(text, ", where ");
	view_append_name(text, c->body.name);
	append_place(text, c, "inlined");
	alloc_append(text, " makes ");
	append_delta(text, c, c->body.delta_total, "run");
	alloc_append(text, " and the rest less");
}

/* The body that carries a change which no function does: ", 97 % of it in shuffle_freelist (mm/slub.c:1978)". */
static void append_body(char **text, const struct analyze_conclusion *c)
{
	bool is_contrast = c->where == ANALYZE_WHERE_NONE;

	alloc_append(text, ", %s%.0f %% %sin ", is_contrast ? "but " : "", c->body.share * 100,
		     is_contrast ? "" : "of it ");
	view_append_name(text, c->body.name);
	append_place(text, c, c->body.function);
}

/* " by way of allocate_slab, shuffle_freelist and get_random_u32" */
static void append_way(char **text, const struct analyze_conclusion *c)
{
	for (int i = 0; i < ANALYZE_WAY && c->by_way[i]; i++) {
		bool is_last = i + 1 == ANALYZE_WAY || !c->by_way[i + 1];

		alloc_append(text, "%s", !i ? " by way of " : is_last ? " and " : ", ");
		view_append_name(text, c->by_way[i]);
	}
}

/* ", 97 % of it (±14 %, by samples) in extract_entropy by way of allocate_slab; record with --func=extract_entropy to time it" */
static void append_sampled(char **text, const struct analyze_conclusion *c)
{
	alloc_append(text, ", %s%.0f %% of it (\u00b1%.2g %%, by samples) in ",
		     c->where == ANALYZE_WHERE_NONE ? "but " : "", c->function_share * 100,
		     c->function_error * 100);
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
		alloc_append(text, ", less than a tenth of it in any recorded function");
	switch (c->where) {
	case ANALYZE_WHERE_NOT_RECORDED:
	case ANALYZE_WHERE_NONE:
		if (c->body.name)
			append_body(text, c);
		else if (c->sampled)
			append_sampled(text, c);
		else if (c->where == ANALYZE_WHERE_NOT_RECORDED)
			alloc_append(text, "; record with --func to see where");
		break;
	case ANALYZE_WHERE_FUNCTION:
		alloc_append(text, ", %.0f %% of it in ", c->function_share * 100);
		view_append_name(text, c->function);
		append_body_of_function(text, c);
		break;
	}
}

static void append_self(char **text, const struct analyze_conclusion *c)
{
	view_append_name(text, c->what);
	alloc_append(text, c->context ? " itself, in " :
					" itself, excluding timed callees, changed most: ");
	if (c->context) {
		view_append_name(text, c->context);
		alloc_append(text, ", changed most: ");
	}
	append_delta(text, c, c->delta_total, "run");
	if (!c->context)
		return;
	alloc_append(text, ", ");
	append_number(text, OUTPUT_FRACTION, c->share, c);
	alloc_append(text, " of the change of ");
	view_append_name(text, c->context);
}

static void append_workload(char **text, const struct analyze_conclusion *c)
{
	static const char *const syscalls[] = {
		[ANALYZE_SYSCALLS_UNCHANGED] = "no syscall changed significantly",
		[ANALYZE_SYSCALLS_NEGLIGIBLE] =
			"no syscall changed significantly by 0.1 % of it or more",
		[ANALYZE_SYSCALLS_NOT_IT] = "no syscall carries a tenth of that significantly",
	};

	alloc_append(text, "The workload ");
	view_append_name(text, c->what);
	append_mean(text, c, "iteration");
	alloc_append(text, ", unprobed); %s", syscalls[c->syscalls]);
}

/* No headline, so nothing carries it. */
static void append_untold(char **text, const struct analyze_conclusion *c)
{
	alloc_append(text, "No significant change seen: ");
	view_append_name(text, c->what);
	alloc_append(text, " changed most (");
	append_number(text, OUTPUT_PERCENT, c->delta_pct, c);
	alloc_append(text, ", ");
	append_delta(text, c, c->delta_total, "run");
	if (c->runs[0] == 1 && c->runs[1] == 1)
		alloc_append(text, "), and one run per side");
	else
		alloc_append(text, "), and %u and %u runs", c->runs[0], c->runs[1]);
	alloc_append(text, " cannot tell less than %.2g %%.", c->least_pct);
}

/* Of what no row of a syscall tells. */
static void append_outside(char **text, const struct analyze_conclusion *c)
{
	if (isnan(c->outside_share))
		return;
	alloc_append(text, " Of the change of the command's CPU time, ");
	append_number(text, OUTPUT_PERCENT, c->command_pct, c);
	alloc_append(text, ", %.0f %% are outside syscalls and page faults.",
		     c->outside_share * 100);
}

static void append_runs(char **text, const struct analyze_conclusion *c)
{
	static const char unknown[] = "variation between runs unknown";
	uint32_t a = c->runs[0], b = c->runs[1];

	if (c->one_recording)
		alloc_append(
			text,
			"; unclear from one recording per side: merge several of each, made at "
			"different times, or give another one of the baseline as --control.");
	else if (c->repeated)
		alloc_append(text, "; %u and %u %ss.", c->repetitions[0], c->repetitions[1],
			     view_units[c->unit]);
	else if (a > 1 && b > 1)
		alloc_append(text, "; %u and %u runs.", a, b);
	else if (a == 1 && b == 1)
		alloc_append(text, "; one run per side: %s.", unknown);
	else
		alloc_append(text, "; %u and %u runs: %s.", a, b, unknown);
}

char *view_conclusion(const struct analyze_conclusion *c)
{
	char *text = NULL;

	switch (c->kind) {
	case ANALYZE_CONCLUSION_EMPTY:
		return alloc_strdup("There is nothing to compare: no syscalls were recorded.");
	case ANALYZE_CONCLUSION_EQUAL:
		alloc_append(&text, "No syscall differs");
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
		append_mean(&text, c, "call");
		alloc_append(&text, ")");
		append_where(&text, c);
		break;
	case ANALYZE_CONCLUSION_CALLS:
		view_append_name(&text, c->what);
		alloc_append(&text, " is called ");
		append_number(&text, OUTPUT_COUNT, c->calls[1], c);
		alloc_append(&text, " times per run instead of ");
		append_number(&text, OUTPUT_COUNT, c->calls[0], c);
		append_of_command(&text, c, " (", ")");
		append_where(&text, c);
		break;
	case ANALYZE_CONCLUSION_ONE_SIDE:
		view_append_name(&text, c->what);
		alloc_append(&text, " is called on the %s side only (",
			     c->calls[0] > 0 ? "baseline" : "hardened");
		view_append_queued(&text, c->what);
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
