/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The cost of probes, and the uncertainty of the subtracted cost. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "profile/profile.h"

/*
 * The uncertainty of the probe cost that is subtracted: docs/internals/statistics.md has the formula. Costs are those
 * of "record.cost.*" in a report's environment. Spreads are standard deviations.
 */
struct analyze_calibration {
	double inner[PROFILE_N_MECHANISMS], inner_spread[PROFILE_N_MECHANISMS];
	/* INNER and its spread, for the mechanism that times page faults. */
	double fault_inner, fault_spread;
	uint32_t fault_context; /* index of the context of page faults; UINT32_MAX: none */
	/* The ticks subtracted for a sample. There is one sample in each PERIOD ticks of on-CPU time; 0: none. */
	double sample, sample_spread, period;
	bool *alone; /* nothing is timed in the context; indexed by context */
	double *callees; /* relative error of the cost subtracted for callees, by context */
};

/* The value of COUNTER that means time, not an event. */
#define ANALYZE_OF_TIME UINT32_MAX

/*
 * Set the calibration for counts of the event COUNTER, or for ANALYZE_OF_TIME. The spreads are COUNTER's. The costs are always
 * of time: they only serve to split a cell's cost between its own calls, its callees and samples.
 */
void analyze_calibration_init(struct analyze_calibration *c, const struct profile *p,
			      uint32_t counter);
void analyze_calibration_deinit(struct analyze_calibration *c);

/* Return the standard uncertainty of the cost subtracted from all CELL's calls, in ticks or counts. Sum it over cells. */
double analyze_calibration_uncertainty(const struct analyze_calibration *c, const struct profile *p,
				       const struct profile_cell *cell);

/* ---- the time of the workload and its iterations without probes, to compare with a run without probes ---- */

/*
 * The cost of a context's own probes, in ticks: INNER is in its time, OUTER around it. ERROR is the standard deviation as a
 * fraction. NAN: unknown.
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
 * Return the cost of probes per iteration of run RUN, in ticks, with its standard deviation in *ERROR. If ITERATIONS is 1, that
 * is the cost in the whole run. Otherwise, it is the cost in the only context (a syscall or page faults) that is entered at
 * least once per iteration. Return NAN if there is no such context or more than one, since the workload's time may not include
 * all of them, or if a cost is unknown.
 */
double analyze_net_cost(const struct analyze_net *net, uint32_t run, double iterations,
			double *error);

/* ---- the cost of the probes: calibrated, subtracted, and as a slowdown of the workload ---- */

/*
 * One mechanism that was calibrated, or that timed a site. NAN: unknown. Times are in ticks. A spread is a median absolute
 * deviation.
 */
struct analyze_cost {
	const char *name; /* "fentry" */
	char *calibration; /* all calibrated values as text; NULL: none */
	double functions; /* functions and inlined bodies timed by it; NAN: it times none, like the sampler */
	double calls; /* calls of functions (inlined bodies: excursions) and of contexts; NAN: it times none */
	double inner, inner_spread; /* cost within the call's own time */
	double full, full_spread; /* cost within the time around the call, INNER included */
	double interrupt,
		interrupt_spread; /* the sampler's: cost of a sample beyond the time of its BPF program */
	double total; /* calls of functions * full + calls of contexts * inner */
	double share; /* TOTAL as a fraction of the on-CPU time of syscalls and page faults, probes included */
	double contexts; /* the number of contexts' calls in CALLS */
	/* CALLS is the number of hits of blocks' probes, or of captured calls. FULL is the mean cost of a hit or captured call. */
	bool is_of_hits;
	const char *example; /* the name of a function that it times, or NULL */
};

struct analyze_costs {
	enum profile_clock clock;
	struct analyze_cost *rows; /* sorted by name */
	uint32_t n_rows;
	/* The measured time of all syscalls and page faults, and the part of it that is subtracted for probes and samples. */
	double oncpu, subtracted;
	/*
	 * Slowdown by probes in percent; NAN: unknown. ESTIMATED_KERNEL_PCT (of the time in syscalls and page faults) and
	 * ESTIMATED_PCT (of the command from start to exit, as if one CPU had done all) follow from the calibration.
	 * MEASURED_PCT compares probed runs with control runs.
	 */
	double estimated_kernel_pct, estimated_pct, measured_pct;
	uint32_t boots; /* the calibration is the first boot's */
};

void analyze_costs_init(struct analyze_costs *costs, const struct profile *p);
void analyze_costs_deinit(struct analyze_costs *costs);

/* Return whether ROW's mechanism timed calls at an unknown cost. */
bool analyze_cost_is_unknown(const struct analyze_cost *row);

/* Return the row of the mechanism NAME, or NULL. */
const struct analyze_cost *analyze_cost_find(const struct analyze_costs *costs, const char *name);
