/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From what was read without and with probes to what they cost (struct engine_cost): arithmetic, without a kernel.
 * The cost of a probe is never below 0 here.
 */
#pragma once

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kprotperf/cost.h"
#include "kprotperf/engine.h"
#include "record/cost/measure.h"

/* A - B, but 0 where B is more. */
static inline uint64_t record_cost_less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/*
 * Set COST by one probed call: BASE is the time around it without probes, WITH the same with them, INNER their reading of
 * the call, EMPTY its own time. Sorts the series.
 */
void record_cost_solve(struct engine_cost *cost, struct record_series *base,
		       struct record_series *with, struct record_series *inner, uint64_t empty);

/* OUTER is that of a call that encloses others, of a function with N_ARGS arguments. */
void record_cost_solve_nested(struct engine_cost *cost, const struct engine_cost *outer,
			      uint32_t n_args);

/*
 * The same of many calls: N in all rounds, whose functions' places cost EXTRA in all. NESTED of COST, which is in there
 * once a round, must be known.
 */
void record_cost_solve_multi(struct engine_cost *cost, struct record_series *base,
			     struct record_series *with, uint64_t n);

/* Median times of a call, and from its last probe's stamp to its end. */
struct record_timed {
	uint64_t all, after;
};

/*
 * With no, one and two probes on the return: the first takes the return trampoline and a handler, the second one
 * more handler; and what the kernel does for it after both. -ERANGE: the clock is too coarse.
 */
int record_cost_solve_trampoline(struct engine_cost *cost, const struct record_timed *none,
				 const struct record_timed *one, const struct record_timed *two);

/*
 * Return the uncertainty of a cost on a real clock, as a median absolute deviation. It has four parts: the spread of READINGS,
 * by a clock that advances by STEP; the difference between calibration FIRST and AGAIN after the runs; the difference between
 * a workload's loop and calibration's; and the uncertainty of what cold caches added to FIRST, which was IN_RUNS on average.
 */
uint64_t record_cost_error(uint64_t readings, uint64_t step, uint64_t first, uint64_t again,
			   double in_runs);

/* Return whether AGAIN is further from FIRST than two standard deviations of what READINGS and loops explain. */
bool record_cost_disagrees(uint64_t readings, uint64_t first, uint64_t again);

/* Interrupts that hit a probe are charged to what is probed, as far as that is not taken off: SHARE of the time. */
void record_cost_add_interrupts(struct engine_cost *cost, double share);

/*
 * The cost of probes that the caches have lost.
 *
 * Calibration calls a probed function again and again, which finds all of the probe in the caches nearest to the CPU. A
 * workload that reads megabytes between two syscalls does not: on a machine with 2 MiB of L2 a probed syscall cost 118 ns in
 * a loop and 971 ns behind a walk over 8 MiB. So it is calibrated at both ends, and what lies between them is read off
 * what the programs take in the workload itself: their closings (kprotperf/engine.h), of which one in ENGINE_CLOSINGS is
 * timed. docs/accounting.md has the formula, and how well it holds.
 */

/* Memory to walk over before each round, more than the L2 cache holds. */
struct record_walk {
	char *memory; /* NULL: none */
	size_t size;
};

/* Room for that; where there is none to be had, nothing is walked over. */
void record_walk_init(struct record_walk *w);
void record_walk_deinit(struct record_walk *w);
void record_walk(const struct record_walk *w);

/*
 * Return how cold the calls of a cell were, by its N_SHARDS shards. 0: as in calibration; 1: as after a walk; more: colder
 * still. 0 if too little was read, or COST does not say.
 */
double record_coldness(const struct engine_cell *cell, uint32_t n_shards,
		       const struct engine_cost *cost);

/* The mean cost of a mechanism's calls, in ticks, with the caches and the timed callees of the workload. */
struct record_cold_costs {
	double calls, inner, full; /* sums over the calls */
};

/* Adds N calls of that coldness, in ENCLOSING of which others were timed; returns what INNER of COST is short of, per call. */
double record_cold_add(struct record_cold_costs *sums, const struct engine_cost *cost, uint64_t n,
		       uint64_t enclosing, double coldness);
