/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --max-overhead: how much of the workload's CPU time the probes on functions take, looked at while it
 * runs, and the busiest of them detached where that is too much. docs/accounting.md says what counts.
 */
#pragma once

#include <stdint.h>

#include "profile/profile.h"
#include "record/cost/calibrate.h"
#include "record/engine/engine.h"

/* Time between two looks. */
#define RECORD_OVERHEAD_LOOK_MS 100

struct record_overhead;

/*
 * For the sites of P that are attached, so after the last of them. -EOPNOTSUPP, reported, where
 * what a mechanism among them costs is not known.
 */
int record_overhead_create(struct record_probes *probes, struct profile *p,
			   const struct record_calibration *costs, double max_pct,
			   struct record_overhead **out);
void record_overhead_destroy(struct record_overhead *o); /* accepts NULL */

/* A run begins, all counters having been set to zero; RUNS_TO_COME after it. */
void record_overhead_begin(struct record_overhead *o, uint32_t runs_to_come);

/* Looks, detaches and says so. */
void record_overhead_look(struct record_overhead *o);

/* The work of a site's probes so far. */
struct record_overhead_probe {
	uint32_t site;
	uint64_t full; /* ticks per call */
	uint64_t calls, before; /* in this run: now, and at the last look */
	uint64_t cost; /* of those since: set by record_overhead_choose() */
};

/*
 * Sorts PROBES, the most expensive first, and returns how many of these must go so that what the others cost, of what is
 * left of ONCPU, is MAX_PCT percent at most. COST is what all cost.
 */
uint32_t record_overhead_choose(struct record_overhead_probe *probes, uint32_t n, double max_pct,
				double oncpu, double *cost);

/*
 * The first CHOSEN of PROBES, in SITES, which has room for N; and behind them what must be attached anew without them,
 * since it shares their link. Returns the number of the latter.
 */
uint32_t record_overhead_sites(const struct profile *p, const struct record_overhead_probe *probes,
			       uint32_t n, uint32_t chosen, uint32_t *sites);
