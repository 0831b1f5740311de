/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Statistics of calls: their number, times and distribution. */
#pragma once

#include <stdint.h>

#include "base/alloc.h"

/* The value of a count that could not be taken: shown as "not counted", null in JSON, never as 0. */
#define PROFILE_NOT_COUNTED UINT64_MAX

/*
 * One nonempty histogram slot, as in kprotperf/hist.h; a list of buckets ascends by slot. Packed, since buckets take most of a
 * merged profile's memory.
 */
struct profile_bucket {
	uint32_t slot;
	uint64_t count;
} __attribute__((packed, aligned(4)));

/*
 * The calls of one cell. WALL and ONCPU are as measured. COST is the estimated time that probes added to both (0: not calibrated).
 * SELF excludes it. If calibration overestimates the cost, ONCPU less COST and SELF may be negative; they are not clamped to 0.
 * The distribution (sumsq, min, max, buckets) is of on-CPU times less their cost, with 0 for a call where that is negative
 * (PROFILE_INFO_OVERCORRECTED).
 *
 * Control may leave an inlined body and come back during one call. Each such stay is timed as one of ENTRIES excursions. The
 * distribution of a range is of excursions; the mean per call is a sum divided by CALLS.
 */
struct profile_stats {
	uint64_t calls; /* calls; a range: executions of its entry, see struct profile_site */
	uint64_t entries; /* a range: excursions into it; other sites: NOT_COUNTED */
	uint64_t errors; /* calls that returned -4095 to -1; contexts only, else NOT_COUNTED */
	uint64_t wall; /* sum of times from entry to return */
	uint64_t oncpu; /* wall less the time switched out */
	int64_t self; /* oncpu less cost, less the same of timed callees */
	uint64_t cost;
	double sumsq;
	uint64_t min, max; /* both 0 where nothing was observed */
	vec_of(struct profile_bucket, buckets);
};

/* *SUM += N, where either may be NOT_COUNTED: the sum of what was counted. */
void profile_count_add(uint64_t *sum, uint64_t n);

/* Return the number of times in the sums and the distribution: calls, or a range's excursions. */
uint64_t profile_stats_observed(const struct profile_stats *s);

/* Set S to no calls, with errors and entries NOT_COUNTED. */
void profile_stats_init(struct profile_stats *s);
void profile_stats_deinit(struct profile_stats *s);
/* Adds SRC to DST; errors and entries stay NOT_COUNTED only if both are. */
void profile_stats_merge(struct profile_stats *dst, const struct profile_stats *src);
/* Adds COUNT to the histogram's SLOT. */
void profile_stats_bucket_add(struct profile_stats *s, uint32_t slot, uint64_t count);
/* Return the Q-quantile (0 to 1) of the distribution, interpolated linearly in its slot, between min and max; NAN: no values. */
double profile_stats_quantile(const struct profile_stats *s, double q);
