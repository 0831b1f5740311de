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

/* The cost of opening a range, in ticks, that is set until the true cost is measured. */
#define RECORD_RANGE_PROVISIONAL 1

/*
 * Calibration times these ranges of instructions. Each starts at a probe and ends at a probe. A probe is optimized (a jump) unless
 * the comment says otherwise. At a "stepped" probe, a breakpoint, the kernel single-steps a copy of the instruction.
 */
enum record_trial {
	TRIAL_PLAIN, /* range without a probe inside */
	TRIAL_FROM_CALL, /* range from an emulated call to a stepped comparison */
	TRIAL_TO_COMPARE, /* range that ends at a stepped comparison */
	TRIAL_IDLE_LEAVE, /* range in another stack frame; a probe inside leaves a closed range */
	TRIAL_IDLE_ENTER, /* range that a probe inside enters once more */
	TRIAL_TO_CALL, /* range that ends at an emulated call */
	TRIAL_FROM_COMPARE, /* range from a stepped comparison to an emulated jump */
	TRIAL_OUTER, /* range in another stack frame, around TRIAL_INNER */
	TRIAL_INNER, /* range in which a probe passes its frame, and leaves a closed range */
	TRIAL_FROM_JUMP, /* range that starts at an emulated jump */
	TRIAL_TO_LIST, /* range that ends at a probe with a list of actions */
	TRIAL_FROM_LIST, /* range that starts at the probe at which TRIAL_TO_LIST ends */
	TRIAL_NOBODY, /* a range that no probe enters */
	/* The trials below are measured in a second round: */
	TRIAL_FROM_RETURN, /* range from an emulated return to a stepped comparison */
	TRIAL_FROM_PREPARED, /* range from a prepared comparison to an emulated jump */
	TRIAL_TO_PREPARED, /* range from an emulated call to a prepared comparison */
	TRIAL_AROUND, /* range with a block probe inside */
	TRIAL_AROUND_OPEN, /* range in another stack frame, around TRIAL_OPENED */
	TRIAL_OPENED,
	RECORD_N_TRIALS
};

/* Medians of the times that the trials read, in ticks. */
struct record_trials {
	/* The time read for a range less the time of its own instructions, indexed by trial. */
	int64_t more[RECORD_N_TRIALS];
	int64_t listed; /* time that the list of actions excludes from TRIAL_FROM_LIST */
	int64_t opened; /* time excluded from TRIAL_AROUND_OPEN, with RECORD_RANGE_PROVISIONAL */
	uint64_t spread; /* median absolute deviation of TRIAL_PLAIN */
	/* If a trial was not measured, a similar trial replaces it. */
	bool further; /* the trials of the second round were measured */
	bool returns; /* TRIAL_FROM_RETURN was measured */
	bool blocks; /* TRIAL_AROUND was measured */
};

struct record_range_costs {
	bool known;
	struct record_trials trials; /* the trials from which the costs are computed */
	struct engine_range_cost kinds[ENGINE_RANGE_KINDS]; /* in ticks, in two's complement */
	int64_t inner; /* cost in a range's own time, with two optimized probes */
	double beyond[ENGINE_RANGE_KINDS]; /* additional cost of a hit over an optimized probe's */
	double block; /* cost of an optimized block probe; 0: not measured */
	double place_spread; /* deviation of a breakpoint's cost by position in the hash table */
};

/*
 * Compute the costs from OUT's trials. INTERRUPTS is the share of the time that interrupts take. Return false if the cost of
 * opening a range was not measured, and half the cost of opening and closing a range is assumed.
 */
bool record_range_costs_solve(struct record_range_costs *out, double interrupts);

/*
 * Add the time in which the kernel searches its lists of kprobes. A search through a whole list takes 2 * BEFORE ticks. A
 * breakpoint's kprobe is found after BEFORE ticks on average. After a stepped instruction, the kernel searches another list to the
 * end. A jump needs no search.
 */
void record_range_costs_add(struct record_range_costs *costs, uint64_t before);

/* Return the cost of a hit of a probe of KIND that counts a block. */
double record_range_cost_block(const struct record_range_costs *costs, enum engine_range_kind kind);
