// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/power.h"

#include <math.h>

#include "analyze/rmath.h"

/*
 * Gauss-Legendre abscissas and weights for 12 points on (0, 1), as the upper half of the symmetric
 * rule on (-1, 1): Abramowitz and Stegun, "Handbook of Mathematical Functions" (1964), table 25.4.
 */
#define HALF 6
static const double abscissas[HALF] = { 0.125233408511469, 0.367831498998180, 0.587317954286617,
					0.769902674194305, 0.904117256370475, 0.981560634246719 };
static const double weights[HALF] = { 0.249147045813403, 0.233492536538355, 0.203167426723066,
				      0.160078328543346, 0.106939325995318, 0.047175336386512 };
#define POINTS (2 * HALF)

/*
 * What may come out as the sample variances: how far the difference must be from 0 (or, of an
 * interval, from an end) in each case, and the case's probability.
 */
struct cases {
	double reach[POINTS * POINTS], weight[POINTS * POINTS];
	double error; /* that the difference of means really has */
};

/* The variances a sample of N may have, as multiples of the true one, and how likely each is. */
static void variances(uint32_t n, double factors[POINTS], double probabilities[POINTS])
{
	int i;

	for (i = 0; i < HALF; i++) {
		factors[HALF + i] = qchisq(0.5 + abscissas[i] / 2, n - 1, 1, 0) / (n - 1);
		factors[HALF - 1 - i] = qchisq(0.5 - abscissas[i] / 2, n - 1, 1, 0) / (n - 1);
		probabilities[HALF + i] = probabilities[HALF - 1 - i] = weights[i] / 2;
	}
}

/* For N repetitions a side, as variable as those of A and B; an interval reaches from TAIL to 1 - TAIL. */
static void cases_form(struct cases *c, const struct analyze_moments *a,
		       const struct analyze_moments *b, double tail)
{
	double fa[POINTS], fb[POINTS], pa[POINTS], pb[POINTS];
	struct analyze_welch w = analyze_welch_form(a, b);
	int i, j;

	c->error = w.error;
	variances(a->n, fa, pa);
	variances(b->n, fb, pb);
	for (i = 0; i < POINTS; i++) {
		for (j = 0; j < POINTS; j++) {
			struct analyze_moments sa = *a, sb = *b;

			sa.variance *= fa[i];
			sb.variance *= fb[j];
			w = analyze_welch_form(&sa, &sb);
			c->reach[i * POINTS + j] = qt(1 - tail, w.df, 1, 0) * w.error;
			c->weight[i * POINTS + j] = pa[i] * pb[j];
		}
	}
}

/* The probability that a difference comes out further from 0 than it must. */
static double cases_differ(const struct cases *c, double difference)
{
	double sum = 0;
	int i;

	for (i = 0; i < POINTS * POINTS; i++)
		sum += c->weight[i] * (pnorm((difference - c->reach[i]) / c->error, 0, 1, 1, 0) +
				       pnorm((-difference - c->reach[i]) / c->error, 0, 1, 1, 0));
	return sum;
}

/* The probability that the interval around it lies within -+LIMIT. */
static double cases_within(const struct cases *c, double difference, double limit)
{
	double sum = 0;
	int i;

	for (i = 0; i < POINTS * POINTS; i++) {
		double room = limit - c->reach[i];

		if (room > 0)
			sum += c->weight[i] * (pnorm((room - difference) / c->error, 0, 1, 1, 0) -
					       pnorm((-room - difference) / c->error, 0, 1, 1, 0));
	}
	return sum;
}

double analyze_power(const struct analyze_moments *a, const struct analyze_moments *b,
		     double difference, double level)
{
	struct analyze_welch w = analyze_welch_form(a, b);
	struct cases c;

	if (!(w.error > 0))
		return isnan(w.error) ? NAN : difference != 0;
	cases_form(&c, a, b, level / 2);
	return cases_differ(&c, difference);
}

double analyze_detectable(const struct analyze_moments *a, const struct analyze_moments *b,
			  double level)
{
	struct analyze_welch w = analyze_welch_form(a, b);
	double low = 0, high = w.error;
	struct cases c;

	if (!(w.error > 0))
		return w.error;
	cases_form(&c, a, b, level / 2);
	while (cases_differ(&c, high) < ANALYZE_POWER && isfinite(high)) {
		low = high;
		high *= 2;
	}
	while (high - low > 1e-6 * high) {
		double middle = (low + high) / 2;

		if (cases_differ(&c, middle) < ANALYZE_POWER)
			low = middle;
		else
			high = middle;
	}
	return high;
}

/* What is asked for of a number of repetitions. */
struct question {
	struct analyze_moments a, b;
	double level; /* of the test that finds the difference; 0: what is asked is "same" */
	double difference, limit;
};

static bool settles(struct question *q, uint32_t n)
{
	struct cases c;

	q->a.n = q->b.n = n;
	cases_form(&c, &q->a, &q->b,
		   q->level > 0 ? q->level / 2 : (1 - ANALYZE_CONFIDENCE_SAME) / 2);
	return (q->level > 0 ? cases_differ(&c, q->difference) :
			       cases_within(&c, q->difference, q->limit)) >= ANALYZE_POWER;
}

/* The least number that settles it: power goes up with n. */
static double least(struct question *q)
{
	uint32_t low = ANALYZE_MIN_REPETITIONS - 1, high = ANALYZE_MIN_REPETITIONS;

	while (!settles(q, high)) {
		if (high == ANALYZE_MAX_BOOTS)
			return NAN;
		low = high;
		high = high > ANALYZE_MAX_BOOTS / 2 ? ANALYZE_MAX_BOOTS : 2 * high;
	}
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (settles(q, middle))
			high = middle;
		else
			low = middle;
	}
	return high;
}

double analyze_boots_needed(const struct analyze_moments *a, const struct analyze_moments *b,
			    double margin, double level)
{
	struct analyze_welch w = analyze_welch_form(a, b);
	struct question differ = { *a, *b, level, w.difference, 0 };
	struct question same = { *a, *b, 0, w.difference, margin * a->mean };

	if (!(w.error > 0))
		return NAN;
	return fmin(least(&differ), fabs(w.difference) < same.limit ? least(&same) : NAN);
}
