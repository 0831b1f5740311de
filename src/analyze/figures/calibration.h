/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The uncertainty of the cost that is subtracted for probes. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "profile/profile.h"

/*
 * The uncertainty of the probe cost that is subtracted: docs/internals/statistics.md has the formula.
 * Costs and spreads are those of "record.cost."
 */
struct analyze_calibration {
	double inner[PROFILE_N_MECHANISMS], inner_spread[PROFILE_N_MECHANISMS];
	/* The same of what times page faults. */
	double fault_inner, fault_spread;
	uint32_t fault_context; /* UINT32_MAX: none */
	/* The ticks that are subtracted for a sample, one in each PERIOD ticks of on-CPU time; 0: none. */
	double sample, sample_spread, period;
	bool *alone; /* by context: nothing is timed in it */
	double *callees; /* by context: what may be wrong with 1 tick taken off for callees */
};

/* Instead of an event's number: of time. */
#define ANALYZE_OF_TIME UINT32_MAX

/*
 * The spreads are those of what probes count of the event COUNTER; costs are of time in any case, and tell how many calls were
 * made in which others.
 */
void analyze_calibration_init(struct analyze_calibration *c, const struct profile *p,
			      uint32_t counter);
void analyze_calibration_deinit(struct analyze_calibration *c);

/* The standard uncertainty of what was taken off all CELL's calls, in ticks or counts. They add up. */
double analyze_calibration_uncertainty(const struct analyze_calibration *c, const struct profile *p,
				       const struct profile_cell *cell);

/* The time of the workload and its iterations without probes, to compare with a run without probes. */

/*
 * The cost of a context's own probes, in ticks: in its time, and around it. ERROR: a standard deviation, as a part.
 * NAN: not known.
 */
struct analyze_net_probes {
	double inner, outer, error;
};

struct analyze_net {
	const struct profile *p;
	struct analyze_calibration calibration;
	struct analyze_net_probes syscall, fault;
};

void analyze_net_init(struct analyze_net *net, const struct profile *p);
void analyze_net_deinit(struct analyze_net *net);

/*
 * Return the cost of probes in each of ITERATIONS of run RUN, in ticks, with its standard deviation in *ERROR. One
 * iteration is the whole run. With more it is the cost in the calls of the one context, a syscall or page faults, that
 * is called as often as there are iterations, or several times as often. If there is more than one such context, it is
 * not known which the workload has in its time: NAN, as if no cost is known.
 */
double analyze_net_cost(const struct analyze_net *net, uint32_t run, double iterations,
			double *error);
