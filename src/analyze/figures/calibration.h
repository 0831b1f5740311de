/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How sure what was subtracted for the probes is. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "profile/profile.h"

/*
 * How far off what a profile's calibration subtracts may be: docs/statistics.md has the formula.
 * Costs and spreads are those of "record.cost."
 */
struct analyze_calibration {
	double inner[PROFILE_N_MECHANISMS], inner_spread[PROFILE_N_MECHANISMS];
	/* The same of what times page faults. */
	double fault_inner, fault_spread;
	uint32_t fault_context; /* UINT32_MAX: none */
	/* What is taken off for a sample, which each PERIOD ticks of on-CPU time bring one of; 0: none. */
	double sample, sample_spread, period;
	bool *alone; /* by context: nothing is timed in it */
	double *callees; /* by context: what may be wrong with 1 tick taken off for callees */
};

void analyze_calibration_init(struct analyze_calibration *c, const struct profile *p);
void analyze_calibration_deinit(struct analyze_calibration *c);

/*
 * What was taken off all CELL's calls for its own probes, in ticks. With cold caches that is more for some cells than for
 * others (docs/accounting.md), which can be told where nothing else was timed in their context.
 */
double analyze_calibration_own(const struct analyze_calibration *c, const struct profile *p,
			       const struct profile_cell *cell);

/* The standard uncertainty of what was taken off all CELL's calls, in ticks. They add up. */
double analyze_calibration_uncertainty(const struct analyze_calibration *c, const struct profile *p,
				       const struct profile_cell *cell);
