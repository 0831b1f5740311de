/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The time of the work itself, by the workload's own clock and by the clock of the process that started it. The times of
 * contexts, functions and their parts must add up to it.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/figures/table.h"
#include "analyze/stats/sample.h"
#include "base/alloc.h"
#include "profile/profile.h"

/* The row of the command as a whole, from start to exit. */
#define ANALYZE_COMMAND "[command]"
/* The command's time on a CPU, less the cost of its probes unless tasks other than the command's were recorded. */
#define ANALYZE_COMMAND_CPU "[command cpu]"

/* The source of a figure. */
enum analyze_how {
	ANALYZE_HOW_NONE, /* not shown */
	ANALYZE_HOW_UNPROBED,
	ANALYZE_HOW_PROBED,
	ANALYZE_HOW_ESTIMATED, /* from samples */
};

struct analyze_workload_figures {
	double iterations; /* sum over runs; for ANALYZE_COMMAND, number of runs */
	double mean, p50; /* of an iteration: the mean over runs, each with equal weight */
	double min; /* the least of all runs */
};

extern const struct analyze_workload_figures analyze_workload_none;

struct analyze_workload_row {
	const char *name, *label; /* NAME: the profile's; LABEL: set by the view, NULL before */
	bool probed; /* true: from runs with probes; false: from runs without */
	enum analyze_how how; /* the source, unprobed or probed runs */
	size_t order; /* order for readers: by first report, the command last */
	struct analyze_workload_figures figures;
	double gross; /* mean with the cost of probes, even if FIGURES exclude it */
	/*
	 * The mean less the whole cost of probes, and half of its 95 % interval (from runs and calibration), in ticks; NAN: not
	 * probed, or unknown.
	 */
	double net, net_error;
	enum analyze_unit unit; /* the unit of a repetition */
	struct analyze_moments
		moments; /* moments of the mean over repetitions; each run has equal weight */
};

struct analyze_workload {
	vec_of(struct analyze_workload_row, rows); /* by name, unprobed before probed */
};

void analyze_workload_init(struct analyze_workload *workload, const struct profile *p, bool raw);
void analyze_workload_deinit(struct analyze_workload *workload);

/* Sort the rows by ORDER, unprobed before probed. */
void analyze_workload_sort_by_order(struct analyze_workload *workload);

/* ---- the kernel's part of the command's CPU time ---- */

/* Per run, in ticks. All NAN: unknown, for example if tasks other than the command's were followed. */
struct analyze_kernel_share {
	double kernel; /* on-CPU time in syscalls and page faults */
	double command; /* total CPU time, of unprobed runs if there are any */
	double share;
};

/* T and WORKLOAD are P's. */
struct analyze_kernel_share analyze_kernel_share_of(const struct profile *p,
						    const struct analyze_table *t,
						    const struct analyze_workload *workload);
