// SPDX-License-Identifier: GPL-2.0-or-later
/* Misses in the cache model's caches and TLBs, by function and by source line. */
#include "view/misses.h"
#include "view/report.h"

static const struct output_column line[] = {
	COLUMN("name", TEXT, analyze_misses_row, function, .header = "FUNCTION (SELF)"),
	COLUMN("file", TEXT, analyze_misses_row, file, .header = "FILE", .elastic = true,
	       .cut_front = true),
	COLUMN("line", COUNT, analyze_misses_row, line, .header = "LINE"),
};

static const struct output_group groups[] = {
	{ COLUMNS(view_misses_place) },
	{ AT(analyze_misses_row, sides[0]), COLUMNS(view_misses) },
};

static const struct output_group line_groups[] = {
	{ COLUMNS(line) },
	{ AT(analyze_misses_row, sides[0]), COLUMNS(view_misses) },
};

static const struct output_group object_groups[] = {
	{ COLUMNS(view_objects_place) },
	{ AT(analyze_misses_row, sides[0]), COLUMNS(view_objects) },
};

static char *title(const void *data)
{
	return alloc_printf("Misses in model %s, per run, by estimated cycles",
			    ((const struct view_report *)data)->misses.model);
}

static char *line_title(const void *data)
{
	return alloc_printf("Misses in model %s, per run, by line",
			    ((const struct view_report *)data)->misses.model);
}

const struct view_table report_misses = {
	.name = "misses",
	.first = 5,
	.title_of = title,
	.legend = VIEW_MISSES_LEGEND,
	GROUPS(groups),
	VIEW_LIST(view_report, misses.rows, misses.n_rows),
};

const struct view_table report_miss_lines = {
	.name = "miss_lines",
	.title_of = line_title,
	.legend = VIEW_MISSES_LEGEND,
	GROUPS(line_groups),
	VIEW_LIST(view_report, miss_lines.rows, miss_lines.n_rows),
};

static char *object_title(const void *data)
{
	return alloc_printf("Data misses in model %s, per run, by object",
			    ((const struct view_report *)data)->misses.model);
}

const struct view_table report_miss_objects = {
	.name = "miss_objects",
	.title_of = object_title,
	.legend = VIEW_OBJECTS_LEGEND,
	GROUPS(object_groups),
	VIEW_LIST(view_report, miss_objects.rows, miss_objects.n_rows),
};
