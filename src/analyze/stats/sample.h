/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The values of a row in each repetition of one side. */
#pragma once

#include <stdint.h>

#include "analyze/stats/statistics.h"
#include "base/alloc.h"
#include "profile/profile.h"

enum analyze_unit {
	ANALYZE_UNIT_RUN,
	ANALYZE_UNIT_BOOT,
	ANALYZE_UNIT_RECORDING,
};

#define ANALYZE_NO_REPETITION UINT32_MAX

/*
 * The repetitions of a profile: the boots of its runs of one kind if there are several, else these runs. For one boot on a real
 * clock, the repetitions are the merged recordings if there are several, since recordings differ by more than their runs.
 */
struct analyze_repetitions {
	enum analyze_unit unit;
	uint32_t n, boots; /* BOOTS: number of boots of these runs, whatever UNIT is */
	uint32_t *of_run; /* indexed by run; ANALYZE_NO_REPETITION for other kinds */
};

void analyze_repetitions_init(struct analyze_repetitions *r, const struct profile *p,
			      enum profile_run_kind kind);
void analyze_repetitions_deinit(struct analyze_repetitions *r);

/*
 * Return whether the recordings merged into A and B alternate in time, at least as often as in random order. If they do not, a
 * change of the machine between them may look like a difference of A and B. Return false if the times are unknown.
 */
bool analyze_recordings_alternate(const struct profile *a, const struct profile *b);

/* A row's calls and their total time in one repetition. */
struct analyze_sums {
	double calls, total;
	uint32_t repetition;
};

/* The sums of a row in all repetitions. A repetition may have several sums. An empty sample is all zero. */
struct analyze_sample {
	vec_of(struct analyze_sums, sums);
	double uncertainty; /* standard deviation of the sum of all totals, in ticks */
};

void analyze_sample_deinit(struct analyze_sample *s);
void analyze_sample_add(struct analyze_sample *s, uint32_t repetition, double calls, double total);
/* Add the sums and the uncertainty of PART. */
void analyze_sample_merge(struct analyze_sample *s, const struct analyze_sample *part);

/* Return mean and variance of the time per call, over the repetitions with calls. Add nothing to S after this. */
struct analyze_moments analyze_sample_moments(struct analyze_sample *s);
