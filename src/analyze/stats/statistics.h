/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Statistics of repetitions: the difference of two means, its certainty and its verdict. Each value is the mean of one repetition,
 * such as a boot or a run (docs/statistics.md). Each formula names its source. R confirms the results
 * (tests/unit/analyze_statistics_test.R).
 *
 * Distributions come from libRmath. This library prints warnings on stdout, which is for data. So call it only within the limits
 * that tests/unit/analyze_statistics_test.c checks.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/stats/thresholds.h"

/* The minimum number of repetitions per kernel that shows how much repetitions differ. */
#define ANALYZE_MIN_REPETITIONS 2

/* Confidence of printed intervals, and of the intervals that decide on "same". */
#define ANALYZE_CONFIDENCE      (1 - ANALYZE_SIGNIFICANT)
#define ANALYZE_CONFIDENCE_SAME (1 - 2 * ANALYZE_SIGNIFICANT)
/*
 * Degrees of freedom of the calibration's systematic uncertainty. The uncertainty is known from five series of readings, and from
 * changes between a recording's beginning and end. docs/internals/statistics.md, "NET on a real clock", shows the effect.
 */
#define ANALYZE_SYSTEMATIC_DF 4
/* Half the length of a systematic uncertainty's 95 % interval, in standard deviations: a quantile of Student's t distribution. */
#define ANALYZE_SYSTEMATIC_REACH 2.776445105197793

/* Return DELTA in percent of BASE, or NAN if BASE is not above 0. */
double analyze_percent(double delta, double base);

/* Number, mean and variance of one profile's values. */
struct analyze_moments {
	uint32_t n;
	double mean; /* NAN: n is 0 */
	double variance; /* sample variance with divisor n - 1, or NAN if n < 2 */
	/*
	 * Standard deviation of the error in the subtracted probe cost, with ANALYZE_SYSTEMATIC_DF degrees of freedom. All values
	 * share this error, so VARIANCE does not include it.
	 */
	double systematic;
	/* Standard deviation of an error of the mean that the values do not show, such as that of an estimate from samples. */
	double known;
};

/* An interval. One end may be infinite. Both are NAN if the interval is unknown. */
struct analyze_interval {
	double low, high;
};

/* Difference of two means by Welch's t test. */
struct analyze_welch {
	double difference; /* second mean minus first mean */
	double error; /* standard error with systematic uncertainty, or NAN */
	double df; /* degrees of freedom */
	double p; /* probability of a difference at least this large by chance */
};

enum analyze_verdict {
	ANALYZE_VERDICT_NONE, /* too few repetitions, or nothing to compare */
	ANALYZE_VERDICT_SAME,
	ANALYZE_VERDICT_SLOWER,
	ANALYZE_VERDICT_FASTER,
	ANALYZE_VERDICT_UNCLEAR,
};

/*
 * Return mean and variance of the N VALUES. The second of two passes corrects the rounding errors of the first (Chan, Golub and
 * LeVeque, "Algorithms for Computing the Sample Variance", The American Statistician 37 (1983), equation 1.7). The order of values
 * affects only rounding.
 */
struct analyze_moments analyze_moments_of(const double *values, uint32_t n);

/*
 * Test the difference between the means of B and A, two-sided, without assuming equal variances: Welch, "The generalization of
 * Student's problem when several different population variances are involved", Biometrika 34 (1947), with Satterthwaite's degrees
 * of freedom (Biometrics Bulletin 2 (1946)). A systematic uncertainty is an additional variance with its own degrees of freedom
 * (JCGM 100:2008 ("GUM"), annex G.4.1, equation G.2b).
 *
 * With unequal numbers of repetitions, Satterthwaite's degrees of freedom are too many if the few repetitions of one kernel agree
 * by chance. Some of many rows would then seem to differ. Therefore both variances get the degrees of freedom of the smaller
 * number, and df is at most that of equal spreads. With df of at least min(n) - 1, p is never too small (Mickey and Brown, "Bounds
 * on the distribution functions of the Behrens-Fisher statistic", The Annals of Mathematical Statistics 37 (1966)).
 * docs/internals/statistics.md shows the effect.
 *
 * If nothing varies, df is NAN, and p is 0, or 1 for equal means. With fewer than ANALYZE_MIN_REPETITIONS values in A or B, all
 * results except the difference are NAN.
 */
struct analyze_welch analyze_welch_form(const struct analyze_moments *a,
					const struct analyze_moments *b);

/* Return the interval of the difference, difference -+ t(df) * error. CONFIDENCE is a probability such as 0.95. */
struct analyze_interval analyze_welch_interval(const struct analyze_welch *welch,
					       double confidence);

/*
 * Return the interval of the relative change b / a - 1. Dividing the difference's interval by a's mean would be wrong, since this
 * mean varies too. Formula: Fieller, "Some problems in interval estimation", Journal of the Royal Statistical Society B 16 (1954);
 * for unequal variances Tamhane and Logan, "Finding the maximum safe dose level for heteroscedastic data", Journal of
 * Biopharmaceutical Statistics 14 (2004).
 *
 * Return NAN if a's mean is not significantly above 0: then no interval has two ends.
 */
struct analyze_interval analyze_ratio_interval(const struct analyze_moments *a,
					       const struct analyze_moments *b, double confidence);

/*
 * Return the factor by which the 95 % intervals of ROWS rows must be longer. In 95 % of cases, all of them then contain the true
 * values (Bonferroni's correction with normal quantiles). Without the factor, some of many unchanged rows seem changed.
 */
double analyze_interval_widening(size_t rows);

/*
 * Return whether b / a - 1 lies within -+MARGIN (0.01 for 1 %), by two one-sided tests at the 5 % level: the 90 % interval lies
 * within. Schuirmann, "A comparison of the two one-sided tests procedure and the power approach", Journal of Pharmacokinetics and
 * Biopharmaceutics 15 (1987); with the ratio's interval, Hauschke, Kieser and Hothorn, Biometrical Journal 41 (1999).
 */
bool analyze_is_same(const struct analyze_moments *a, const struct analyze_moments *b,
		     double margin);

/*
 * Adjust the N p-values of one table for their number, but leave NAN as it is. On average, at most 5 % of the rows with adjusted
 * values below 0.05 differ just by chance. Benjamini and Hochberg, "Controlling the false discovery rate", Journal of the Royal
 * Statistical Society B 57 (1995); as adjusted values Yekutieli and Benjamini, J. of Statistical Planning and Inference 82 (1999).
 */
void analyze_adjust(double *p, size_t n);

/* Return the verdict for the adjusted P, or NONE if P is NAN. If SAME (see analyze_is_same()), the verdict is "same" for any P. */
enum analyze_verdict analyze_verdict_of(bool same, double difference, double p);

/* Largest number of boots to recommend. If more boots are needed, the number is NAN. */
#define ANALYZE_MAX_BOOTS 10000

/*
 * Return the number of repetitions per kernel that would give a verdict other than "unclear" with probability ANALYZE_POWER, if
 * the means and variances of A and B were true. LEVEL is the significance level. The formula uses quantiles of t with Welch's
 * degrees of freedom; for equal variances see Chow, Shao and Wang, "Sample Size Calculations in Clinical Research" (2003), section
 * 3.2. Return NAN if variances are unknown or ANALYZE_MAX_BOOTS are not enough.
 */
double analyze_boots_needed(const struct analyze_moments *a, const struct analyze_moments *b,
			    double margin, double level);

/* ---- uncertainty of a fraction of samples, and of sums and differences of such fractions ---- */

/* An estimate with its interval, low <= value <= high. All NAN: unknown. */
struct analyze_estimated {
	double value, low, high;
};

extern const struct analyze_estimated analyze_estimated_none;

/*
 * Return the fraction K / N of samples with its 95 % interval: Clopper and Pearson, "The use of confidence or fiducial limits
 * illustrated in the case of the binomial", Biometrika 26 (1934), by quantiles of the beta distribution. The interval contains the
 * true fraction in at least 95 % of cases, and in more for small K. Wilson's interval is shorter, but contains it in less than 95
 * % of cases for small K (Brown, Cai and DasGupta, "Interval estimation for a binomial proportion", Statistical Science 16
 * (2001)). For K = 0 the fraction is 0 with an upper end. For N = 0 all results are NAN.
 */
struct analyze_estimated analyze_binomial(double k, double n);

/*
 * Return K / N with its interval, like analyze_binomial(), for an inlined function that is listed only because a sample hit it.
 * Many inlined functions take almost no time, and samples hit a few of them by chance. For these, the lower end of
 * analyze_binomial() is too high. So the lower end comes from a binomial distribution without zero (Johnson, Kemp and Kotz,
 * "Univariate Discrete Distributions", chapter 3). Such intervals are valid after a selection (Neufeld, Perry and Witten,
 * "Inference conditional on selection: a review", arXiv:2604.09779). For one sample the lower end is 0. For ten samples or more,
 * both functions hardly differ. The upper end is that of analyze_binomial().
 */
struct analyze_estimated analyze_binomial_seen(double k, double n);

/* Return the estimate E multiplied by the exact number WHOLE. */
struct analyze_estimated analyze_estimated_scale(const struct analyze_estimated *e, double whole);

/*
 * Return the sum A + B and the difference B - A of two independent estimates. The method of variance estimates recovery allows
 * asymmetric intervals: Zou and Donner, "Construction of confidence limits about effect measures: a general approach", Statistics
 * in Medicine 27 (2008).
 */
struct analyze_estimated analyze_estimated_add(const struct analyze_estimated *a,
					       const struct analyze_estimated *b);
struct analyze_estimated analyze_estimated_difference(const struct analyze_estimated *a,
						      const struct analyze_estimated *b);
