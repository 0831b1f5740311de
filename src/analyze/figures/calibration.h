/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The cost of probes in time, and the uncertainty of the cost that is subtracted. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "profile/profile.h"

/*
 * Data for the uncertainty of the subtracted probe cost. docs/internals/statistics.md has the formula. Costs are in ticks per
 * call, and come from the calibration ("record.cost.*" in a report's environment). Spreads are standard deviations.
 */
struct analyze_calibration {
	double inner[PROFILE_N_MECHANISMS], inner_spread[PROFILE_N_MECHANISMS];
	/* Cost INNER and its spread for the probes of page faults. */
	double fault_inner, fault_spread;
	uint32_t fault_context; /* number of the context of page faults; UINT32_MAX: none */
	/* Ticks subtracted for each sample, and their spread. A sample comes every PERIOD ticks of on-CPU time; 0: none. */
	double sample, sample_spread, period;
	bool *alone; /* by context: true if no function inside the context is timed */
	double *callees; /* relative error of the cost subtracted for callees, by context */
};

/* This value of COUNTER stands for time instead of an event. */
#define ANALYZE_OF_TIME UINT32_MAX

/*
 * Read the calibration of event COUNTER, or of time (ANALYZE_OF_TIME). Spreads are in units of COUNTER. Costs are always times:
 * their proportions divide a subtracted cost between the function's own calls, called functions and samples.
 */
void analyze_calibration_init(struct analyze_calibration *c, const struct profile *p,
			      uint32_t counter);
void analyze_calibration_deinit(struct analyze_calibration *c);

/* Return the standard uncertainty, in ticks or counts, of the cost subtracted from CELL's calls. Uncertainties of cells add up. */
double analyze_calibration_uncertainty(const struct analyze_calibration *c, const struct profile *p,
				       const struct profile_cell *cell);

/* ---- time of the workload without its probes ---- */

/*
 * Cost of the probes around a system call or page fault, in ticks. INNER is part of the measured time, OUTER is outside of it.
 * ERROR is a standard deviation as a fraction. NAN: unknown.
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
 * Return the cost of probes in run number RUN divided by ITERATIONS, in ticks. Set *ERROR to its standard deviation. If ITERATIONS
 * is above 1, count only the system call (or page faults) that occurs at least once per iteration. Return NAN if no system call or
 * several do so, or if a cost is unknown.
 */
double analyze_net_cost(const struct analyze_net *net, uint32_t run, double iterations,
			double *error);

/* ---- cost of the probes, and the slowdown of the workload ---- */

/*
 * One type of probe (such as fentry) that was calibrated or that timed a function. NAN: unknown. Times are in ticks. Spreads are
 * median absolute deviations.
 */
struct analyze_cost {
	const char *name; /* such as "fentry" */
	char *calibration; /* all calibrated values as text, or NULL */
	double functions; /* number of functions that these probes time; NAN: none (sampler) */
	double calls; /* number of calls that these probes time; NAN: none */
	double inner, inner_spread; /* cost per call inside the call's measured time */
	double full, full_spread; /* cost per call in the caller's time, INNER included */
	double interrupt,
		interrupt_spread; /* only sampler: cost of a sample outside of its BPF program */
	double total; /* calls of functions * FULL + calls of contexts * INNER */
	double share; /* TOTAL / on-CPU time of system calls and page faults, probes included */
	double contexts; /* part of CALLS: calls of contexts, such as system calls */
	/* True: CALLS counts executed block probes or captured calls, and FULL is the mean cost of each. */
	bool is_of_hits;
	const char *example; /* a function that these probes time, or NULL */
};

struct analyze_costs {
	enum profile_clock clock;
	struct analyze_cost *rows; /* sorted by name */
	uint32_t n_rows;
	/* Measured time of all system calls and page faults, and the part of it that is subtracted for probes and samples. */
	double oncpu, subtracted;
	/*
	 * Slowdown by probes in percent; NAN: unknown. The calibration gives ESTIMATED_KERNEL_PCT, in the time of system calls and
	 * page faults, and ESTIMATED_PCT, in the command's time from start to exit on one CPU. MEASURED_PCT compares probed
	 * runs with runs without probes.
	 */
	double estimated_kernel_pct, estimated_pct, measured_pct;
	uint32_t boots; /* number of boots; only the first one was calibrated */
};

void analyze_costs_init(struct analyze_costs *costs, const struct profile *p);
void analyze_costs_deinit(struct analyze_costs *costs);

/* Return whether probes of this type timed calls although their cost is unknown. */
bool analyze_cost_is_unknown(const struct analyze_cost *row);

/* Return the row of the probe type NAME, or NULL. */
const struct analyze_cost *analyze_cost_find(const struct analyze_costs *costs, const char *name);
