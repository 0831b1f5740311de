/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The same work on two kernels, side by side. */
#ifndef KPROTPERF_ANALYZE_DIFF_H
#define KPROTPERF_ANALYZE_DIFF_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/change.h"
#include "analyze/diff_blocks.h"
#include "analyze/diff_ranges.h"
#include "analyze/environment.h"
#include "analyze/losses.h"
#include "analyze/table.h"
#include "analyze/workload.h"
#include "profile/profile.h"

/*
 * One syscall, or one function in one context. Counts and totals of both sides are a run, means over
 * its probed runs. A side that has no such row is analyze_figures_none.
 */
struct analyze_diff_row {
	const char *name;
	const char *context; /* as in struct analyze_row */
	bool redundant;
	struct analyze_figures baseline, hardened;
	double delta; /* of the mean a call, in ticks; NAN unless both are known */
	double delta_pct; /* the same in percent of the baseline's mean */
	/*
	 * Of the total a run. A side without calls counts as 0 where it was looked at: a syscall
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
	const char *note; /* why something is not known; NULL: nothing to be said */
	const char *alone; /* why no other side is there to compare with; NULL: there is one */
	const char *inlined; /* that one side's figures are of inlined bodies; NULL: they are not */
	const struct analyze_sample *samples[2]; /* while the diff is made; then NULL */
};

struct analyze_diff_rows {
	struct analyze_diff_row *rows; /* by falling |delta_total| */
	uint32_t n_rows, cap_rows;
};

struct analyze_diff_workload_row {
	const char *name;
	bool probed; /* of both sides; where only one has the row, of that */
	const char *how; /* as in struct analyze_workload_row */
	size_t order;
	struct analyze_workload_figures baseline, hardened;
	double delta, delta_pct; /* of the mean */
	struct analyze_change change;
};

/* What a diff's statistics are made of. */
struct analyze_diff_repetitions {
	enum analyze_unit unit;
	uint32_t n[2]; /* repetitions of the baseline and the hardened side */
	uint32_t rows; /* that have a p-value: it is adjusted for their number */
	double margin_pct;
	char *note; /* what is to be known of them: why there is no verdict, what they do not cover */
};

struct analyze_diff {
	enum profile_clock clock;
	enum analyze_time time; /* that of totals, means and their changes */
	uint32_t runs[2], boots[2]; /* of the baseline and the hardened side */
	struct analyze_diff_repetitions repetitions;
	struct analyze_env env;
	struct analyze_warnings warnings; /* what makes the comparison doubtful */
	struct analyze_diff_workload_row *workload;
	uint32_t n_workload, cap_workload;
	struct analyze_diff_rows syscalls, functions;
	struct analyze_diff_ranges ranges;
	struct analyze_diff_blocks blocks;
};

/*
 * Both profiles must outlive DIFF. OPTIONS as for analyze_table_init(). Returns 0, or -EINVAL, having
 * said so, where the two clocks count different things; DIFF is then empty.
 */
int analyze_diff_init(struct analyze_diff *diff, const struct profile *baseline,
		      const struct profile *hardened, const struct analyze_options *options);
void analyze_diff_deinit(struct analyze_diff *diff);

/* For analyze_diff_init(): forms what follows from both sides' figures of a call. */
void analyze_diff_row_pair(struct analyze_diff_row *row);

/*
 * Likewise: gives functions that one kernel has inlined the timed bodies of their name as that side's
 * figures. Returns how many rows got some; DIFF's functions are in the order of their names.
 */
uint32_t analyze_diff_partners(struct analyze_diff *diff);

/*
 * Sets how much noise there is in each row of DIFF, from another recording of the baseline's kernel:
 * struct analyze_change. Adds a warning where CONTROL is of another kernel. Returns as
 * analyze_diff_init(), with whose BASELINE and OPTIONS it is called.
 */
int analyze_diff_control(struct analyze_diff *diff, const struct profile *baseline,
			 const struct profile *control, const struct analyze_options *options);

/*
 * The answer in a sentence or two, to be freed by the caller: which syscall changed most a run, by
 * how much a call, and which function carries it; or that the workload itself changed, and no syscall.
 */
char *analyze_diff_conclusion(const struct analyze_diff *diff);

/* DELTA in percent of BASE; NAN where BASE is not above 0. */
double analyze_percent(double delta, double base);

#endif
