// SPDX-License-Identifier: GPL-2.0-or-later
/* The table that compares the misses in the caches and TLBs of the cache model. */
#include "view/misses.h"

#include "view/diff.h"

static const struct output_column sure[] = {
	COLUMN("plus_minus", COUNT, analyze_misses_row, plus_minus, .header = "+-DATA",
	       .rank = OUTPUT_IF_ANY),
};

static const struct output_group groups[] = {
	{ COLUMNS(view_misses_place) },
	{ .key = "delta", AT(analyze_misses_row, delta), COLUMNS(view_misses_delta) },
	{ COLUMNS(sure) },
	{ .key = "baseline", AT(analyze_misses_row, sides[0]), COLUMNS(view_misses_data) },
	{ .key = "hardened", AT(analyze_misses_row, sides[1]), COLUMNS(view_misses_data) },
};

static const struct output_group object_groups[] = {
	{ COLUMNS(view_objects_place) },
	{ .key = "delta", AT(analyze_misses_row, delta), COLUMNS(view_objects_delta) },
	{ COLUMNS(sure) },
	{ .key = "baseline", AT(analyze_misses_row, sides[0]), COLUMNS(view_objects_data) },
	{ .key = "hardened", AT(analyze_misses_row, sides[1]), COLUMNS(view_objects_data) },
};

static char *title(const void *data)
{
	return alloc_printf(
		"Misses in model %s, hardened minus baseline, per run, by estimated cycles of data "
		"misses",
		((const struct view_diff *)data)->misses.model);
}

const struct view_table diff_misses = {
	.name = "misses",
	.first = 5,
	.title_of = title,
	.legend = VIEW_MISSES_LEGEND,
	GROUPS(groups),
	VIEW_LIST(view_diff, misses.rows, misses.n_rows),
};

static char *object_title(const void *data)
{
	return alloc_printf("Data misses in model %s, hardened minus baseline, per run, by object",
			    ((const struct view_diff *)data)->misses.model);
}

const struct view_table diff_miss_objects = {
	.name = "miss_objects",
	.title_of = object_title,
	.legend = VIEW_OBJECTS_LEGEND,
	GROUPS(object_groups),
	VIEW_LIST(view_diff, miss_objects.rows, miss_objects.n_rows),
};
