/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What repetitions say: the difference of two means, how sure it is, and what to call it. A value
 * is the mean of one repetition, a boot's or a run's: docs/statistics.md. Where each formula is from
 * is said with it; figures are checked against R's (tests/unit/analyze_statistics_test.R).
 *
 * Distributions are libRmath's, which prints warnings on stdout, which is for data: call nothing outside of
 * what is tested not to (tests/unit/analyze_statistics_test.c).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/stats/thresholds.h"

/* Fewer repetitions than that on a side, and nothing is known of how much they differ. */
#define ANALYZE_MIN_REPETITIONS 2

/* The confidence of printed intervals, and of those that decide on "same". */
#define ANALYZE_CONFIDENCE      (1 - ANALYZE_SIGNIFICANT)
#define ANALYZE_CONFIDENCE_SAME (1 - 2 * ANALYZE_SIGNIFICANT)
/*
 * The degrees of freedom of what is systematic, a calibration's error: it is known from five series of readings, and from how the
 * end of a recording differs from its beginning. docs/internals/statistics.md, "NET on a real clock", has what that does.
 */
#define ANALYZE_SYSTEMATIC_DF 4
/* Half the interval of ANALYZE_CONFIDENCE of what is systematic, in standard deviations: Student's t. */
#define ANALYZE_SYSTEMATIC_REACH 2.776445105197793

/* DELTA in percent of BASE; NAN where BASE is not above 0. */
double analyze_percent(double delta, double base);

/* One side's values, summed up. */
struct analyze_moments {
	uint32_t n;
	double mean; /* NAN where n is 0 */
	double variance; /* of a value, with n - 1 below the line; NAN where n < 2 */
	/*
	 * What may be wrong with all values alike and does not show in how they differ, as a
	 * standard deviation with ANALYZE_SYSTEMATIC_DF: that of what was subtracted for the probes.
	 */
	double systematic;
	/* One more standard deviation of the mean, of which it is known how large it is: that of a number of samples. */
	double known;
};

/* Both ends NAN: not known. An end may be infinite. */
struct analyze_interval {
	double low, high;
};

/* The difference of two means, by Welch's t. */
struct analyze_welch {
	double difference; /* of the second side less the first */
	double error; /* its standard error, with what is systematic in it; NAN: not known */
	double df; /* degrees of freedom */
	double p; /* of a difference at least as large, either way, where there is none */
};

enum analyze_verdict {
	ANALYZE_VERDICT_NONE, /* too few repetitions, or nothing to compare */
	ANALYZE_VERDICT_SAME,
	ANALYZE_VERDICT_SLOWER,
	ANALYZE_VERDICT_FASTER,
	ANALYZE_VERDICT_UNCLEAR,
};

/*
 * Mean and variance of the N VALUES in two passes, the second corrected for what the first rounded:
 * Chan, Golub and LeVeque, "Algorithms for Computing the Sample Variance", The American
 * Statistician 37 (1983), equation 1.7. The order of the values does not matter but for rounding.
 */
struct analyze_moments analyze_moments_of(const double *values, uint32_t n);

/*
 * The two-sided test of B's mean less A's, without the assumption that both sides vary alike: Welch, "The generalization of
 * Student's problem when several different population variances are involved", Biometrika 34 (1947), with Satterthwaite's
 * degrees of freedom (Biometrics Bulletin 2 (1946)). A systematic uncertainty is one more component of the variance, with
 * degrees of freedom of its own: JCGM 100:2008 ("GUM"), annex G.4.1, equation G.2b.
 *
 * Where the sides have unlike numbers, df is more careful than Satterthwaite's, which comes near the larger side's where three
 * repetitions happen to agree, so that of many rows some are called different by chance: both variances go into it with the
 * smaller number's degrees of freedom, and it is no larger than with like spreads. It does not fall below min(n) - 1, with
 * which p is never too small (Mickey and Brown, "Bounds on the distribution functions of the Behrens-Fisher statistic", The
 * Annals of Mathematical Statistics 37 (1966)). With equal numbers it is Satterthwaite's. docs/internals/statistics.md has what
 * it does.
 *
 * Where nothing varies at all, df is NAN, and p 0 or, for equal means, 1. With fewer than ANALYZE_MIN_REPETITIONS on a side all
 * but the difference is NAN.
 */
struct analyze_welch analyze_welch_form(const struct analyze_moments *a,
					const struct analyze_moments *b);

/* The difference's interval: difference -+ t(df) * error. CONFIDENCE is 0.95 and the like. */
struct analyze_interval analyze_welch_interval(const struct analyze_welch *welch,
					       double confidence);

/*
 * The interval of the relative change, b / a - 1, which is not that of the difference divided by a's mean: that varies too.
 * Fieller, "Some problems in interval estimation", Journal of the Royal Statistical Society B 16 (1954); for unlike variances
 * with degrees of freedom at the estimated ratio, Tamhane and Logan, "Finding the maximum safe dose level for heteroscedastic
 * data", Journal of Biopharmaceutical Statistics 14 (2004).
 *
 * NAN where a's mean is not significantly above 0, for then no interval has two ends.
 */
struct analyze_interval analyze_ratio_interval(const struct analyze_moments *a,
					       const struct analyze_moments *b, double confidence);

/*
 * Return how many times longer the 95 % intervals of ROWS rows must be than that of one, to be as sure all together: of
 * hundreds without a change, dozens would seem to have one. Bonferroni, with the normal distribution for the interval's form.
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
 * Replaces the N P-values of one table by those adjusted for their number, NAN ones left out: of all that are then below some
 * limit, at most that share is expected to be false. Benjamini and Hochberg, "Controlling the false discovery rate", Journal of
 * the Royal Statistical Society B 57 (1995); as adjusted values, Yekutieli and Benjamini, Journal of Statistical Planning and
 * Inference 82 (1999).
 */
void analyze_adjust(double *p, size_t n);

/* SAME is what analyze_is_same() says, and comes first; P is adjusted, and NAN gives NONE. */
enum analyze_verdict analyze_verdict_of(bool same, double difference, double p);

/* Nobody boots more often: beyond this the answer is "no number". */
#define ANALYZE_MAX_BOOTS 10000

/*
 * Return how many repetitions per side would give "same", or "slower" or "faster" at LEVEL, with a probability of
 * ANALYZE_POWER, if the means and variances of A and B were the true ones: by quantiles of t with Welch's degrees of freedom, as
 * Chow, Shao and Wang have it for equal variances ("Sample Size Calculations in Clinical Research" (2003), section 3.2). NAN: nothing is known of the variances, or no number up to
 * ANALYZE_MAX_BOOTS would do.
 */
double analyze_boots_needed(const struct analyze_moments *a, const struct analyze_moments *b,
			    double margin, double level);

/* ---- the certainty of a share of samples, and of sums and differences of shares ---- */

/* An estimate with its interval, low <= value <= high. All NAN: not known. */
struct analyze_estimated {
	double value, low, high;
};

extern const struct analyze_estimated analyze_estimated_none;

/*
 * The share of which K of N samples are, with its 95 % interval: Clopper and Pearson, "The use of confidence or fiducial limits
 * illustrated in the case of the binomial", Biometrika 26 (1934), by quantiles of the beta distribution. It covers the truth in
 * 95 % of the cases at least, and more where K is small, which most bodies' is: Wilson's is shorter, and covers less than 95 %
 * just there (Brown, Cai and DasGupta, "Interval estimation for a binomial proportion", Statistical Science 16 (2001)). 0 of N
 * is 0 with an upper end; of 0 samples nothing is known.
 */
struct analyze_estimated analyze_binomial(double k, double n);

/*
 * The same of something that is only looked at because a sample hit it. Of many bodies that take next to no time some are hit
 * by chance, and those not hit have no row, so that intervals which leave that out miss the truth of just the rows there are.
 * So the lower end is that of a binomial that is not 0 (Johnson, Kemp and Kotz, "Univariate Discrete Distributions", chapter
 * 3); that such intervals hold for what was selected says Neufeld, Perry and Witten, "Inference conditional on selection: a
 * review" (arXiv:2604.09779). One sample says nothing of how little there may be: the end is 0. From ten samples on there is no
 * difference, nor is there any to speak of at the upper end.
 */
struct analyze_estimated analyze_binomial_seen(double k, double n);

/* A share as a part of WHOLE, which is known exactly. */
struct analyze_estimated analyze_estimated_scale(const struct analyze_estimated *e, double whole);

/*
 * The sum of two independent estimates, and the second less the first, by the method of variance
 * estimates recovery, which keeps the ends unlike: Zou and Donner, "Construction of confidence limits
 * about effect measures: a general approach", Statistics in Medicine 27 (2008).
 */
struct analyze_estimated analyze_estimated_add(const struct analyze_estimated *a,
					       const struct analyze_estimated *b);
struct analyze_estimated analyze_estimated_difference(const struct analyze_estimated *a,
						      const struct analyze_estimated *b);
