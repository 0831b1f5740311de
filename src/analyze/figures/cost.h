/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The cost of the probes: calibrated, subtracted, and as a slowdown of the workload. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "profile/profile.h"

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
	/*
	 * The time of all syscalls and page faults as measured, and the part that was subtracted, with that of
	 * samples.
	 */
	double oncpu, subtracted;
	/*
	 * How much longer things took than without probes, in percent; NAN where nothing is known.
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
