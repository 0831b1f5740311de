/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The same work on two kernels, side by side. */
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

/* ---- the syscalls and functions of two profiles, side by side ---- */

/* Reasons why a figure of a row is not known, and remarks for its reader. */
enum analyze_note {
	ANALYZE_NOTE_NONE,
	/* The named side did not time the function: it is missing or not recorded there (NOT_TIMED), or inlined there (INLINED). */
	ANALYZE_NOTE_NOT_TIMED_BASELINE,
	ANALYZE_NOTE_NOT_TIMED_HARDENED,
	ANALYZE_NOTE_INLINED_BASELINE,
	ANALYZE_NOTE_INLINED_HARDENED,
	/* The named side's compiler inlined the function: the figures of this side are sums over inlined bodies. */
	ANALYZE_NOTE_BODIES_BASELINE,
	ANALYZE_NOTE_BODIES_HARDENED,
	/* Only the named side calls the function. */
	ANALYZE_NOTE_CALLED_BASELINE,
	ANALYZE_NOTE_CALLED_HARDENED,
	ANALYZE_NOTE_FEW, /* too few repetitions have calls */
	ANALYZE_NOTE_NEAR_ZERO, /* the baseline's mean may be zero: there are no percentages */
	ANALYZE_NOTE_NO_NUMBER, /* no number of boots can decide the verdict */
};

/*
 * One syscall, or one function in one context. Counts and totals are per run: means over the side's probed runs. A side without
 * the row is analyze_figures_none.
 */
struct analyze_diff_row {
	enum analyze_call_kind kind;
	const char *name;
	const char *context; /* as in struct analyze_row */
	bool redundant;
	struct analyze_figures sides[2]; /* baseline, hardened */
	double delta; /* change of the mean per call, in ticks; NAN unless both sides are known */
	double delta_pct; /* DELTA in percent of the baseline's mean */
	/*
	 * The difference of the total per run. A side without calls counts as 0 if calls would have been recorded: always for a
	 * syscall, for a function if the side recorded it. Otherwise NAN.
	 */
	double delta_total;
	/*
	 * Functions: DELTA_TOTAL as a fraction of the context's DELTA_TOTAL, or of the sum over all contexts for
	 * ANALYZE_ALL_CONTEXTS. It is negative or above 1 if other functions offset it. NAN: one of the two changes is unknown,
	 * or the divisor is 0. Self times are parts of the on-CPU time without overlap, so its change is their divisor.
	 */
	double share;
	double delta_p50, delta_p90, delta_p99, delta_p999; /* changes of a call's percentiles */
	struct analyze_change change; /* the certainty of DELTA */
	enum analyze_note note;
	/* Functions: the reason why one side has no figures in any context; NONE: both or neither have. */
	enum analyze_note no_partner;
	enum analyze_note inlined; /* the side with sums over inlined bodies; NONE: neither */
};

struct analyze_diff_rows {
	vec_of(struct analyze_diff_row, rows); /* by falling |delta_total| */
};

/* Match the rows A of TABLES[0] and B of TABLES[1] by name and context. Add the pairs to OUT. */
void analyze_diff_rows_match(struct analyze_diff_rows *out, const struct analyze_table tables[2],
			     const struct analyze_rows *a, const struct analyze_rows *b);

/* Set the differences of ROW's sides. COMPARABLE: both sides have the same unit of repetition (enum analyze_unit). */
void analyze_diff_row_pair(struct analyze_diff_row *row, bool comparable);

/* Set the changes of all rows' totals of TIME, and the functions' shares. Both lists are sorted by name. */
void analyze_diff_totals(struct analyze_diff_rows *syscalls, struct analyze_diff_rows *functions,
			 enum analyze_time time);

/* Return the row of NAME and CONTEXT, or NULL. ROWS are sorted by name. */
const struct analyze_diff_row *analyze_diff_rows_find(const struct analyze_diff_rows *rows,
						      const char *name, const char *context);

/* Compare by name, then context: for sort_array(). */
int analyze_diff_row_compare(const void *a, const void *b);

void analyze_diff_rows_sort_by_change(struct analyze_diff_rows *rows);

struct analyze_diff_workload_row {
	const char *name, *label; /* as in struct analyze_workload_row */
	bool probed; /* the figures are of runs with probes */
	enum analyze_how how;
	size_t order;
	struct analyze_workload_figures sides[2];
	double delta, delta_pct; /* differences of the mean */
	struct analyze_change change;
};

/* Reasons why there are no verdicts, or limits of the verdicts. */
enum analyze_repetitions_note {
	ANALYZE_REPETITIONS_ENOUGH,
	ANALYZE_REPETITIONS_TOO_FEW, /* too few runs to tell how sure differences are */
	/* A side is one recording on a real clock: no interval covers differences between recordings. */
	ANALYZE_REPETITIONS_ONE_RECORDING,
	/* The sides' recordings on a real clock were not made in turn: no interval covers changes between the sides. */
	ANALYZE_REPETITIONS_IN_A_ROW,
	ANALYZE_REPETITIONS_ONE_BOOT, /* a single boot per side: no interval covers differences between boots */
	/* One boot on the named side, several on the other side: the certainty of differences is unknown. */
	ANALYZE_REPETITIONS_BOOT_BASELINE,
	ANALYZE_REPETITIONS_BOOT_HARDENED,
};

/* Return whether no difference can be certain, because the spread between recordings is unknown. */
static inline bool analyze_repetitions_undecided(enum analyze_repetitions_note note)
{
	return note == ANALYZE_REPETITIONS_ONE_RECORDING || note == ANALYZE_REPETITIONS_IN_A_ROW;
}

/* The repetitions of a diff's statistics. */
struct analyze_diff_repetitions {
	enum analyze_unit unit;
	uint32_t n[2]; /* of the baseline and the hardened side */
	uint32_t rows; /* number of rows with a p-value; each p-value is adjusted for this number */
	double margin_pct;
	enum analyze_repetitions_note note;
	/* Neither a side nor --control is one recording on a real clock: the time of recording causes no change above the noise. */
	bool controlled;
};

struct analyze_diff {
	enum profile_clock clock;
	bool some; /* only some syscalls were measured */
	bool has_control; /* the noise of rows (struct analyze_change) is set */
	enum analyze_time time; /* the time of totals, means and their changes */
	uint32_t runs[2], boots[2]; /* of the baseline and the hardened side */
	struct analyze_diff_repetitions repetitions;
	struct analyze_env env;
	struct analyze_warnings warnings; /* for a reader of the comparison */
	vec_of(struct analyze_diff_workload_row, workload);
	struct analyze_kernel_share kernel[2];
	struct analyze_diff_rows syscalls, functions;
	/* The inlined bodies of each side, if only one side has figures of some function; else empty. */
	struct analyze_ranges bodies[2];
	struct pointers bodies_by_name[2]; /* rows of BODIES, by name, then context */
};

/*
 * Compare two profiles, which must outlive DIFF. OPTIONS are as for analyze_table_init(). Return 0. If one profile's times are
 * in ns and the other's are counted instructions, return -EINVAL (reported), with an empty DIFF.
 */
int analyze_diff_init(struct analyze_diff *diff, const struct profile *baseline,
		      const struct profile *hardened, const struct analyze_options *options);
void analyze_diff_deinit(struct analyze_diff *diff);

/*
 * Set the noise (struct analyze_change) of each row of DIFF from CONTROL, another recording of the baseline's kernel. Add a
 * warning if CONTROL is of another kernel. BASELINE and OPTIONS are those of analyze_diff_init(). Return 0 or its error.
 */
int analyze_diff_control(struct analyze_diff *diff, const struct profile *baseline,
			 const struct profile *control, const struct analyze_options *options);

/* ---- the choice and the order of a diff's rows ---- */

/* Globs for fnmatch(); NULL: any. */
struct analyze_filter {
	const char *syscall; /* for syscalls, and for contexts of functions */
	const char *function;
};

/*
 * Remove the rows of DIFF that FILTER does not match. Return the number of rows left. A filter for syscalls also removes sums
 * over all contexts. P-values stay adjusted for the number of all rows, so filter after all other steps.
 */
uint32_t analyze_diff_filter(struct analyze_diff *diff, const struct analyze_filter *filter);

/* The keys of analyze_diff_sort(), named as the columns; the last is NULL. */
extern const char *const analyze_sort_keys[];

/* Sort syscalls and functions by KEY, the largest magnitude first; by "p" and "name" in ascending order. */
void analyze_diff_sort(struct analyze_diff *diff, const char *key);

/* ---- checks that two profiles may be compared ---- */

/*
 * Add warnings of differences that make a comparison invalid (work, machine, probes or sampling rate) or questionable. Add each
 * side's own warnings. RAW: both sides keep the probe cost. TABLES are the sides', as for analyze_warnings_of_profile().
 */
void analyze_warnings_of_pair(struct analyze_warnings *w, const struct profile *baseline,
			      const struct profile *hardened, const struct analyze_table *tables,
			      bool raw);
