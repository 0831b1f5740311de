/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The syscalls and functions of two profiles, side by side. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/figures/table.h"
#include "analyze/stats/change.h"
#include "base/alloc.h"

/* Reasons why a figure of a row is not known, and remarks for its reader. */
enum analyze_note {
	ANALYZE_NOTE_NONE,
	/* Functions that were not timed on that side: not there or not recorded; inlined there. */
	ANALYZE_NOTE_NOT_TIMED_BASELINE,
	ANALYZE_NOTE_NOT_TIMED_HARDENED,
	ANALYZE_NOTE_INLINED_BASELINE,
	ANALYZE_NOTE_INLINED_HARDENED,
	/* The side's figures are those of inlined bodies. */
	ANALYZE_NOTE_BODIES_BASELINE,
	ANALYZE_NOTE_BODIES_HARDENED,
	/* Called on that side only. */
	ANALYZE_NOTE_CALLED_BASELINE,
	ANALYZE_NOTE_CALLED_HARDENED,
	ANALYZE_NOTE_FEW, /* repetitions have calls */
	ANALYZE_NOTE_NEAR_ZERO, /* so that there are no percentages */
	ANALYZE_NOTE_NO_NUMBER, /* of boots would settle it */
};

/*
 * One syscall, or one function in one context. Counts and totals of both sides are per run, means over
 * its probed runs. A side that has no such row is analyze_figures_none.
 */
struct analyze_diff_row {
	enum analyze_call_kind kind;
	const char *name;
	const char *context; /* as in struct analyze_row */
	bool redundant;
	struct analyze_figures sides[2]; /* of baseline and hardened side */
	double delta; /* of the mean per call, in ticks; NAN unless both are known */
	double delta_pct; /* the same in percent of the baseline's mean */
	/*
	 * Of the total per run. A side without calls counts as 0 where it was looked at: a syscall
	 * always is, a function if the side's recording had it at all. NAN where it was not.
	 */
	double delta_total;
	/*
	 * Functions: delta_total as a fraction of that of its syscall, for ANALYZE_ALL_CONTEXTS of
	 * that of all syscalls. Negative or above 1 where others make up for it. NAN where either
	 * is NAN or the divisor is 0. Self times are compared with the syscall's on-CPU time, of
	 * which they are parts that do not overlap.
	 */
	double share;
	double delta_p50, delta_p90, delta_p99, delta_p999; /* of the percentiles of a call */
	struct analyze_change change; /* how sure the delta is */
	enum analyze_note note;
	enum analyze_note alone; /* why there is no other side; NONE: there is one */
	enum analyze_note inlined; /* that one side's figures are of inlined bodies */
	const struct analyze_sample *samples[2]; /* the tables' */
};

struct analyze_diff_rows {
	vec_of(struct analyze_diff_row, rows); /* by falling |delta_total| */
};

/* The rows of A and B, which are of TABLES, side by side: in OUT, by name and context. */
void analyze_diff_rows_match(struct analyze_diff_rows *out, const struct analyze_table tables[2],
			     const struct analyze_rows *a, const struct analyze_rows *b);

/* Set the differences of ROW, whose sides are set. */
void analyze_diff_row_pair(struct analyze_diff_row *row);

/* Changes of totals, and functions' shares of these. The lists are in the order of their names. */
void analyze_diff_totals(struct analyze_diff_rows *syscalls, struct analyze_diff_rows *functions,
			 enum analyze_time time);

/* The row of NAME and CONTEXT, or NULL. ROWS are in the order of their names. */
const struct analyze_diff_row *analyze_diff_rows_find(const struct analyze_diff_rows *rows,
						      const char *name, const char *context);

/* By name, then context: for sort_array(). */
int analyze_diff_row_compare(const void *a, const void *b);

void analyze_diff_rows_sort_by_change(struct analyze_diff_rows *rows);
