/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Computing the costs of probes (struct engine_cost) from readings without and with probes: arithmetic, without a
 * kernel. The cost of a probe is never below 0 here.
 */
#pragma once

#include <linux/types.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kprotperf/cost.h"
#include "kprotperf/engine.h"
#include "record/cost/measure.h"

/* Return A - B, or 0 if B is larger. */
static inline uint64_t record_cost_less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/*
 * Set COST from series of one call: BASE has the times around it without probes, WITH the times with probes, and INNER the
 * probes' readings of the call. EMPTY is the call's own time. Sorts the series.
 */
void record_cost_solve(struct engine_cost *cost, struct record_series *base,
		       struct record_series *with, struct record_series *inner, uint64_t empty);

/* Set NESTED of COST from OUTER, the cost of probing a function with N_ARGS arguments whose call encloses others. */
void record_cost_solve_nested(struct engine_cost *cost, const struct engine_cost *outer,
			      uint32_t n_args);

/*
 * Set FULL of COST from N calls in all rounds: BASE has the times of rounds without probes, WITH the times with probes. NESTED of
 * COST must be known; it is spent once in each round.
 */
void record_cost_solve_multi(struct engine_cost *cost, struct record_series *base,
			     struct record_series *with, uint64_t n);

/* Median times: of a call, and from its last probe's stamp to the call's end. */
struct record_timed {
	uint64_t all, after;
};

/*
 * Set TRAMPOLINE and AFTER_HANDLERS of COST from times with no, one and two probes on the return. The first probe adds the return
 * trampoline and a handler. The second probe adds a handler, and the kernel's work for it after both handlers. Return -ERANGE if
 * the clock is too coarse.
 */
int record_cost_solve_trampoline(struct engine_cost *cost, const struct record_timed *none,
				 const struct record_timed *one, const struct record_timed *two);

/*
 * Return the uncertainty of a cost on a real clock, as a median absolute deviation. It has four parts: the spread READINGS, by a
 * clock that advances by STEP; the difference between calibration's results before (FIRST) and after the runs (AGAIN); the
 * difference between a workload's loop and calibration's; and the uncertainty of what cold caches added to FIRST, which made the
 * average in the runs IN_RUNS.
 */
uint64_t record_cost_error(uint64_t readings, uint64_t step, uint64_t first, uint64_t again,
			   double in_runs);

/* Return whether FIRST and AGAIN differ by more than two standard deviations, given the spread READINGS and that between loops. */
bool record_cost_disagrees(uint64_t readings, uint64_t first, uint64_t again);

/* Increase COST by SHARE, the share of the time that interrupts take: interrupts during a probe are subtracted with the probe. */
void record_cost_add_interrupts(struct engine_cost *cost, double share);

/*
 * The cost of probes with cold caches.
 *
 * Calibration calls a probed function in a loop, so that the nearest caches have all data of the probe. In a workload that
 * reads megabytes between two syscalls they do not: on a machine with 2 MiB of L2, a probed syscall cost 118 ns in a loop and
 * 971 ns after a walk over 8 MiB. So calibration measures both, and the cost in a workload is interpolated by the time that
 * the programs take there: their closings (kprotperf/engine.h), of which one in ENGINE_CLOSINGS is timed. docs/accounting.md
 * has the formula, and how well it holds.
 */

/* Memory to walk over before each round, more than the L2 cache holds. */
struct record_walk {
	char *memory; /* NULL: none */
	size_t size;
};

/* Allocate the memory. If that fails, record_walk() does nothing. */
void record_walk_init(struct record_walk *w);
void record_walk_deinit(struct record_walk *w);
void record_walk(const struct record_walk *w);

/*
 * Return how cold the caches were in the calls of a cell of N_SHARDS shards. 0: as in calibration; 1: as after a walk; above 1:
 * even colder. Return 0 also if there are too few closings, or if those in COST are too similar.
 */
double record_coldness(const struct engine_cell *cell, uint32_t n_shards,
		       const struct engine_cost *cost);

/* The cost of a mechanism's probes, in ticks, with the caches and the timed callees of the workload. */
struct record_cold_costs {
	double calls, inner, full; /* sums over the calls */
};

/* Add N calls with COLDNESS; ENCLOSING of these enclosed timed calls. Return how much the inner cost of each exceeds COST's. */
double record_cold_add(struct record_cold_costs *sums, const struct engine_cost *cost, uint64_t n,
		       uint64_t enclosing, double coldness);
