/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From what ranges read to what their probes cost: arithmetic, without a kernel. All of it is signed: what a
 * probe costs may come out below 0 where the clock is coarse, and must then be taken off as that.
 */
#pragma once

#include <linux/types.h>
#include <stdbool.h>
#include <stdint.h>

#include "kprotperf/cost.h"

/* The cost of opening a range until it is measured; see range_cost.c. */
#define RECORD_RANGE_PROVISIONAL 1

/* The ranges that are measured. All probes are optimized where nothing else is said. */
enum record_trial {
	TRIAL_PLAIN, /* nothing inside */
	TRIAL_FROM_CALL, /* from an emulated call to a comparison that is executed elsewhere */
	TRIAL_TO_COMPARE, /* to such a comparison */
	TRIAL_IDLE_LEAVE, /* of another frame, with a probe in it that finds nothing to leave */
	TRIAL_IDLE_ENTER, /* is entered once more */
	TRIAL_TO_CALL, /* to an emulated call */
	TRIAL_FROM_COMPARE, /* from a comparison to an emulated jump */
	TRIAL_OUTER, /* of another frame, with the next in it */
	TRIAL_INNER, /* with a probe in it that finds this open, and nothing to leave */
	TRIAL_FROM_JUMP, /* from an emulated jump */
	TRIAL_TO_LIST, /* is left by an action list, */
	TRIAL_FROM_LIST, /* which enters this */
	TRIAL_NOBODY, /* is never entered */
	TRIAL_FROM_RETURN, /* from an emulated return to a comparison; the first of those measured after the others */
	TRIAL_FROM_PREPARED, /* from one as the optimizer leaves it to an emulated jump */
	TRIAL_TO_PREPARED, /* from an emulated call to such a one */
	TRIAL_AROUND, /* with a probe in it that counts a block */
	TRIAL_AROUND_OPEN, /* of another frame, with a probe in it that enters the next, and a list that leaves it */
	TRIAL_OPENED,
	RECORD_N_TRIALS
};

/* Median readings, in ticks. */
struct record_trials {
	/* The reading of a range above its instructions. */
	int64_t more[RECORD_N_TRIALS];
	int64_t listed; /* excluded by the list of FROM_LIST */
	int64_t opened; /* what was excluded of AROUND_OPEN, RECORD_RANGE_PROVISIONAL included */
	uint64_t spread; /* of PLAIN */
	bool further; /* those from FROM_PREPARED on are there; if not, the like of theirs is taken: */
	bool returns; /* FROM_RETURN */
	bool blocks; /* AROUND */
};

struct record_range_costs {
	bool known;
	struct record_trials trials; /* the trials that the costs follow from */
	struct engine_range_cost kinds[ENGINE_RANGE_KINDS]; /* in two's complement */
	int64_t inner; /* time between the readings of the first kind */
	double beyond[ENGINE_RANGE_KINDS]; /* extra cost of a hit over one of the first kind */
	double block; /* a probe that counts a block, of the first kind; 0: not asked for */
	double place_spread; /* of a hit of a breakpoint, by its place in the kernel's table of kprobes */
};

/*
 * The costs by OUT's trials, with INTERRUPTS, the share of the time that these take. False: what it costs to open a
 * range is not known, and half of what it costs to open and close one is taken for it.
 */
bool record_range_costs_solve(struct record_range_costs *out, double interrupts);

/*
 * A list of the kernel's kprobes has 2 BEFORE ticks' worth of others. A breakpoint's own is found halfway through one on average; where
 * the instruction is executed elsewhere, another one is looked for behind it, through to the end of a list. A jump looks for none.
 */
void record_range_costs_add(struct record_range_costs *costs, uint64_t before);

/* Return the cost of a hit of a probe of KIND that counts a block. */
double record_range_cost_block(const struct record_range_costs *costs, enum engine_range_kind kind);
