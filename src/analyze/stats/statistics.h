/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Statistics of repetitions: the difference of two means, its certainty, and its verdict. A value is the mean of one
 * repetition, a boot's or a run's: docs/statistics.md. Each formula has its source beside it. Figures are checked against R's
 * (tests/unit/analyze_statistics_test.R).
 *
 * Distributions are libRmath's. It prints warnings on stdout, which is for data: call it only within the limits that
 * tests/unit/analyze_statistics_test.c checks.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/stats/thresholds.h"

/* The least number of repetitions per side that shows how much they differ. */
#define ANALYZE_MIN_REPETITIONS 2

/* The confidence of printed intervals, and of intervals that decide on "same". */
#define ANALYZE_CONFIDENCE      (1 - ANALYZE_SIGNIFICANT)
#define ANALYZE_CONFIDENCE_SAME (1 - 2 * ANALYZE_SIGNIFICANT)
/*
 * The degrees of freedom of a systematic uncertainty, the calibration's: it is known from five series of readings, and from how
 * the end of a recording differs from its beginning. For the effect see docs/internals/statistics.md, "NET on a real clock".
 */
#define ANALYZE_SYSTEMATIC_DF 4
/* Half the interval of ANALYZE_CONFIDENCE of a systematic uncertainty, in standard deviations: Student's t. */
#define ANALYZE_SYSTEMATIC_REACH 2.776445105197793

/* Return DELTA in percent of BASE; NAN if BASE is not above 0. */
double analyze_percent(double delta, double base);

/* Number, mean and variance of one side's values. */
struct analyze_moments {
	uint32_t n;
	double mean; /* NAN: n is 0 */
	double variance; /* sample variance of the values, with divisor n - 1; NAN: n < 2 */
	/*
	 * The standard deviation of the error in the subtracted probe cost, with ANALYZE_SYSTEMATIC_DF degrees of freedom. All
	 * values share this error, so VARIANCE does not contain it.
	 */
	double systematic;
	/* A further standard deviation of the mean that is not estimated from the values, such as that of a number of samples. */
	double known;
};

/* An interval. Both ends are NAN if it is unknown. An end may be infinite. */
struct analyze_interval {
	double low, high;
};

/* The difference of two means, by Welch's t. */
struct analyze_welch {
	double difference; /* the second side's mean less the first side's */
	double error; /* its standard error, systematic uncertainty included; NAN: unknown */
	double df; /* degrees of freedom */
	double p; /* probability of a difference at least as large, in either direction */
};

enum analyze_verdict {
	ANALYZE_VERDICT_NONE, /* too few repetitions, or nothing to compare */
	ANALYZE_VERDICT_SAME,
	ANALYZE_VERDICT_SLOWER,
	ANALYZE_VERDICT_FASTER,
	ANALYZE_VERDICT_UNCLEAR,
};

/*
 * Return the mean and variance of the N VALUES. Of two passes, the second corrects the rounding of the first: Chan, Golub and
 * LeVeque, "Algorithms for Computing the Sample Variance", The American Statistician 37 (1983), equation 1.7. The order of the
 * values affects rounding only.
 */
struct analyze_moments analyze_moments_of(const double *values, uint32_t n);

/*
 * Test B's mean less A's, two-sided, without the assumption of equal variances: Welch, "The generalization of Student's problem
 * when several different population variances are involved", Biometrika 34 (1947), with Satterthwaite's degrees of freedom
 * (Biometrics Bulletin 2 (1946)). A systematic uncertainty is a further component of the variance, with its own degrees of
 * freedom: JCGM 100:2008 ("GUM"), annex G.4.1, equation G.2b.
 *
 * With unequal numbers of repetitions, df is at most Satterthwaite's, which is nearly the larger side's if, for example,
 * three repetitions of the smaller side agree by chance; some of many rows then seem to differ. Here both variances have the
 * degrees of freedom of the smaller side, and df is no larger than with equal spreads. It is at least min(n) - 1, with which p
 * is never too small (Mickey and Brown, "Bounds on the distribution functions of the Behrens-Fisher statistic", The Annals of
 * Mathematical Statistics 37 (1966)). With equal numbers df is Satterthwaite's. docs/internals/statistics.md has the effect.
 *
 * If nothing varies, df is NAN, and p is 0, or 1 for equal means. With fewer than ANALYZE_MIN_REPETITIONS on a side, all but
 * the difference is NAN.
 */
struct analyze_welch analyze_welch_form(const struct analyze_moments *a,
					const struct analyze_moments *b);

/* Return the difference's interval: difference -+ t(df) * error. CONFIDENCE is, for example, 0.95. */
struct analyze_interval analyze_welch_interval(const struct analyze_welch *welch,
					       double confidence);

/*
 * Return the interval of the relative change, b / a - 1. It is not the difference's interval divided by a's mean, since that
 * mean varies too. Fieller, "Some problems in interval estimation", Journal of the Royal Statistical Society B 16 (1954); for
 * unlike variances with degrees of freedom at the estimated ratio, Tamhane and Logan, "Finding the maximum safe dose level for
 * heteroscedastic data", Journal of Biopharmaceutical Statistics 14 (2004).
 *
 * NAN if a's mean is not significantly above 0: no interval has two ends then.
 */
struct analyze_interval analyze_ratio_interval(const struct analyze_moments *a,
					       const struct analyze_moments *b, double confidence);

/*
 * Return the factor by which the 95 % intervals of ROWS rows must be longer than one row's, so that all of them together are
 * right in 95 % of cases: Bonferroni's correction, with normal quantiles. Without it, dozens of hundreds of unchanged rows seem
 * to have changed.
 */
double analyze_interval_widening(size_t rows);

/*
 * Return whether b / a - 1 lies within -+MARGIN (0.01 for 1 %), by two one-sided tests at the 5 % level: the 90 % interval lies
 * within. Schuirmann, "A comparison of the two one-sided tests procedure and the power approach", Journal of Pharmacokinetics
 * and Biopharmaceutics 15 (1987); with the ratio's interval, Hauschke, Kieser and Hothorn, Biometrical Journal 41 (1999).
 */
bool analyze_is_same(const struct analyze_moments *a, const struct analyze_moments *b,
		     double margin);

/*
 * Replace the N P-values of one table by values adjusted for their number; skip NAN. Of the rows with adjusted values below 0.05,
 * for example, at most 5 % are expected to be false. Benjamini and Hochberg, "Controlling the false discovery rate", Journal of
 * the Royal Statistical Society B 57 (1995); as adjusted values, Yekutieli and Benjamini, Journal of Statistical Planning and
 * Inference 82 (1999).
 */
void analyze_adjust(double *p, size_t n);

/* Return the verdict by the adjusted P; NONE if P is NAN. SAME, the result of analyze_is_same(), has priority over a known P. */
enum analyze_verdict analyze_verdict_of(bool same, double difference, double p);

/* The largest number of boots to ask for. If more are needed, the number is NAN. */
#define ANALYZE_MAX_BOOTS 10000

/*
 * Return the number of repetitions per side that would give "same", or "slower" or "faster" at LEVEL, with the probability
 * ANALYZE_POWER, if the means and variances of A and B were the true ones. It is computed by quantiles of t with Welch's
 * degrees of freedom, as by Chow, Shao and Wang for equal variances ("Sample Size Calculations in Clinical Research" (2003),
 * section 3.2). NAN: the variances are unknown, or ANALYZE_MAX_BOOTS are not enough.
 */
double analyze_boots_needed(const struct analyze_moments *a, const struct analyze_moments *b,
			    double margin, double level);

/* ---- the certainty of a share of samples, and of sums and differences of shares ---- */

/* An estimate with its interval, low <= value <= high. All NAN: unknown. */
struct analyze_estimated {
	double value, low, high;
};

extern const struct analyze_estimated analyze_estimated_none;

/*
 * Return the share K / N of samples, with its 95 % interval: Clopper and Pearson, "The use of confidence or fiducial limits
 * illustrated in the case of the binomial", Biometrika 26 (1934), by quantiles of the beta distribution. It covers the true
 * share in at least 95 % of cases, and in more if K is small, as for most bodies. Wilson's interval is shorter, but covers less
 * than 95 % for small K (Brown, Cai and DasGupta, "Interval estimation for a binomial proportion", Statistical Science 16
 * (2001)). For K = 0 the share is 0 with an upper end. For N = 0 it is unknown.
 */
struct analyze_estimated analyze_binomial(double k, double n);

/*
 * Return the share K / N with its interval, as analyze_binomial(), but for a body that has a row only because a sample hit it.
 * Many bodies take next to no time, and a few of them are hit by chance; the lower end of a plain binomial is too high for
 * these. So the lower end is that of a binomial that is not 0 (Johnson, Kemp and Kotz, "Univariate Discrete Distributions",
 * chapter 3). Such intervals hold for a selection (Neufeld, Perry and Witten, "Inference conditional on selection: a review",
 * arXiv:2604.09779). For one sample the lower end is 0. From ten samples on it hardly differs from that of analyze_binomial().
 * The upper end is that of analyze_binomial(): it would hardly differ.
 */
struct analyze_estimated analyze_binomial_seen(double k, double n);

/* Return the share E multiplied by WHOLE, which is known exactly. */
struct analyze_estimated analyze_estimated_scale(const struct analyze_estimated *e, double whole);

/*
 * Return the sum of two independent estimates, and the second less the first. Both use the method of variance estimates
 * recovery, which allows asymmetric intervals: Zou and Donner, "Construction of confidence limits about effect measures: a general
 * approach", Statistics in Medicine 27 (2008).
 */
struct analyze_estimated analyze_estimated_add(const struct analyze_estimated *a,
					       const struct analyze_estimated *b);
struct analyze_estimated analyze_estimated_difference(const struct analyze_estimated *a,
						      const struct analyze_estimated *b);
