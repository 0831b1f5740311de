/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the probes of ranges cost, measured on the running kernel before the workload starts.
 */
#ifndef KPROTPERF_RECORD_RANGE_COST_H
#define KPROTPERF_RECORD_RANGE_COST_H

#include <linux/types.h>
#include <stdbool.h>
#include <stdint.h>

#include "kprotperf/engine.h"
#include "profile/profile.h"

struct record_engine;
struct record_empty; /* record/calibrate.h */

struct record_range_costs {
	bool known;
	struct engine_range_cost kinds[ENGINE_RANGE_KINDS];
	uint64_t
		inner; /* what lies between the readings of the first kind, and how much that varies */
	uint64_t spread;
	/* The parts of a hit behind our reading of the clock and before it, where both are of a kind. */
	struct {
		int64_t tail, head;
	} parts[ENGINE_RANGE_KINDS];
	int64_t open,
		several; /* of the first kind, as measured; of a list less the time it takes itself */
	double beyond[ENGINE_RANGE_KINDS]; /* what a hit costs more than one of the first kind */
	double block; /* a probe that counts a block, of the first kind; 0: not asked for */
};

/* What a hit of such a probe costs, of that kind. */
double record_range_cost_block(const struct record_range_costs *costs, enum engine_range_kind kind);

/*
 * Measures, and tells the engine, which must have been started and not armed. -errno where the kernel's
 * test function is not as it takes: then nothing is subtracted. INTERRUPTS is the share of the time
 * that they take.
 */
int record_calibrate_ranges(struct record_engine *e, enum profile_clock clock,
			    const struct record_empty *empty, double interrupts,
			    struct record_range_costs *out);

/*
 * What there was no place for, after that: jumps emulated, and probes that count blocks, by PROBE, one that is
 * left for it; RECORD_NO_PROBE: there are none.
 */
#define RECORD_NO_PROBE UINT32_MAX
int record_calibrate_blocks(struct record_engine *e, enum profile_clock clock,
			    const struct record_empty *empty, double interrupts, uint32_t probe,
			    struct record_range_costs *out);

/* In the words of "record.cost.kprobe-range". For free(). */
char *record_range_cost_text(const struct record_range_costs *costs);

#endif
