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

/* ---- the time of the workload and its iterations without probes, to compare with a run without probes ---- */

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

/* ---- the cost of the probes: calibrated, subtracted, and as a slowdown of the workload ---- */

/*
 * One mechanism: whatever was calibrated or a site was timed by. NAN is "not known". Times are
 * in ticks; a spread is a median absolute deviation.
 */
struct analyze_cost {
	const char *name; /* "fentry" */
	char *calibration; /* all that was calibrated, as text; NULL: nothing */
	double functions; /* timed by it; NAN for what times none, as the sampler */
	double calls; /* of them (of ranges: excursions), and of contexts; NAN likewise */
	double inner, inner_spread; /* what a call's own time holds of its probes */
	double full, full_spread; /* what whatever encloses the call holds of them */
	double interrupt,
		interrupt_spread; /* of the sampler: what a sample takes besides its program */
	double total; /* calls of functions * full + calls of contexts * inner */
	double share; /* of the on-CPU time of syscalls and page faults, probes included */
	double contexts; /* of the calls, those that are contexts themselves */
	/* The cost is one per hit of a block's probe (CALLS are hits), or per captured call. FULL is the mean. */
	bool is_of_hits;
	const char *example; /* the name of one of its functions, or NULL */
};

struct analyze_costs {
	enum profile_clock clock;
	struct analyze_cost *rows; /* by name */
	uint32_t n_rows;
	/* The time of all syscalls and page faults as measured, and the part that was subtracted, with that of samples. */
	double oncpu, subtracted;
	/*
	 * The time that things took more than without probes, in percent; NAN if it is not known.
	 * Estimated from the calibration: of the time in syscalls and page faults, and of the command
	 * from start to exit as if one CPU had done all. Measured: the command against a control run.
	 */
	double estimated_kernel_pct, estimated_pct, measured_pct;
	uint32_t boots; /* the calibration is that of the first */
};

void analyze_costs_init(struct analyze_costs *costs, const struct profile *p);
void analyze_costs_deinit(struct analyze_costs *costs);

/* Return whether ROW's mechanism timed calls at an unknown cost. */
bool analyze_cost_is_unknown(const struct analyze_cost *row);

/* The row of that name, or NULL. */
const struct analyze_cost *analyze_cost_find(const struct analyze_costs *costs, const char *name);
