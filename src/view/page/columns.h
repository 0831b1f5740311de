/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The description of a table's columns, and columns that several tables have. */
#pragma once

#include "analyze/inline/ranges.h"
#include "base/alloc.h"
#include "output/section.h"
#include "view/page/table.h"

/*
 * A column that reads FIELD of struct OF: its key in data (NULL: none), its type without OUTPUT_, then designated initializers.
 * A column without .header is in no table.
 */
#define COLUMN(key_, type_, of, field, ...)                                                \
	{                                                                                  \
		.key = key_, .type = OUTPUT_##type_, .offset = offsetof(struct of, field), \
		##__VA_ARGS__                                                              \
	}

/* Set a group's or table's columns, or a table's groups, to ARRAY. */
#define COLUMNS(array) .columns = array, .n_columns = ARRAY_SIZE(array)
#define GROUPS(array)  .groups = array, .n_groups = ARRAY_SIZE(array)
/* Let a group's columns read the object PATH in a row of TYPE. */
#define AT(type, path) .offset = offsetof(struct type, path)
/* Make ARRAY, whose columns read the row itself, the only group. */
#define ONE_GROUP(array) .groups = &(const struct output_group){ COLUMNS(array) }, .n_groups = 1

/* Columns of struct analyze_figures, in data only: percentiles, min and max. */
extern const struct output_column view_distribution[6];
#define VIEW_DISTRIBUTION .columns = view_distribution, .n_columns = 6

/* Columns of struct analyze_figures, in data only: on-CPU, wall and self time, not only the requested one. */
extern const struct output_column view_all_times[6];
#define VIEW_ALL_TIMES .columns = view_all_times, .n_columns = 6

/*
 * The groups of a struct analyze_figures at PATH of a row of OF: the columns of HEAD, VIEW_DISTRIBUTION and VIEW_ALL_TIMES. Further
 * arguments are set in each group: .key = "baseline".
 */
#define VIEW_FIGURES(of, path, head, ...)                           \
	{ AT(of, path), COLUMNS(head), ##__VA_ARGS__ },             \
		{ AT(of, path), VIEW_DISTRIBUTION, ##__VA_ARGS__ }, \
	{                                                           \
		AT(of, path), VIEW_ALL_TIMES, ##__VA_ARGS__         \
	}

/* Return the mark before an estimate of SIDE; NULL: SIDE was timed, or does not exist. */
const char *view_range_mark(const struct analyze_range_side *side);
