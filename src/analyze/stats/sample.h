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
 * The repetitions of a profile: the boots of its runs of one kind if there are several, else these runs. On a real
 * clock what differs between recordings is in no run: there it is the recordings that were merged, if they are several.
 */
struct analyze_repetitions {
	enum analyze_unit unit;
	uint32_t n, boots; /* BOOTS: of these runs, whatever the unit */
	uint32_t *of_run; /* ANALYZE_NO_REPETITION for runs of the other kind */
};

void analyze_repetitions_init(struct analyze_repetitions *r, const struct profile *p,
			      enum profile_run_kind kind);
void analyze_repetitions_deinit(struct analyze_repetitions *r);

/*
 * Were the recordings that A and B were merged of made in turn, as often as in random order at least? Else what changed
 * in the machine between them may be between A and B only. False where it is not known when they were made.
 */
bool analyze_recordings_alternate(const struct profile *a, const struct profile *b);

/* One repetition's part in a row. */
struct analyze_sums {
	double calls, total;
	uint32_t repetition;
};

/* A row's sums, several for a repetition. All zero is empty. */
struct analyze_sample {
	vec_of(struct analyze_sums, sums);
	double uncertainty; /* of the total of all, in ticks: a standard deviation */
};

void analyze_sample_deinit(struct analyze_sample *s);
void analyze_sample_add(struct analyze_sample *s, uint32_t repetition, double calls, double total);
/* Adds PART. Uncertainties add up. */
void analyze_sample_merge(struct analyze_sample *s, const struct analyze_sample *part);

/* Return the moments of the time of a call over the repetitions that have calls of S, to which nothing is added afterwards. */
struct analyze_moments analyze_sample_moments(struct analyze_sample *s);
