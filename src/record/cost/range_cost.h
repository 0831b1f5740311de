/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compute the costs of probes of inlined functions (ranges) from readings. This is arithmetic, without a kernel. All figures are
 * signed: a coarse clock may give a cost below 0, which must be subtracted with its sign.
 */
#pragma once

#include <linux/types.h>
#include <stdbool.h>
#include <stdint.h>

#include "kprotperf/cost.h"

/* Provisional cost of opening a range, in ticks, until the true cost is known. */
#define RECORD_RANGE_PROVISIONAL 1

/*
 * Calibration times these ranges of instructions. Each starts at a probe and ends at a probe. A probe is optimized (a jump) unless
 * the comment says otherwise. At a "stepped" probe, a breakpoint, the kernel single-steps a copy of the instruction.
 */
enum record_trial {
	TRIAL_PLAIN, /* range without a probe inside */
	TRIAL_FROM_CALL, /* from an emulated call to a stepped comparison */
	TRIAL_TO_COMPARE, /* ends at a stepped comparison */
	TRIAL_IDLE_LEAVE, /* in another stack frame; a probe inside leaves a closed range */
	TRIAL_IDLE_ENTER, /* a probe inside enters the open range again */
	TRIAL_TO_CALL, /* range that ends at an emulated call */
	TRIAL_FROM_COMPARE, /* range from a stepped comparison to an emulated jump */
	TRIAL_OUTER, /* in another stack frame; TRIAL_INNER is inside */
	TRIAL_INNER, /* a probe inside searches past its frame for a closed range */
	TRIAL_FROM_JUMP, /* range that starts at an emulated jump */
	TRIAL_TO_LIST, /* range that ends at a probe with a list of actions */
	TRIAL_FROM_LIST, /* range that starts at the probe at which TRIAL_TO_LIST ends */
	TRIAL_NOBODY, /* a range that no probe enters */
	/* The trials below are measured in a second round: */
	TRIAL_FROM_RETURN, /* range from an emulated return to a stepped comparison */
	TRIAL_FROM_PREPARED, /* range from a prepared comparison to an emulated jump */
	TRIAL_TO_PREPARED, /* range from an emulated call to a prepared comparison */
	TRIAL_AROUND, /* range with a block probe inside */
	TRIAL_AROUND_OPEN, /* in another stack frame; TRIAL_OPENED is inside */
	TRIAL_OPENED,
	RECORD_N_TRIALS
};

/* Medians of the times that probes read for the trials, in ticks. */
struct record_trials {
	/* Times that probes read for a range, less the time of the range's own instructions, indexed by trial. */
	int64_t more[RECORD_N_TRIALS];
	int64_t listed; /* time that the list of actions excludes from TRIAL_FROM_LIST */
	int64_t opened; /* time excluded from TRIAL_AROUND_OPEN at the provisional cost */
	uint64_t spread; /* median absolute deviation of TRIAL_PLAIN */
	/* Each flag below is false if trials were not measured: similar trials then replace them. */
	bool further; /* the trials of the second round were measured */
	bool returns; /* TRIAL_FROM_RETURN was measured */
	bool blocks; /* TRIAL_AROUND was measured */
};

struct record_range_costs {
	bool known;
	struct record_trials trials; /* the trials from which the costs are computed */
	struct engine_range_cost kinds[ENGINE_RANGE_KINDS]; /* in ticks, in two's complement */
	int64_t inner; /* cost that a range's own time contains if both probes are optimized */
	double beyond[ENGINE_RANGE_KINDS]; /* additional cost of a hit over an optimized probe's */
	double block; /* cost of an optimized block probe; 0: not measured */
	double place_spread; /* spread of a breakpoint's cost over positions in the hash table */
};

/*
 * Compute the costs from OUT's trials. INTERRUPTS is the share of the time that interrupts take. If the cost of opening a range
 * was not measured, assume half the cost of opening and closing a range, and return false.
 */
bool record_range_costs_solve(struct record_range_costs *out, double interrupts);

/*
 * Add the time of the kernel's searches in its lists of kprobes to COSTS. A search through a whole list takes 2 * BEFORE ticks. On
 * average, the kernel finds a breakpoint's kprobe after BEFORE ticks. After a stepped instruction, the kernel searches another
 * list to the end. Jumps need no search.
 */
void record_range_costs_add(struct record_range_costs *costs, uint64_t before);

/* Return the cost of a hit of a block probe that has the kind KIND. */
double record_range_cost_block(const struct record_range_costs *costs, enum engine_range_kind kind);
