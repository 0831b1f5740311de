/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The values of one row in each repetition (run, boot or recording) of a profile. */
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
 * The repetitions of a profile: boots if there are several, else runs. With one boot and times in ns, the repetitions
 * are the merged recordings if there are several, since recordings differ by more than their runs. Skip other kinds of runs.
 */
struct analyze_repetitions {
	enum analyze_unit unit;
	uint32_t n, boots; /* number of repetitions, number of boots */
	uint32_t *of_run; /* each run's repetition, or ANALYZE_NO_REPETITION */
};

void analyze_repetitions_init(struct analyze_repetitions *r, const struct profile *p,
			      enum profile_run_kind kind);
void analyze_repetitions_deinit(struct analyze_repetitions *r);

/*
 * Return whether the recordings merged into A and B alternate in time at least as often as in random order. Otherwise, a slow
 * change of the machine may look like a difference between A and B. Return false if the times are unknown.
 */
bool analyze_recordings_alternate(const struct profile *a, const struct profile *b);

/* A row's number of calls in one repetition, and their total time. */
struct analyze_sums {
	double calls, total;
	uint32_t repetition;
};

/* A row's calls and times in all repetitions. A repetition may have several entries in SUMS. All zero is empty. */
struct analyze_sample {
	vec_of(struct analyze_sums, sums);
	double uncertainty; /* standard deviation of the sum of all totals, in ticks */
};

void analyze_sample_deinit(struct analyze_sample *s);
void analyze_sample_add(struct analyze_sample *s, uint32_t repetition, double calls, double total);
/* Add the entries and the uncertainty of PART to S. */
void analyze_sample_merge(struct analyze_sample *s, const struct analyze_sample *part);

/* Return mean and variance of the time per call over repetitions with calls. The function unites entries of S: add none later. */
struct analyze_moments analyze_sample_moments(struct analyze_sample *s);
