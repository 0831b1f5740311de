/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Computing the costs of ranges' probes from readings: arithmetic, without a kernel. All figures are signed: with a
 * coarse clock a cost may come out below 0, and must be subtracted with its sign.
 */
#pragma once

#include <linux/types.h>
#include <stdbool.h>
#include <stdint.h>

#include "kprotperf/cost.h"

/* The cost of opening a range until it is measured; see range_cost.c. */
#define RECORD_RANGE_PROVISIONAL 1

/*
 * The ranges that are measured. Probes not mentioned are jumps of the optimizer. A "stepped" probe is a breakpoint: the kernel
 * single-steps a copy of its instruction.
 */
enum record_trial {
	TRIAL_PLAIN, /* no probe inside */
	TRIAL_FROM_CALL, /* starts at an emulated call, ends at a stepped comparison */
	TRIAL_TO_COMPARE, /* ends at a stepped comparison */
	TRIAL_IDLE_LEAVE, /* has another frame; a probe inside leaves a range that is not open */
	TRIAL_IDLE_ENTER, /* a probe inside enters it once more */
	TRIAL_TO_CALL, /* ends at an emulated call */
	TRIAL_FROM_COMPARE, /* starts at a stepped comparison, ends at an emulated jump */
	TRIAL_OUTER, /* has another frame; INNER is inside */
	TRIAL_INNER, /* a probe inside passes its frame, and leaves a range that is not open */
	TRIAL_FROM_JUMP, /* starts at an emulated jump */
	TRIAL_TO_LIST, /* ends at a list of actions */
	TRIAL_FROM_LIST, /* starts at the same list */
	TRIAL_NOBODY, /* never entered */
	/* Measured in a second round: */
	TRIAL_FROM_RETURN, /* starts at an emulated return, ends at a stepped comparison */
	TRIAL_FROM_PREPARED, /* starts at a prepared comparison, ends at an emulated jump */
	TRIAL_TO_PREPARED, /* starts at an emulated call, ends at a prepared comparison */
	TRIAL_AROUND, /* a block probe is inside */
	TRIAL_AROUND_OPEN, /* has another frame; OPENED is inside, left by a list */
	TRIAL_OPENED,
	RECORD_N_TRIALS
};

/* Medians of the readings, in ticks. */
struct record_trials {
	/* The reading of a range less its own instructions, indexed by trial. */
	int64_t more[RECORD_N_TRIALS];
	int64_t listed; /* time excluded from FROM_LIST, by the list */
	int64_t opened; /* time excluded from AROUND_OPEN, including RECORD_RANGE_PROVISIONAL */
	uint64_t spread; /* median absolute deviation of PLAIN */
	/* These trials were measured. If not, similar trials stand in. */
	bool further; /* trials of the second round */
	bool returns; /* FROM_RETURN */
	bool blocks; /* AROUND */
};

struct record_range_costs {
	bool known;
	struct record_trials trials; /* the trials that the costs follow from */
	struct engine_range_cost kinds[ENGINE_RANGE_KINDS]; /* in ticks, in two's complement */
	int64_t inner; /* cost in a range's own reading, with both probes of the first kind */
	double beyond[ENGINE_RANGE_KINDS]; /* extra cost of a hit over the first kind, by kind */
	double block; /* cost of a block probe of the first kind; 0: not measured */
	double place_spread; /* spread of a breakpoint's cost by its place in the hash table */
};

/*
 * Compute the costs from OUT's trials. INTERRUPTS is the share of the time that interrupts take. Return false if the cost
 * of opening a range was not measured: then it is assumed to be half the cost of opening and closing one.
 */
bool record_range_costs_solve(struct record_range_costs *out, double interrupts);

/*
 * Add the time of searching the kernel's lists of kprobes. Searching a whole list takes 2 * BEFORE ticks. A breakpoint's kprobe is
 * found halfway through its list on average. After a stepped instruction, the kernel searches another list to the end. A hit of a
 * jump searches none.
 */
void record_range_costs_add(struct record_range_costs *costs, uint64_t before);

/* Return the cost of a hit of a probe of KIND that counts a block. */
double record_range_cost_block(const struct record_range_costs *costs, enum engine_range_kind kind);
