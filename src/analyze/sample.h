/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What each repetition of one side says of a row, and how sure what was subtracted from it is. */
#ifndef KPROTPERF_ANALYZE_SAMPLE_H
#define KPROTPERF_ANALYZE_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

#include "analyze/statistics.h"
#include "profile/profile.h"

enum analyze_unit {
	ANALYZE_UNIT_RUN,
	ANALYZE_UNIT_BOOT,
};

const char *analyze_unit_key(enum analyze_unit unit); /* "run" */

#define ANALYZE_NO_REPETITION UINT32_MAX

/* The repetitions of a profile: the boots of its runs of one kind if there are several, else these runs. */
struct analyze_repetitions {
	enum analyze_unit unit;
	uint32_t n;
	uint32_t *of_run; /* ANALYZE_NO_REPETITION for runs of the other kind */
};

void analyze_repetitions_init(struct analyze_repetitions *r, const struct profile *p,
			      enum profile_run_kind kind);
void analyze_repetitions_deinit(struct analyze_repetitions *r);

/* One repetition's part in a row. */
struct analyze_sums {
	double calls, total;
};

/* A row's sums, one a repetition. */
struct analyze_sample {
	struct analyze_sums *sums;
	uint32_t n;
	double uncertainty; /* of the total of all, in ticks: a standard deviation */
};

void analyze_sample_init(struct analyze_sample *s, const struct analyze_repetitions *r);
void analyze_sample_deinit(struct analyze_sample *s);
void analyze_sample_add(struct analyze_sample *s, uint32_t repetition, double calls, double total);

/*
 * What a call took in each repetition that has calls of the row: VALUES, of s->n entries; returns how
 * many. Where all made equally many calls, these are the repetitions' means. Else they are what makes
 * their mean the row's own, total / calls, and their variance that of such a ratio: pseudo-values of
 * the jackknife, shifted onto it (Efron and Tibshirani, "An Introduction to the Bootstrap" (1993),
 * section 11.5; for ratios Cochran, "Sampling Techniques" (1977), section 6.17).
 */
uint32_t analyze_sample_values(const struct analyze_sample *s, double *values);

/* The same as moments; where VALUES is not NULL it gets them too. */
struct analyze_moments analyze_sample_moments(const struct analyze_sample *s, double *values);

/*
 * How far off what a profile's calibration subtracts may be: docs/statistics.md has the formula.
 * Costs and spreads are those of "record.cost."
 */
struct analyze_calibration {
	double inner[PROFILE_N_MECHANISMS], inner_spread[PROFILE_N_MECHANISMS];
	/* The same of what times page faults. */
	double fault_inner, fault_spread;
	uint32_t fault_context; /* UINT32_MAX: none */
	/* What is taken off for a sample, which each PERIOD ticks of on-CPU time bring one of; 0: none. */
	double sample, sample_spread, period;
	double *below; /* by context: what may be wrong with 1 tick taken off for calls below */
};

void analyze_calibration_init(struct analyze_calibration *c, const struct profile *p);
void analyze_calibration_deinit(struct analyze_calibration *c);

/* The standard uncertainty of what was taken off all CELL's calls, in ticks. They add up. */
double analyze_calibration_uncertainty(const struct analyze_calibration *c, const struct profile *p,
				       const struct profile_cell *cell);

#endif
