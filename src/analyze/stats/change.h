/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The certainty of one row's difference, from the repetitions of both sides: docs/statistics.md. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "analyze/stats/sample.h"
#include "analyze/stats/statistics.h"

/* In percent: differences within it are "same" if they significantly are. */
#define ANALYZE_MARGIN_PCT 1.0

/* Figures of the mean per call, in ticks or, if the name says so, in percent of the baseline's. NAN: not known. */
struct analyze_change {
	double repetitions[2]; /* that have calls of the row */
	struct analyze_interval ci, ci_pct; /* 95 % */
	double plus_minus, plus_minus_pct; /* as far as these reach from the difference at most */
	double p_single, p; /* p is adjusted for the number of rows */
	enum analyze_verdict verdict;
	enum analyze_verdict
		verdict_of_runs; /* what runs alone would say where they are not enough */
	/* Known after analyze_change_work_out(), to NOISE: what takes long, and few rows are looked at. */
	double boots_needed; /* where unclear: repetitions per side that would settle it */
	double detectable, detectable_pct; /* what so many repetitions find in 4 of 5 cases */
	struct analyze_interval bootstrap;
	double mann_whitney;
	struct analyze_moments moments[2];
	double margin, level; /* that were judged by; NAN: were not */
	bool is_worked_out;
	/*
	 * By how much the baseline and a control of the same kernel may differ in this row: as far as
	 * the 95 % interval of that difference reaches from 0, without one the difference itself.
	 */
	double noise;
	bool under_noise; /* the difference is not larger */
};

extern const struct analyze_change analyze_change_none;

/* Form CHANGE from both sides' samples, either of which may be NULL: no such row. */
void analyze_change_form(struct analyze_change *change, const struct analyze_sample *baseline,
			 const struct analyze_sample *hardened);

/*
 * Work out the slow figures, once, from the samples that formed CHANGE, if any did: boots_needed, detectable, and the
 * results of other methods.
 */
void analyze_change_work_out(struct analyze_change *change, const struct analyze_sample *baseline,
			     const struct analyze_sample *hardened);

/*
 * All rows of one comparison: adjusts p for their number, and says what they come to. UNDECIDED: it rests on runs of one
 * recording each, so that all verdicts are "unclear"; a control that differs less than a row does gives its verdict back.
 */
void analyze_changes_judge(struct analyze_change *const *changes, size_t n, double margin_pct,
			   bool undecided);

/* ---- statistics that do not take values for normally distributed ---- */

/* From so many repetitions per side on: with fewer, intervals are too narrow (docs/statistics.md). */
#define ANALYZE_MIN_BOOTSTRAP 20
/* With 4 against 4 the least possible p is 0.029, with 5 against 5 0.008. */
#define ANALYZE_MIN_MANN_WHITNEY 5

/*
 * The interval of the difference of means, B's less A's, by the percentiles of resampled
 * differences: Efron and Tibshirani, "An Introduction to the Bootstrap" (1993), algorithm 8.1 (two
 * samples) and section 13.3 (percentile interval). Equal values and SEED give an equal result. NAN
 * with fewer than ANALYZE_MIN_BOOTSTRAP values on a side.
 */
struct analyze_interval analyze_bootstrap(const double *a, uint32_t n_a, const double *b,
					  uint32_t n_b, uint64_t seed, double confidence);

/*
 * The two-sided p-value of the rank sum: Mann and Whitney, Annals of Mathematical Statistics 18
 * (1947). Exact up to 49 values per side without ties, else by the normal distribution, corrected for
 * continuity and ties (Hollander and Wolfe, "Nonparametric Statistical Methods" (1973), section
 * 4.1), as R's wilcox.test() does. NAN with fewer than ANALYZE_MIN_MANN_WHITNEY values on a side, 1
 * where all are equal.
 */
double analyze_mann_whitney(const double *a, uint32_t n_a, const double *b, uint32_t n_b);
