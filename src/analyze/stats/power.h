/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The differences that a number of repetitions can find, and the number that would settle the others. */
#pragma once

#include "analyze/stats/statistics.h"

/* Nobody boots more often: beyond this the answer is "no number". */
#define ANALYZE_MAX_BOOTS 10000

/*
 * The probability that Welch's test finds a DIFFERENCE at LEVEL, with as many repetitions as A and B
 * have and their variances taken for the true ones. Not by the noncentral t, which holds for equal
 * variances only, but as the expectation over both sample variances, which are independent of the
 * means and of each other, (n - 1) s^2 / sigma^2 being chi-squared of n - 1 degrees of freedom
 * (Cochran, "The distribution of quadratic forms in a normal system", Proceedings of the Cambridge
 * Philosophical Society 30 (1934)): given them, the difference of means is normal. By a
 * Gauss-Legendre rule over both quantiles.
 *
 * NAN where a variance is not known; where nothing varies 1, or 0 for no difference.
 */
double analyze_power(const struct analyze_moments *a, const struct analyze_moments *b,
		     double difference, double level);

/*
 * The least difference that is found with a probability of ANALYZE_POWER at LEVEL by as many
 * repetitions, on average over what their true variances may be: what is put in was estimated from
 * few, and a difference 4 out of 5 times above chance with it is so 3 out of 4 times only with the
 * true ones. That is an assurance: O'Hagan, Stevens and Campbell, "Assurance in clinical trial
 * design", Pharmaceutical Statistics 4 (2005), the common scale of both variances spread as the
 * inverse of a chi-squared of Welch's degrees of freedom.
 */
double analyze_detectable(const struct analyze_moments *a, const struct analyze_moments *b,
			  double level);

/*
 * How many repetitions per side would give "same" or "slower" or "faster" with a probability of
 * ANALYZE_POWER, if the means and variances of A and B were the true ones: the least n at which
 * either the test at LEVEL finds the difference (analyze_power()) or the interval of
 * analyze_is_same() lies within -+MARGIN, found by the same expectation; for one n it is the power
 * of two one-sided tests by Phillips, Journal of Pharmacokinetics and Biopharmaceutics 18 (1990).
 *
 * NAN where nothing is known of the variances, or no number up to ANALYZE_MAX_BOOTS would do: what
 * is systematic does not shrink.
 */
double analyze_boots_needed(const struct analyze_moments *a, const struct analyze_moments *b,
			    double margin, double level);
