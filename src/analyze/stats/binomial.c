// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/stats/binomial.h"

#include <math.h>
#include <Rmath.h>

#include "analyze/stats/thresholds.h"

#define TAIL (ANALYZE_SIGNIFICANT / 2) /* of the 95 % interval, on each side */

/*
 * Counts of a file may be anything, and libRmath complains on stdout of what it cannot do: of 80,000 quantiles up to here of none,
 * up to 1e13 of 213.
 */
#define SAMPLES_MAX 1e12
/* A body that would be without any sample so rarely counts as always seen. */
#define NEVER_UNSEEN 1e-4
#define BISECTIONS   40

const struct analyze_estimated analyze_estimated_none = { NAN, NAN, NAN };

struct analyze_estimated analyze_binomial(double k, double n)
{
	struct analyze_estimated e = analyze_estimated_none;

	if (!(n >= 1) || !(k >= 0) || k > n || n > SAMPLES_MAX)
		return e;
	e.value = k / n;
	e.low = k > 0 ? qbeta(TAIL, k, n - k + 1, 1, 0) : 0;
	e.high = k < n ? qbeta(1 - TAIL, k + 1, n - k, 1, 0) : 1;
	return e;
}

/* Return the probability of K or more of N samples at share P, given that there is one. */
static double at_least(double p, double k, double n)
{
	return pbeta(p, k, n - k + 1, 1, 0) / pbeta(p, 1, n, 1, 0);
}

struct analyze_estimated analyze_binomial_seen(double k, double n)
{
	struct analyze_estimated e = analyze_binomial(k, n);
	double low = 0, high = e.low;

	if (!(k > 0) || isnan(e.value) || pow(1 - e.low, n) < NEVER_UNSEEN)
		return e;
	for (int i = 0; k > 1 && i < BISECTIONS; i++) {
		double middle = low + (high - low) / 2;

		if (at_least(middle, k, n) > TAIL)
			high = middle;
		else
			low = middle;
	}
	e.low = low;
	return e;
}

struct analyze_estimated analyze_estimated_scale(const struct analyze_estimated *e, double whole)
{
	return (struct analyze_estimated){ e->value * whole, e->low * whole, e->high * whole };
}

struct analyze_estimated analyze_estimated_add(const struct analyze_estimated *a,
					       const struct analyze_estimated *b)
{
	double value = a->value + b->value;

	return (struct analyze_estimated){
		.value = value,
		.low = value - hypot(a->value - a->low, b->value - b->low),
		.high = value + hypot(a->high - a->value, b->high - b->value),
	};
}

struct analyze_estimated analyze_estimated_difference(const struct analyze_estimated *a,
						      const struct analyze_estimated *b)
{
	const struct analyze_estimated minus = { -a->value, -a->high, -a->low };

	return analyze_estimated_add(b, &minus);
}
