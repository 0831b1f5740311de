/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Macros that describe a table's columns, and columns that several tables have. */
#pragma once

#include "analyze/inline/ranges.h"
#include "base/alloc.h"
#include "output/section.h"
#include "view/page/table.h"

/*
 * A column with the member FIELD of struct OF. KEY_ is the column's key in JSON and CSV (NULL: in neither), TYPE_ its type without
 * OUTPUT_. Further arguments are members of struct output_column. Tables on pages omit a column without .header.
 */
#define COLUMN(key_, type_, of, field, ...)                                                \
	{                                                                                  \
		.key = key_, .type = OUTPUT_##type_, .offset = offsetof(struct of, field), \
		##__VA_ARGS__                                                              \
	}

/* Initialize the columns of a group or table, or the groups of a table, with ARRAY. */
#define COLUMNS(array) .columns = array, .n_columns = ARRAY_SIZE(array)
#define GROUPS(array)  .groups = array, .n_groups = ARRAY_SIZE(array)
/* Make the columns of a group read fields of PATH, an object inside a row of the type struct TYPE. */
#define AT(type, path) .offset = offsetof(struct type, path)
/* Make ARRAY the columns of a table's only group. The columns read fields of the row itself. */
#define ONE_GROUP(array) .groups = &(const struct output_group){ COLUMNS(array) }, .n_groups = 1

/* Percentiles, minimum and maximum of a struct analyze_figures: columns of JSON and CSV only. */
extern const struct output_column view_distribution[6];
#define VIEW_DISTRIBUTION .columns = view_distribution, .n_columns = 6

/* Means and totals of on-CPU, wall and self time of a struct analyze_figures: columns of JSON and CSV only. */
extern const struct output_column view_all_times[6];
#define VIEW_ALL_TIMES .columns = view_all_times, .n_columns = 6

/*
 * Initialize three groups of columns for the struct analyze_figures at PATH in a row of struct OF: HEAD, VIEW_DISTRIBUTION and
 * VIEW_ALL_TIMES. Further arguments, such as .key = "baseline", are members of each group.
 */
#define VIEW_FIGURES(of, path, head, ...)                           \
	{ AT(of, path), COLUMNS(head), ##__VA_ARGS__ },             \
		{ AT(of, path), VIEW_DISTRIBUTION, ##__VA_ARGS__ }, \
	{                                                           \
		AT(of, path), VIEW_ALL_TIMES, ##__VA_ARGS__         \
	}
