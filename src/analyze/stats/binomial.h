/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The certainty of a share of samples, and of sums and differences of shares. */
#pragma once

/* An estimate with its interval, low <= value <= high. All NAN: not known. */
struct analyze_estimated {
	double value, low, high;
};

extern const struct analyze_estimated analyze_estimated_none;

/*
 * The share of which K of N samples are, with its 95 % interval: Clopper and Pearson, "The use of
 * confidence or fiducial limits illustrated in the case of the binomial", Biometrika 26 (1934), by
 * quantiles of the beta distribution. It covers the truth in 95 % of the cases at least, and more
 * where K is small, which most bodies' is: Wilson's is shorter, and covers less than 95 % just there
 * (Brown, Cai and DasGupta, "Interval estimation for a binomial proportion", Statistical Science 16
 * (2001)). 0 of N is 0 with an upper end; of 0 samples nothing is known.
 */
struct analyze_estimated analyze_binomial(double k, double n);

/*
 * The same of something that is only looked at because a sample hit it. Of many bodies that take next to no
 * time some are hit by chance, and those not hit have no row, so that intervals which leave that out miss the
 * truth of just the rows there are. So the lower end is that of a binomial that is not 0 (Johnson, Kemp and Kotz,
 * "Univariate Discrete Distributions", chapter 3); that such intervals hold for what was selected says Neufeld,
 * Perry and Witten, "Inference conditional on selection: a review" (arXiv:2604.09779). One sample says
 * nothing of how little there may be: the end is 0. From ten samples on there is no difference, nor is there
 * any to speak of at the upper end.
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
