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

/* A row's sums, one for each repetition that has any. All zero is empty. */
struct analyze_sample {
	vec_of(struct analyze_sums, sums); /* by repetition, once finished */
	double uncertainty; /* of the total of all, in ticks: a standard deviation */
	double known; /* one more, struct analyze_moments' */
};

void analyze_sample_deinit(struct analyze_sample *s);
void analyze_sample_add(struct analyze_sample *s, uint32_t repetition, double calls, double total);
/* Adds PART, or with a SIGN of -1 takes it off, of which only what is added has calls. Uncertainties add up. */
void analyze_sample_merge(struct analyze_sample *s, const struct analyze_sample *part, int sign);
/* After the last add: makes one of what was added for one repetition. */
void analyze_sample_finish(struct analyze_sample *s);

/*
 * Set VALUES, of s->n_sums entries, to the time of a call in each repetition that has calls of the row. Return their
 * number. If all made equally many calls, these are the repetitions' means. Otherwise their mean is the row's own,
 * total / calls, and their variance that of such a ratio: pseudo-values of the jackknife, shifted onto it (Efron and
 * Tibshirani, "An Introduction to the Bootstrap" (1993), section 11.5; for ratios Cochran, "Sampling Techniques"
 * (1977), section 6.17).
 */
uint32_t analyze_sample_values(const struct analyze_sample *s, double *values);

/* The same as moments. */
struct analyze_moments analyze_sample_moments(const struct analyze_sample *s);
