/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How the files of columns describe a column. */
#ifndef KPROTPERF_CMD_COLUMNS_IMPL_H
#define KPROTPERF_CMD_COLUMNS_IMPL_H

#include "cmd/columns.h"

#define N(array) (sizeof(array) / sizeof((array)[0]))

#define COLUMN(type_of, field, header, type, rank)                          \
	{                                                                   \
#field, header, type, rank, offsetof(struct type_of, field) \
	}
#define FIGURE(field, header, type, rank) COLUMN(analyze_figures, field, header, type, rank)
/* Of the time that was asked for, which the header says. */
#define CHOSEN(field, header, rank)                                                              \
	{                                                                                        \
#field, header, OUTPUT_TIME, rank, offsetof(struct analyze_figures, field), true \
	}
/* The same, and perhaps an estimate. */
#define CHOSEN_ESTIMABLE(field, header, rank)                                                     \
	{                                                                                         \
#field, header, OUTPUT_TIME, rank, offsetof(struct analyze_figures, field), true, \
			true                                                                      \
	}
/* Of each time, whichever was asked for. */
#define TIME(key, array, time)                                                       \
	{                                                                            \
		key, "", OUTPUT_TIME, OUTPUT_DATA_ONLY,                              \
			offsetof(struct analyze_figures, array[ANALYZE_TIME_##time]) \
	}
#define ALL_TIMES                                                                 \
	TIME("oncpu_total", totals, ONCPU), TIME("oncpu_mean", means, ONCPU),     \
		TIME("wall_total", totals, WALL), TIME("wall_mean", means, WALL), \
		TIME("self_total", totals, SELF), TIME("self_mean", means, SELF)
/*
 * The figures of calls, in the order that readers of CSV go by, each with the rank that it has in a
 * table. TOTAL_AS is CHOSEN, or CHOSEN_ESTIMABLE where the total may be an estimate.
 */
#define CALL_FIGURES(TOTAL_AS, r_calls, r_total, r_mean, r_p50, r_p90, r_p99, r_min, r_max)     \
	FIGURE(calls, "CALLS", OUTPUT_COUNT, r_calls), TOTAL_AS(total, "TOTAL", r_total),       \
		CHOSEN(mean, "MEAN", r_mean), FIGURE(p50, "P50", OUTPUT_TIME, r_p50),           \
		FIGURE(p90, "P90", OUTPUT_TIME, r_p90), FIGURE(p99, "P99", OUTPUT_TIME, r_p99), \
		FIGURE(p999, "P99.9", OUTPUT_TIME, OUTPUT_DATA_ONLY),                           \
		FIGURE(min, "MIN", OUTPUT_TIME, r_min), FIGURE(max, "MAX", OUTPUT_TIME, r_max), \
		ALL_TIMES
/* The same, of which tables show no more than CALLS, TOTAL and MEAN. */
#define CALL_FIGURES_SHORT(TOTAL_AS, r_calls, r_total, r_mean)                               \
	CALL_FIGURES(TOTAL_AS, r_calls, r_total, r_mean, OUTPUT_DATA_ONLY, OUTPUT_DATA_ONLY, \
		     OUTPUT_DATA_ONLY, OUTPUT_DATA_ONLY, OUTPUT_DATA_ONLY)
/* Of one side of a range; an estimate has it from its samples. */
#define SIDE(field, key, header, type, rank)                                         \
	{                                                                            \
		key, header, type, rank, offsetof(struct analyze_range_side, field), \
	}
/* Text of a field whose name is its key, cut where the table is too wide. */
#define ELASTIC(type_of, field, header, rank)                                                     \
	{                                                                                         \
#field, header, OUTPUT_TEXT, rank, offsetof(struct type_of, field), false, false, \
			true                                                                      \
	}
#define WORKLOAD(field, header, type, rank) \
	COLUMN(analyze_workload_figures, field, header, type, rank)

#define GROUP(key, offset, columns)              \
	{                                        \
		key, offset, columns, N(columns) \
	}
#define SECTION(groups, rows, n_rows, clock)                            \
	{                                                               \
		groups, N(groups), rows, n_rows, sizeof(*(rows)), clock \
	}

/* What stands before an estimate of SIDE; NULL where it was timed, or is not there. */
const char *columns_range_mark(const struct analyze_range_side *side);

#endif
