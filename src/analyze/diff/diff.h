/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compare the same work on two kernels: the baseline (index 0) and the hardened kernel (index 1). */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/figures/environment.h"
#include "analyze/figures/table.h"
#include "analyze/figures/warnings.h"
#include "analyze/figures/workload.h"
#include "analyze/inline/ranges.h"
#include "analyze/inline/stacks.h"
#include "analyze/stats/change.h"
#include "base/alloc.h"
#include "base/sorted.h"
#include "profile/profile.h"

/* ---- compare system calls and functions ---- */

/* Reasons why a row lacks figures, and remarks on a row. */
enum analyze_note {
	ANALYZE_NOTE_NONE,
	/* The kernel at the end of the name lacks the function, did not record it (NOT_TIMED), or inlines it (INLINED). */
	ANALYZE_NOTE_NOT_TIMED_BASELINE,
	ANALYZE_NOTE_NOT_TIMED_HARDENED,
	ANALYZE_NOTE_INLINED_BASELINE,
	ANALYZE_NOTE_INLINED_HARDENED,
	/* The kernel at the end of the name inlines the function. The figures are sums over the inlined copies. */
	ANALYZE_NOTE_BODIES_BASELINE,
	ANALYZE_NOTE_BODIES_HARDENED,
	/* Only the kernel at the end of the name calls the function. */
	ANALYZE_NOTE_CALLED_BASELINE,
	ANALYZE_NOTE_CALLED_HARDENED,
	ANALYZE_NOTE_FEW, /* too few runs or boots have calls for a certain result */
	ANALYZE_NOTE_NEAR_ZERO, /* the baseline's mean may be zero, so percentages are unknown */
	ANALYZE_NOTE_NO_NUMBER, /* no number of boots can make the result certain */
};

/*
 * One system call, or one function in one context (a system call or an interrupt). Counts and totals are means over a kernel's
 * probed runs. SIDES[i] is analyze_figures_none if the kernel has no such row.
 */
struct analyze_diff_row {
	enum analyze_call_kind kind;
	const char *name;
	const char *context; /* NULL for a system call; may be ANALYZE_ALL_CONTEXTS */
	bool redundant;
	struct analyze_figures sides[2]; /* baseline, hardened */
	double delta; /* change of the mean time per call in ticks, or NAN */
	double delta_pct; /* DELTA in percent of the baseline's mean */
	/*
	 * Change of the total time per run, in ticks. A kernel that does not make the call has a total of 0. If the kernel's
	 * recording does not have the function at all, the change is NAN.
	 */
	double delta_total;
	/*
	 * For functions: DELTA_TOTAL as a fraction of the change of the whole context, or of all contexts together. SHARE is
	 * negative or above 1 if other functions change in the opposite direction. NAN: a change is unknown, or the context does
	 * not change. Self times add up to on-CPU time, so a change of self time is divided by the change of on-CPU time.
	 */
	double share;
	double delta_p50, delta_p90, delta_p99, delta_p999; /* changes of percentiles, in ticks */
	struct analyze_change change; /* certainty of DELTA */
	enum analyze_note note;
	/* For functions: the reason why only one kernel has figures in any context. NONE if both or neither have figures. */
	enum analyze_note no_partner;
	enum analyze_note inlined; /* ANALYZE_NOTE_BODIES_*: kernel with inlined copies; or NONE */
};

struct analyze_diff_rows {
	vec_of(struct analyze_diff_row, rows); /* largest |delta_total| first */
};

/* Pair the rows A of TABLES[0] and B of TABLES[1] by name and context. Add the pairs to OUT. */
void analyze_diff_rows_match(struct analyze_diff_rows *out, const struct analyze_table tables[2],
			     const struct analyze_rows *a, const struct analyze_rows *b);

/* Set the differences between the kernels' figures in ROW. COMPARABLE: both have repetitions of the same analyze_unit. */
void analyze_diff_row_pair(struct analyze_diff_row *row, bool comparable);

/* Set DELTA_TOTAL of all rows for this kind of TIME, and SHARE of all functions. Both lists are sorted by name. */
void analyze_diff_totals(struct analyze_diff_rows *syscalls, struct analyze_diff_rows *functions,
			 enum analyze_time time);

/* Return the row with this NAME and CONTEXT, or NULL. ROWS must be sorted by name. */
const struct analyze_diff_row *analyze_diff_rows_find(const struct analyze_diff_rows *rows,
						      const char *name, const char *context);

/* Comparator for sort_array(): by name, then context. */
int analyze_diff_row_compare(const void *a, const void *b);

void analyze_diff_rows_sort_by_change(struct analyze_diff_rows *rows);

struct analyze_diff_workload_row {
	const char *name; /* from the profile */
	bool probed; /* the figures come from runs with probes */
	enum analyze_how how;
	size_t order;
	struct analyze_workload_figures sides[2];
	double delta, delta_pct; /* change of the mean, also in percent */
	struct analyze_change change;
};

/* Reasons why the results of a comparison are uncertain, or certain only with a restriction. */
enum analyze_repetitions_note {
	ANALYZE_REPETITIONS_ENOUGH,
	ANALYZE_REPETITIONS_TOO_FEW, /* too few runs to know the certainty of differences */
	/* One kernel has a single recording, with times in ns. The intervals do not cover differences between recordings. */
	ANALYZE_REPETITIONS_ONE_RECORDING,
	/* The kernels were recorded with times in ns, but not alternately. The intervals do not cover changes of the machine. */
	ANALYZE_REPETITIONS_IN_A_ROW,
	ANALYZE_REPETITIONS_ONE_BOOT, /* one boot per kernel: spread between boots is unknown */
	/* The kernel at the end of the name has one boot, the other has several. The certainty of differences is unknown. */
	ANALYZE_REPETITIONS_BOOT_BASELINE,
	ANALYZE_REPETITIONS_BOOT_HARDENED,
};

/* Return whether every difference is uncertain, because the spread between recordings is unknown. */
static inline bool analyze_repetitions_undecided(enum analyze_repetitions_note note)
{
	return note == ANALYZE_REPETITIONS_ONE_RECORDING || note == ANALYZE_REPETITIONS_IN_A_ROW;
}

/* The number of repetitions (runs, boots or recordings) behind a comparison's statistics. */
struct analyze_diff_repetitions {
	enum analyze_unit unit;
	uint32_t n[2]; /* [0]: baseline, [1]: hardened */
	uint32_t rows; /* number of rows with a p-value; p-values are adjusted for it */
	double margin_pct;
	enum analyze_repetitions_note note;
	/* False if the baseline, the hardened kernel or the control (option --control) is a single recording with times in ns. */
	bool controlled;
};

struct analyze_diff {
	enum profile_clock clock;
	bool some; /* only some system calls were measured */
	bool has_control; /* true: the CHANGE of each row has its NOISE set */
	enum analyze_time time; /* the kind of time in totals and means */
	uint32_t runs[2], boots[2]; /* [0]: baseline, [1]: hardened */
	struct analyze_diff_repetitions repetitions;
	struct analyze_env env;
	struct analyze_warnings warnings;
	vec_of(struct analyze_diff_workload_row, workload);
	struct analyze_kernel_share kernel[2];
	struct analyze_diff_rows syscalls, functions;
	/* Inlined functions of both kernels. If all functions have figures in both kernels, the lists stay empty. */
	struct analyze_ranges bodies[2];
	struct pointers bodies_by_name[2]; /* rows of BODIES, sorted by name, then context */
};

/*
 * Compare two profiles, which must outlive DIFF. Return 0. If one profile's times are in ns and the other's are instruction
 * counts, return -EINVAL (reported) and leave DIFF empty.
 */
int analyze_diff_init(struct analyze_diff *diff, const struct profile *baseline,
		      const struct profile *hardened, const struct analyze_options *options);
void analyze_diff_deinit(struct analyze_diff *diff);

/*
 * Set NOISE in each row of DIFF from CONTROL, a second recording of the baseline's kernel. If CONTROL is from another kernel, add
 * a warning. Pass the same BASELINE and OPTIONS as to analyze_diff_init(). Return 0, or an error of analyze_diff_init().
 */
int analyze_diff_control(struct analyze_diff *diff, const struct profile *baseline,
			 const struct profile *control, const struct analyze_options *options);

/* Patterns for kernel_name_matches(); NULL matches all names. */
struct analyze_filter {
	const char *syscall; /* pattern for system calls, and for contexts of functions */
	const char *function;
};

/*
 * Remove the rows of DIFF that FILTER does not match. Return the number of remaining rows. A filter for system calls also removes
 * rows of all contexts. Call this function last: p-values stay adjusted for the number of all rows.
 */
uint32_t analyze_diff_filter(struct analyze_diff *diff, const struct analyze_filter *filter);

/* Keys for analyze_diff_sort(), ending with NULL. A key is the name of a column. */
extern const char *const analyze_sort_keys[];

/* Sort system calls and functions by KEY: "p" and "name" in ascending order, other keys by falling magnitude. */
void analyze_diff_sort(struct analyze_diff *diff, const char *key);

/* ---- check that two profiles may be compared ---- */

/*
 * Add warnings if the comparison is invalid (different work, machine, probes or sampling rate) or doubtful. Also add the warnings
 * about each profile. TABLES are the profiles' tables. RAW: probe cost is not subtracted.
 */
void analyze_warnings_of_pair(struct analyze_warnings *w, const struct profile *baseline,
			      const struct profile *hardened, const struct analyze_table *tables,
			      bool raw);
