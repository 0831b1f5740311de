/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compute the time that probes take, and the uncertainty of the time that is subtracted for them. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "profile/profile.h"

/*
 * Data to compute the uncertainty of the subtracted probe cost. docs/internals/statistics.md has the formula. Costs are in ticks
 * per call. They come from the calibration ("record.cost.*" in a report's environment). Spreads are standard deviations.
 */
struct analyze_calibration {
	double inner[PROFILE_N_MECHANISMS], inner_spread[PROFILE_N_MECHANISMS];
	/* The values of INNER and INNER_SPREAD for page faults, which may have another type of probe. */
	double fault_inner, fault_spread;
	uint32_t fault_context; /* context number of page faults, or UINT32_MAX for none */
	/* Ticks subtracted for each sample, and their spread. A sample comes every PERIOD ticks of on-CPU time; 0: no samples. */
	double sample, sample_spread, period;
	bool *alone; /* indexed by context: true if no function in the context is timed */
	double *callees; /* indexed by context: relative error of the cost of called functions */
};

/* Pass this as COUNTER to get the calibration of times, not of an event. */
#define ANALYZE_OF_TIME UINT32_MAX

/*
 * Read the calibration of event COUNTER, or of times (ANALYZE_OF_TIME). Spreads are in units of COUNTER. Costs are always times.
 * They serve to divide a subtracted cost among the function's own probes, called functions and samples.
 */
void analyze_calibration_init(struct analyze_calibration *c, const struct profile *p,
			      uint32_t counter);
void analyze_calibration_deinit(struct analyze_calibration *c);

/* Return the standard uncertainty of the cost subtracted from CELL's calls, in ticks or counts. For several cells, add them up. */
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
 * Return the ticks that probes add to one of the ITERATIONS of run number RUN. Set *ERROR to the standard deviation. If ITERATIONS
 * is above 1, one system call (or page fault) must occur at least once per iteration. Ignore rarer ones. Return NAN if there is
 * none or more than one, or if a cost is unknown.
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
	double functions; /* number of functions that these probes time; NAN for the sampler */
	double calls; /* number of calls that these probes time; NAN: none */
	double inner, inner_spread; /* cost per call inside the call's measured time */
	double full, full_spread; /* cost per call in the caller's time, INNER included */
	double interrupt,
		interrupt_spread; /* cost of a sample outside of the sampler's BPF program */
	double total; /* cost of all calls: FULL for a function, INNER for a context */
	double share; /* TOTAL / on-CPU time (with probes) of system calls and page faults */
	double contexts; /* number of CALLS that are contexts, such as system calls */
	/* True: CALLS is the number of executed block probes or captured calls, and FULL is the mean cost of one. */
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
	 * Slowdown by probes in percent, or NAN. Two estimates come from the calibration: ESTIMATED_KERNEL_PCT for the time of
	 * system calls and page faults, ESTIMATED_PCT for the command's whole time on one CPU. MEASURED_PCT compares probed runs
	 * with runs without probes.
	 */
	double estimated_kernel_pct, estimated_pct, measured_pct;
	uint32_t boots; /* number of boots; only the first one was calibrated */
};

void analyze_costs_init(struct analyze_costs *costs, const struct profile *p);
void analyze_costs_deinit(struct analyze_costs *costs);

/* Return whether probes of ROW's type timed calls, but the cost of these probes is unknown. */
bool analyze_cost_is_unknown(const struct analyze_cost *row);

/* Return the row of the probe type NAME, or NULL. */
const struct analyze_cost *analyze_cost_find(const struct analyze_costs *costs, const char *name);
