// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/stats/power.h"

#include <math.h>
#include <Rmath.h>

/*
 * Gauss-Legendre abscissas and weights for 8 points on (0, 1), as the upper half of the symmetric
 * rule on (-1, 1): Abramowitz and Stegun, "Handbook of Mathematical Functions" (1964), table 25.4.
 */
#define HALF 4
static const double abscissas[HALF] = { 0.183434642495650, 0.525532409916329, 0.796666477413627,
					0.960289856497536 };
static const double weights[HALF] = { 0.362683783378362, 0.313706645877887, 0.222381034453374,
				      0.101228536290376 };
#define POINTS (2 * HALF)

/*
 * The sample variances that may come out, each case with its probability and the distance from 0, or from an end of an
 * interval, that the difference must then have.
 */
struct cases {
	double reach[POINTS * POINTS], weight[POINTS * POINTS];
	double error; /* that the difference of means really has */
};

/* Set the values that a variance of DF degrees of freedom may come out as, in true ones, and their probabilities. */
static void variances(double df, double factors[POINTS], double probabilities[POINTS])
{
	for (int i = 0; i < HALF; i++) {
		/* A systematic error does not vary. */
		bool varies = isfinite(df);

		factors[HALF + i] = varies ? qchisq(0.5 + abscissas[i] / 2, df, 1, 0) / df : 1;
		factors[HALF - 1 - i] = varies ? qchisq(0.5 - abscissas[i] / 2, df, 1, 0) / df : 1;
		probabilities[HALF + i] = probabilities[HALF - 1 - i] = weights[i] / 2;
	}
}

/* For N repetitions per side, as variable as those of A and B; an interval reaches from TAIL to 1 - TAIL. */
static void cases_form(struct cases *c, const struct analyze_moments *a,
		       const struct analyze_moments *b, double tail)
{
	double fa[POINTS], fb[POINTS], pa[POINTS], pb[POINTS];
	struct analyze_welch w = analyze_welch_form(a, b);

	c->error = w.error;
	variances(a->n - 1, fa, pa);
	variances(b->n - 1, fb, pb);
	for (int i = 0; i < POINTS; i++) {
		for (int j = 0; j < POINTS; j++) {
			struct analyze_moments sa = *a, sb = *b;

			sa.variance *= fa[i];
			sb.variance *= fb[j];
			w = analyze_welch_form(&sa, &sb);
			c->reach[i * POINTS + j] = qt(1 - tail, w.df, 1, 0) * w.error;
			c->weight[i * POINTS + j] = pa[i] * pb[j];
		}
	}
}

/* The normal distribution's function, from libm, which is three times as fast as libRmath's. */
static double normal(double x)
{
	return erfc(-x * M_SQRT1_2) / 2;
}

/* The probability that a difference comes out further from 0 than it must. */
static double cases_differ(const struct cases *c, double difference)
{
	double sum = 0;

	difference = fabs(difference);
	for (int i = 0; i < POINTS * POINTS; i++) {
		sum += c->weight[i] * normal((difference - c->reach[i]) / c->error);
		/* On the wrong side, which hardly happens where the difference is not small. */
		if (difference < 6 * c->error)
			sum += c->weight[i] * normal((-difference - c->reach[i]) / c->error);
	}
	return sum;
}

/* The same as an expectation: true errors are 1 / SCALES times the one that seems to be. */
static double cases_differ_scaled(const struct cases *c, const double scales[POINTS],
				  const double probabilities[POINTS], double difference)
{
	double sum = 0;

	for (int i = 0; i < POINTS; i++)
		sum += probabilities[i] * cases_differ(c, difference * scales[i]);
	return sum;
}

/* The probability that the interval around it lies within -+LIMIT. */
static double cases_within(const struct cases *c, double difference, double limit)
{
	double sum = 0;

	for (int i = 0; i < POINTS * POINTS; i++) {
		double room = limit - c->reach[i];

		if (room > 0)
			sum += c->weight[i] * (normal((room - difference) / c->error) -
					       normal((-room - difference) / c->error));
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
	double scales[POINTS], probabilities[POINTS], low = 0, high = 4 * w.error, at_low, at_high;
	struct cases c;

	if (!(w.error > 0))
		return w.error;
	cases_form(&c, a, b, level / 2);
	variances(w.df, scales, probabilities);
	for (int i = 0; i < POINTS; i++)
		scales[i] = sqrt(scales[i]);
	at_low = -ANALYZE_POWER;
	while ((at_high = cases_differ_scaled(&c, scales, probabilities, high) - ANALYZE_POWER) <
		       0 &&
	       isfinite(high)) {
		low = high;
		at_low = at_high;
		high *= 2;
	}
	/* Regula falsi, halved where an end stays (Illinois): two digits are all that it is worth. */
	for (int i = 0; i < 20 && at_high > 1e-3; i++) {
		double middle = high - at_high * (high - low) / (at_high - at_low), at;

		at = cases_differ_scaled(&c, scales, probabilities, middle) - ANALYZE_POWER;
		if (at < 0) {
			low = middle;
			at_low = at;
			at_high /= 2;
		} else {
			high = middle;
			at_high = at;
			at_low /= 2;
		}
	}
	return high;
}

/* A request for a number of repetitions. */
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

/*
 * Return a number that is too small: it would do if variances were known, with the normal distribution in place of t.
 */
static double too_few(const struct question *q)
{
	double tail = q->level > 0 ? q->level / 2 : (1 - ANALYZE_CONFIDENCE_SAME) / 2;
	double room = q->level > 0 ? fabs(q->difference) : q->limit - fabs(q->difference);
	double errors = (qnorm(1 - tail, 0, 1, 1, 0) + qnorm(ANALYZE_POWER, 0, 1, 1, 0)) / room;

	return (q->a.variance + q->b.variance) * errors * errors - 1;
}

/* The least number that settles it: power goes up with n. */
static double least(struct question *q)
{
	double few = too_few(q);
	uint32_t low, high, step = 1;

	if (!(few < ANALYZE_MAX_BOOTS) || !settles(q, ANALYZE_MAX_BOOTS))
		return NAN;
	low = few > ANALYZE_MIN_REPETITIONS - 1 ? (uint32_t)few : ANALYZE_MIN_REPETITIONS - 1;
	for (high = low + 1; high < ANALYZE_MAX_BOOTS && !settles(q, high); step *= 2) {
		low = high;
		high = high + step < ANALYZE_MAX_BOOTS ? high + step : ANALYZE_MAX_BOOTS;
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
