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
	 * The same of the total per run. A side without calls counts as 0 if it was looked at: a syscall
	 * always is, a function if the side's recording had it at all; else NAN.
	 */
	double delta_total;
	/*
	 * Functions: delta_total as a fraction of that of its syscall, for ANALYZE_ALL_CONTEXTS of that of all syscalls.
	 * Negative or above 1 where others make up for it. NAN where either is NAN or the divisor is 0. Self times are compared
	 * with the syscall's on-CPU time, of which they are parts that do not overlap.
	 */
	double share;
	double delta_p50, delta_p90, delta_p99, delta_p999; /* of the percentiles of a call */
	struct analyze_change change; /* how sure the delta is */
	enum analyze_note note;
	enum analyze_note no_partner; /* why there is no other side; NONE: there is one */
	enum analyze_note inlined; /* that one side's figures are of inlined bodies */
};

struct analyze_diff_rows {
	vec_of(struct analyze_diff_row, rows); /* by falling |delta_total| */
};

/* Put the rows of A and B, which are of TABLES, side by side in OUT, by name and context. */
void analyze_diff_rows_match(struct analyze_diff_rows *out, const struct analyze_table tables[2],
			     const struct analyze_rows *a, const struct analyze_rows *b);

/* Set the differences of ROW, whose sides and moments are set. COMPARABLE: both sides' repetitions are of one kind. */
void analyze_diff_row_pair(struct analyze_diff_row *row, bool comparable);

/* Changes of totals, and functions' shares of these. The lists are in the order of their names. */
void analyze_diff_totals(struct analyze_diff_rows *syscalls, struct analyze_diff_rows *functions,
			 enum analyze_time time);

/* The row of NAME and CONTEXT, or NULL. ROWS are in the order of their names. */
const struct analyze_diff_row *analyze_diff_rows_find(const struct analyze_diff_rows *rows,
						      const char *name, const char *context);

/* By name, then context: for sort_array(). */
int analyze_diff_row_compare(const void *a, const void *b);

void analyze_diff_rows_sort_by_change(struct analyze_diff_rows *rows);

struct analyze_diff_workload_row {
	const char *name, *label; /* as in struct analyze_workload_row */
	bool probed; /* of both sides; where only one has the row, of that */
	enum analyze_how how;
	size_t order;
	struct analyze_workload_figures sides[2];
	double delta, delta_pct; /* of the mean */
	struct analyze_change change;
};

/* Reasons why there are no verdicts, or limits of those that there are. */
enum analyze_repetitions_note {
	ANALYZE_REPETITIONS_ENOUGH,
	ANALYZE_REPETITIONS_TOO_FEW, /* runs to say how sure differences are */
	/* A side is one recording on a real clock: what differs between recordings is in no interval. */
	ANALYZE_REPETITIONS_ONE_RECORDING,
	/* Likewise: what changed from one side's recordings to the other's, which were not made in turn, is in none. */
	ANALYZE_REPETITIONS_IN_A_ROW,
	ANALYZE_REPETITIONS_ONE_BOOT, /* per side: what differs between boots is in no interval */
	/* One boot on that side and several on the other: nothing is known of how sure differences are. */
	ANALYZE_REPETITIONS_BOOT_BASELINE,
	ANALYZE_REPETITIONS_BOOT_HARDENED,
};

/* Return whether no difference can be certain, since it is not known how much recordings differ. */
static inline bool analyze_repetitions_undecided(enum analyze_repetitions_note note)
{
	return note == ANALYZE_REPETITIONS_ONE_RECORDING || note == ANALYZE_REPETITIONS_IN_A_ROW;
}

/* The repetitions of a diff's statistics. */
struct analyze_diff_repetitions {
	enum analyze_unit unit;
	uint32_t n[2]; /* repetitions of the baseline and the hardened side */
	uint32_t rows; /* that have a p-value: it is adjusted for their number */
	double margin_pct;
	enum analyze_repetitions_note note;
	/* --control is several recordings, as both sides are: what is more than its noise is no matter of when. */
	bool controlled;
};

struct analyze_diff {
	enum profile_clock clock;
	bool some; /* syscalls alone were measured */
	bool has_control; /* rows have their noise */
	enum analyze_time time; /* that of totals, means and their changes */
	uint32_t runs[2], boots[2]; /* of the baseline and the hardened side */
	struct analyze_diff_repetitions repetitions;
	struct analyze_env env;
	struct analyze_warnings warnings; /* what a reader of the comparison must know */
	vec_of(struct analyze_diff_workload_row, workload);
	struct analyze_kernel_share kernel[2];
	struct analyze_diff_rows syscalls, functions;
	struct analyze_ranges bodies
		[2]; /* of either side, for functions that it has inlined; none if both call the same */
	struct pointers bodies_by_name[2]; /* their rows by name, then context */
};

/*
 * Both profiles must outlive DIFF. OPTIONS as for analyze_table_init(). Returns 0, or -EINVAL, having
 * said so, where the two clocks count different things; DIFF is then empty.
 */
int analyze_diff_init(struct analyze_diff *diff, const struct profile *baseline,
		      const struct profile *hardened, const struct analyze_options *options);
void analyze_diff_deinit(struct analyze_diff *diff);

/*
 * Sets how much noise there is in each row of DIFF, from another recording of the baseline's kernel:
 * struct analyze_change. Adds a warning where CONTROL is of another kernel. Returns as
 * analyze_diff_init(), with whose BASELINE and OPTIONS it is called.
 */
int analyze_diff_control(struct analyze_diff *diff, const struct profile *baseline,
			 const struct profile *control, const struct analyze_options *options);

/* ---- the choice and the order of a diff's rows ---- */

/* Globs, as fnmatch() has them; NULL: any. */
struct analyze_filter {
	const char *syscall; /* syscalls and the contexts of functions */
	const char *function;
};

/*
 * Takes out of DIFF's lists what FILTER does not match; returns how many rows are left. For after everything
 * else: p stays adjusted for all rows. With a syscall, sums over all contexts go too.
 */
uint32_t analyze_diff_filter(struct analyze_diff *diff, const struct analyze_filter *filter);

/* The keys of analyze_diff_sort(), as the columns have them, ended by NULL. */
extern const char *const analyze_sort_keys[];

/* Orders syscalls and functions by KEY, the largest size first; "p" and "name" the least first. */
void analyze_diff_sort(struct analyze_diff *diff, const char *key);

/* ---- checks that two profiles may be compared ---- */

/*
 * Adds what makes a comparison of the two invalid (different work, machines, probes or sampling rates) or
 * questionable, and either side's own warnings. RAW: probe cost is left in on both sides. TABLES are both sides', as
 * for analyze_warnings_of_profile().
 */
void analyze_warnings_of_pair(struct analyze_warnings *w, const struct profile *baseline,
			      const struct profile *hardened, const struct analyze_table *tables,
			      bool raw);
