/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cost of probes that the caches have lost.
 *
 * Calibration calls a probed function again and again, which finds all of the probe in the caches nearest to the CPU. A
 * workload that reads megabytes between two syscalls does not: on a machine with 2 MiB of L2 a probed syscall cost 118 ns in
 * a loop and 971 ns behind a walk over 8 MiB. So it is calibrated at both ends, and what lies between them is read off
 * what the programs take in the workload itself: their closings (kprotperf/engine.h), of which one in ENGINE_CLOSINGS is
 * timed. docs/accounting.md has the formula, and how well it holds.
 */
#pragma once

#include <linux/types.h>
#include <stddef.h>
#include <stdint.h>

#include "kprotperf/engine.h"
#include "record/cost/measure.h"

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
