/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * --max-overhead: how much of the workload's CPU time the probes on functions take, looked at while it
 * runs, and the busiest of them detached where that is too much. docs/accounting.md says what counts.
 */
#ifndef KPROTPERF_RECORD_OVERHEAD_H
#define KPROTPERF_RECORD_OVERHEAD_H

#include <stdint.h>

#include "profile/profile.h"
#include "record/calibrate.h"
#include "record/engine.h"

/* How long to wait between two looks. */
#define RECORD_OVERHEAD_LOOK_MS 100

struct record_overhead;

/*
 * For the sites of P that are attached to E, so after the last of them. -EOPNOTSUPP, reported, where
 * what a mechanism among them costs is not known.
 */
int record_overhead_create(struct record_engine *e, struct profile *p,
			   const struct record_calibration *costs, double max_pct,
			   struct record_overhead **out);
void record_overhead_destroy(struct record_overhead *o); /* accepts NULL */

/* A run begins, all counters having been set to zero; RUNS_TO_COME after it. */
void record_overhead_begin(struct record_overhead *o, uint32_t runs_to_come);

/* Looks, detaches and says so. */
void record_overhead_look(struct record_overhead *o);

#endif
