/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Compute the costs of probes (struct engine_cost) from readings without and with probes. This is arithmetic, without a kernel.
 * Costs are never below 0 here.
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
 * Compute COST from measurements of a call: BASE has the times of the call without probes, WITH the times with probes, and INNER
 * the times that the probes read. EMPTY is the time of the called function without probes. The series are sorted in place.
 */
void record_cost_solve(struct engine_cost *cost, struct record_series *base,
		       struct record_series *with, struct record_series *inner, uint64_t empty);

/* Set NESTED of COST. OUTER is the cost of probing a function with N_ARGS arguments that calls other probed functions. */
void record_cost_solve_nested(struct engine_cost *cost, const struct engine_cost *outer,
			      uint32_t n_args);

/*
 * Set FULL of COST. BASE has times of rounds without probes. WITH has times of rounds with probes, with N probed calls in all
 * these rounds. NESTED of COST must be known: each round has this cost once.
 */
void record_cost_solve_multi(struct engine_cost *cost, struct record_series *base,
			     struct record_series *with, uint64_t n);

/* Medians of two times: the time of a call, and the time from the last probe's clock reading to the end of the call. */
struct record_timed {
	uint64_t all, after;
};

/*
 * Set TRAMPOLINE and AFTER_HANDLERS of COST. NONE, ONE and TWO are times with 0, 1 and 2 probes on the return. The first probe
 * adds the return trampoline and a handler. The second probe adds a handler, and work of the kernel after both handlers. Return
 * -ERANGE if the clock is too coarse.
 */
int record_cost_solve_trampoline(struct engine_cost *cost, const struct record_timed *none,
				 const struct record_timed *one, const struct record_timed *two);

/*
 * Return the uncertainty of a cost on a real clock, as a median absolute deviation. It unites four errors. The readings deviate
 * by READINGS, and their clock advances by STEP. The cost before the runs, FIRST, differs from that after them, AGAIN. A workload
 * differs from calibration's loop. And the cost that cold caches have added in the runs, IN_RUNS - FIRST, is an estimate.
 */
uint64_t record_cost_error(uint64_t readings, uint64_t step, uint64_t first, uint64_t again,
			   double in_runs);

/* Return whether the costs FIRST and AGAIN differ by more than two standard deviations. READINGS is the readings' deviation. */
bool record_cost_disagrees(uint64_t readings, uint64_t first, uint64_t again);

/* Increase COST by SHARE, the share of the time that interrupts take: interrupts during a probe are subtracted with the probe. */
void record_cost_add_interrupts(struct engine_cost *cost, double share);

/*
 * The cost of probes with cold caches.
 *
 * Calibration calls a probed function in a loop, so the nearest caches hold all data of the probe. In a workload that reads
 * megabytes between two syscalls the caches lose this data: on a machine with 2 MiB of L2 cache, a probed syscall cost 118 ns in a
 * loop and 971 ns after a walk over 8 MiB. So calibration measures both. The cost in a workload is interpolated by the workload's
 * closings (kprotperf/engine.h), of which one in ENGINE_CLOSINGS is timed. docs/accounting.md has the formula and its accuracy.
 */

/* Memory larger than the L2 cache. A walk over it before each round makes the caches cold. */
struct record_walk {
	char *memory; /* NULL: there is no memory to walk over */
	size_t size;
};

/* Allocate the memory. If that fails, record_walk() does nothing. */
void record_walk_init(struct record_walk *w);
void record_walk_deinit(struct record_walk *w);
void record_walk(const struct record_walk *w);

/*
 * Return how cold the caches were in the calls that CELL counts in N_SHARDS shards. 0: as in calibration's loop; 1: as after a
 * walk; above 1: even colder. Return 0 also if too few closings were timed, or if closings take no longer with cold caches.
 */
double record_coldness(const struct engine_cell *cell, uint32_t n_shards,
		       const struct engine_cost *cost);

/* Costs of a mechanism's probes in a run, in ticks, with the caches and timed callees of the workload. */
struct record_cold_costs {
	double calls, inner, full; /* number of calls, and sums of their INNER and FULL */
};

/* Add N calls with COLDNESS, of which ENCLOSING had timed callees. Return how much a call's INNER exceeds INNER of COST. */
double record_cold_add(struct record_cold_costs *sums, const struct engine_cost *cost, uint64_t n,
		       uint64_t enclosing, double coldness);
