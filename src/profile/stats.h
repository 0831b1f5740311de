/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Statistics of calls: number, times and distribution. */
#pragma once

#include <stdint.h>

#include "base/alloc.h"

/* A count that could not be taken. Tables show "not counted", JSON has null. */
#define PROFILE_NOT_COUNTED UINT64_MAX

/* A nonempty histogram slot (kprotperf/hist.h). Lists ascend by slot. Packed, since buckets take most of a profile's memory. */
struct profile_bucket {
	uint32_t slot;
	uint64_t count;
} __attribute__((packed, aligned(4)));

/*
 * Statistics of the calls of one cell (run, function and context). WALL and ONCPU include the probes' time; COST is its estimate
 * (0: not calibrated). SELF excludes COST. If COST is too high, ONCPU - COST and SELF may be negative. The distribution (sumsq,
 * min, max, buckets) is of on-CPU times less their cost, or 0 for a negative time (PROFILE_INFO_OVERCORRECTED).
 *
 * Control may leave an inlined function and come back during one call. Each stay (excursion) is timed separately. The distribution
 * of an inlined function is of ENTRIES excursions; its mean per call is a sum divided by CALLS.
 */
struct profile_stats {
	uint64_t calls; /* for an inlined function: executions of its entry address */
	uint64_t entries; /* for an inlined function: excursions; else NOT_COUNTED */
	uint64_t errors; /* contexts only: calls that returned -4095 to -1; else NOT_COUNTED */
	uint64_t wall; /* sum of ticks from entry to return */
	uint64_t oncpu; /* wall without the time switched out */
	int64_t self; /* oncpu - cost, without the oncpu - cost of timed callees */
	uint64_t cost;
	double sumsq;
	uint64_t min, max; /* both 0 if no call was observed */
	vec_of(struct profile_bucket, buckets);
};

/* Add N to *SUM. If only one of them is NOT_COUNTED, *SUM becomes the other. */
void profile_count_add(uint64_t *sum, uint64_t n);

/* Return the number of observed times: calls, or excursions of an inlined function. */
uint64_t profile_stats_observed(const struct profile_stats *s);

/* Set S to 0 calls, with errors and entries NOT_COUNTED. */
void profile_stats_init(struct profile_stats *s);
void profile_stats_deinit(struct profile_stats *s);
/* Add SRC to DST. Errors and entries stay NOT_COUNTED only if both are NOT_COUNTED. */
void profile_stats_merge(struct profile_stats *dst, const struct profile_stats *src);
void profile_stats_bucket_add(struct profile_stats *s, uint32_t slot, uint64_t count);
/* Return the Q-quantile (0 to 1), interpolated linearly in its slot, between min and max. NAN: no values. */
double profile_stats_quantile(const struct profile_stats *s, double q);
