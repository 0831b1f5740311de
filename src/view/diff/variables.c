// SPDX-License-Identifier: GPL-2.0-or-later
/* Whether functions take longer because their calls have other values, and of which variable. */
#include "analyze/varies/shift.h"

#include <math.h>
#include <string.h>

#include "output/number.h"
#include "view/columns.h"
#include "view/diff.h"
#include "view/names.h"

static const struct output_column of[] = {
	COLUMN("function", TEXT, varies_shift, function, .header = "CAPTURED OF"),
	COLUMN("variable", TEXT, varies_shift, variable, .header = "VARIABLE", .elastic = true),
};

static const struct output_column side[] = {
	COLUMN("calls", COUNT, varies_side, calls, .header = "CALLS", .rank = 3),
	COLUMN("value", FRACTION, varies_side, value, .header = "VALUE", .rank = 2),
	COLUMN("mean", TIME, varies_side, mean, .header = "CPU MEAN", .rank = 1),
};

static const struct output_column change[] = {
	COLUMN("delta", DELTA, varies_shift, delta, .header = "DELTA"),
	COLUMN("by_values", DELTA, varies_shift, by_values, .header = "BY VALUES"),
	COLUMN("by_cost", DELTA, varies_shift, by_cost, .header = "AT EQUAL"),
};

static const struct output_group groups[] = {
	{ COLUMNS(of) },
	{ .key = "baseline", AT(varies_shift, sides[0]), COLUMNS(side) },
	{ .key = "hardened", AT(varies_shift, sides[1]), COLUMNS(side) },
	{ COLUMNS(change) },
};

const struct view_table diff_variables = {
	.name = "variables",
	.first = 4,
	.title =
		"Captured calls: change of a call by other values, and at equal ones; by all variables, and by each alone",
	.legend = "VALUE is the mean of the variable on each side",
	GROUPS(groups),
	VIEW_LIST(view_diff, shifts.rows, shifts.n_rows),
};

/* The row of all of FUNCTION's variables, by which stand those of each; of no FUNCTION the first. */
static const struct varies_shift *all_of(const struct varies_shifts *s, const char *function)
{
	for (uint32_t i = 0; i < s->n_rows; i++)
		if (!function || !strcmp(s->rows[i].function, function))
			return &s->rows[i];
	return NULL;
}

static void append_ticks(char **text, double ticks, enum profile_clock clock, const char *after)
{
	char number[OUTPUT_NUMBER_MAX];

	alloc_append(text, "%s%s", output_number(number, OUTPUT_DELTA, ticks, clock), after);
}

/* "+5,940 by other values, of crng_init above all (0 instead of 2)"; MOST: the row of the variable that carries most; NULL: none. */
static void append_by_values(char **text, double by_values, const struct varies_shift *most,
			     enum profile_clock clock)
{
	append_ticks(text, by_values, clock, " by other values");
	if (!most || fabs(most->by_values) < fabs(by_values) / 2)
		return;
	alloc_append(text, ", of ");
	view_append_name(text, most->variable);
	alloc_append(text, " above all");
	if (!isnan(most->sides[0].value) && !isnan(most->sides[1].value))
		alloc_append(text, " (%.3g instead of %.3g on average)", most->sides[1].value,
			     most->sides[0].value);
}

const struct varies_shift *view_values_most(const struct varies_shifts *s, const char *function)
{
	const struct varies_shift *all = all_of(s, function), *end = s->rows + s->n_rows;

	return all && all + 1 < end && all[1].variable ? all + 1 : NULL;
}

char *view_values_change(const struct varies_shifts *s, const char *function,
			 enum profile_clock clock)
{
	const struct varies_shift *all = all_of(s, function), *most = view_values_most(s, function);
	char *text = NULL;

	if (!all)
		return NULL;
	view_append_name(&text, all->function);
	alloc_append(&text, " takes ");
	append_ticks(&text, all->delta, clock, clock == PROFILE_CLOCK_INSN ? " instructions" : "");
	alloc_append(&text, " per call: ");
	if (fabs(all->by_values) >= fabs(all->by_cost)) {
		append_by_values(&text, all->by_values, most, clock);
		alloc_append(&text, ", and ");
		append_ticks(&text, all->by_cost, clock, " at equal values.");
	} else {
		append_ticks(&text, all->by_cost, clock, " at equal values, and ");
		append_by_values(&text, all->by_values, most, clock);
		alloc_append(&text, ".");
	}
	return text;
}
