// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of changes that different captured values cause in the time per call. It has a row per function and per variable. */
#include "analyze/varies/varies.h"

#include "view/page/columns.h"
#include "view/diff.h"

static const struct output_column of[] = {
	COLUMN("function", TEXT, varies_shift, function, .header = "FUNCTION"),
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
	.title = "Captured calls: change per call due to different values, and at equal values; "
		 "for all variables together and for each alone",
	.legend = "VALUE is the variable's mean on each side",
	GROUPS(groups),
	VIEW_LIST(view_diff, shifts.rows, shifts.n_rows),
};
