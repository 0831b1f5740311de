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
 * The repetitions of a profile: the boots of its runs of one kind if there are several, else these runs. On a real clock they
 * are the merged recordings, if there are several: runs do not show how recordings differ.
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
 * Return whether the recordings merged into A and B were made in turn, at least as often as in random order. Otherwise a change
 * of the machine may lie between A and B only. Return false if the times of the recordings are unknown.
 */
bool analyze_recordings_alternate(const struct profile *a, const struct profile *b);

/* One repetition's sums in a row. */
struct analyze_sums {
	double calls, total;
	uint32_t repetition;
};

/* A row's sums. A repetition may have several. All zero is empty. */
struct analyze_sample {
	vec_of(struct analyze_sums, sums);
	double uncertainty; /* of the total of all, in ticks: a standard deviation */
};

void analyze_sample_deinit(struct analyze_sample *s);
void analyze_sample_add(struct analyze_sample *s, uint32_t repetition, double calls, double total);
/* Add PART. Uncertainties add up. */
void analyze_sample_merge(struct analyze_sample *s, const struct analyze_sample *part);

/* Return the moments of the time of a call, over the repetitions with calls. Add nothing to S after this. */
struct analyze_moments analyze_sample_moments(struct analyze_sample *s);
