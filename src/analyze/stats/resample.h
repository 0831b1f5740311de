/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Statistics that do not take values for normally distributed, beside Welch's t if there are enough repetitions. */
#pragma once

#include "analyze/stats/statistics.h"

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
