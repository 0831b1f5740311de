/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The time of the whole workload, as the workload itself and the process that started it measure this time. Times of contexts and
 * functions must add up to it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/figures/table.h"
#include "analyze/stats/sample.h"
#include "base/alloc.h"
#include "profile/profile.h"

/* Name of the row for the whole command, from start to exit. */
#define ANALYZE_COMMAND "[command]"
/* Name of the row for the command's CPU time. Probe cost is subtracted unless other tasks were recorded. */
#define ANALYZE_COMMAND_CPU "[command cpu]"

/* Source of a row's figures. */
enum analyze_how {
	ANALYZE_HOW_NONE, /* reports do not name the source */
	ANALYZE_HOW_UNPROBED,
	ANALYZE_HOW_PROBED,
	ANALYZE_HOW_ESTIMATED, /* from samples */
};

struct analyze_workload_figures {
	double iterations; /* sum over runs; for ANALYZE_COMMAND the number of runs */
	double mean, p50; /* time of an iteration; each run has equal weight */
	double min; /* minimum over all runs */
};

extern const struct analyze_workload_figures analyze_workload_none;

struct analyze_workload_row {
	const char *name; /* from the profile */
	bool probed; /* the runs had probes */
	enum analyze_how how; /* source: runs with or without probes */
	size_t order; /* order on display: first report by the workload; command last */
	struct analyze_workload_figures figures;
	double gross; /* mean time of an iteration, with the probe cost */
	/*
	 * GROSS minus the full cost of probes, and half of the result's 95 % interval (from runs and calibration), in ticks. NAN:
	 * the runs had no probes, or the cost is unknown.
	 */
	double net, net_error;
	enum analyze_unit unit; /* kind of repetitions: runs, boots or recordings */
	struct analyze_moments moments; /* mean and variance of MEAN over repetitions */
};

struct analyze_workload {
	vec_of(struct analyze_workload_row, rows); /* sorted by name, runs without probes first */
};

void analyze_workload_init(struct analyze_workload *workload, const struct profile *p, bool raw);
void analyze_workload_deinit(struct analyze_workload *workload);

/* Sort rows by ORDER; for equal ORDER, runs without probes first. */
void analyze_workload_sort_by_order(struct analyze_workload *workload);

/* ---- the kernel's share of the command's CPU time ---- */

/* Times per run, in ticks. All NAN: unknown, for example because tasks other than the command's were recorded. */
struct analyze_kernel_share {
	double kernel; /* on-CPU time in syscalls and page faults */
	double command; /* total CPU time, from runs without probes if there are any */
	double share;
};

/* Return the kernel's share for P's command. T must be P's table, and WORKLOAD must have P's results. */
struct analyze_kernel_share analyze_kernel_share_of(const struct profile *p,
						    const struct analyze_table *t,
						    const struct analyze_workload *workload);
