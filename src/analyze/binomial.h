/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How sure a share of samples is, and what is made of several of them. */
#ifndef KPROTPERF_ANALYZE_BINOMIAL_H
#define KPROTPERF_ANALYZE_BINOMIAL_H

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

#endif
