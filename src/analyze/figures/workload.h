/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Layer 0: how long the work itself took, by the workload's own clock and by that of whoever
 * started it. What all other layers must add up to.
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
/* The same by the time on a CPU, less what its probes cost, unless others than the command were recorded too. */
#define ANALYZE_COMMAND_CPU "[command cpu]"

/* The source of a figure. */
enum analyze_how {
	ANALYZE_HOW_NONE, /* it goes without saying */
	ANALYZE_HOW_UNPROBED,
	ANALYZE_HOW_PROBED,
	ANALYZE_HOW_ESTIMATED, /* from samples */
};

struct analyze_workload_figures {
	double iterations; /* the sum over runs; of ANALYZE_COMMAND, the runs */
	double mean, p50; /* of an iteration: the mean over runs, each counting the same */
	double min; /* the least of all runs */
};

extern const struct analyze_workload_figures analyze_workload_none;

struct analyze_workload_row {
	const char *name, *label; /* the profile's; on pages, NULL: not worded yet */
	bool probed; /* false: from control runs; true: probe cost is inside the times */
	enum analyze_how how; /* the same */
	size_t order; /* the reader's: as first reported, the command last */
	struct analyze_workload_figures figures;
	double gross; /* the mean with what probes cost, whatever is subtracted from the figures */
	/*
	 * The mean less all that probes cost, and half of its 95 % interval, of runs and calibration, in ticks; NAN: not
	 * probed, or not known.
	 */
	double net, net_error;
	enum analyze_unit unit; /* what counts as a repetition */
	struct analyze_moments
		moments; /* of the mean, over repetitions, each run counting the same */
};

struct analyze_workload {
	vec_of(struct analyze_workload_row, rows); /* by name, unprobed before probed */
};

void analyze_workload_init(struct analyze_workload *workload, const struct profile *p, bool raw);
void analyze_workload_deinit(struct analyze_workload *workload);

/* Brings the rows into the reader's order, unprobed before probed. */
void analyze_workload_sort_by_order(struct analyze_workload *workload);

/* ---- the kernel's part of the command's CPU time ---- */

/* Per run, in ticks. All NAN: not known, as where other tasks than the command's were followed. */
struct analyze_kernel_share {
	double kernel; /* on-CPU time in syscalls and page faults */
	double command; /* CPU time in all, of unprobed runs where there are any */
	double share;
};

/* T and WORKLOAD are P's. */
struct analyze_kernel_share analyze_kernel_share_of(const struct profile *p,
						    const struct analyze_table *t,
						    const struct analyze_workload *workload);
