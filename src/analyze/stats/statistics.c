// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/stats/statistics.h"

#include <Rmath.h>
#include <math.h>

#include "analyze/stats/thresholds.h"
#include "base/alloc.h"
#include "base/sorted.h"

double analyze_percent(double delta, double base)
{
	return base > 0 ? delta / base * 100 : NAN;
}

struct analyze_moments analyze_moments_of(const double *values, uint32_t n)
{
	struct analyze_moments m = { .n = n, .mean = NAN, .variance = NAN };
	double sum = 0, rest = 0, squares = 0;

	if (!n)
		return m;
	for (uint32_t i = 0; i < n; i++)
		sum += values[i] / n;
	for (uint32_t i = 0; i < n; i++) {
		rest += values[i] - sum;
		squares += (values[i] - sum) * (values[i] - sum);
	}
	m.mean = sum + rest / n;
	if (n > 1)
		m.variance = (squares - rest * rest / n) / (n - 1);
	if (m.variance < 0)
		m.variance = 0;
	return m;
}

/* Return the variance of one profile's mean, systematic uncertainty included. */
static double mean_variance(const struct analyze_moments *m)
{
	return m->variance / m->n + m->systematic * m->systematic + m->known * m->known;
}

/* Return the degrees of freedom of a difference of two means, after multiplying A's variance by FACTOR. NAN: no variance. */
static double degrees(const struct analyze_moments *a, const struct analyze_moments *b,
		      double factor)
{
	double va = factor * mean_variance(a), vb = mean_variance(b), sum = va + vb;
	/* Use fractions of the sum, so that squares cannot overflow. */
	double da = factor * a->variance / a->n / sum, db = b->variance / b->n / sum;
	double ua = factor * a->systematic * a->systematic / sum,
	       ub = b->systematic * b->systematic / sum;
	double na = a->n, nb = b->n, both = (da + db) / (na + nb), squares;

	if (!(sum > 0))
		return NAN;
	squares = fmax(da * da + db * db, both * both * (na * na + nb * nb));
	return 1 / (squares / (fmin(na, nb) - 1) + (ua * ua + ub * ub) / ANALYZE_SYSTEMATIC_DF);
}

static bool is_enough(const struct analyze_moments *a, const struct analyze_moments *b)
{
	return a->n >= ANALYZE_MIN_REPETITIONS && b->n >= ANALYZE_MIN_REPETITIONS;
}

struct analyze_welch analyze_welch_form(const struct analyze_moments *a,
					const struct analyze_moments *b)
{
	struct analyze_welch w = { b->mean - a->mean, NAN, NAN, NAN };

	if (!is_enough(a, b))
		return w;
	w.error = sqrt(mean_variance(a) + mean_variance(b));
	w.df = degrees(a, b, 1);
	if (w.error == 0)
		w.p = w.difference == 0;
	else
		w.p = 2 * pt(-fabs(w.difference / w.error), w.df, 1, 0);
	return w;
}

/* Return half the length of a confidence interval, in standard errors. */
static double reach(double df, double confidence)
{
	return isnan(df) ? 0 : qt(0.5 + confidence / 2, df, 1, 0);
}

struct analyze_interval analyze_welch_interval(const struct analyze_welch *w, double confidence)
{
	double half = reach(w->df, confidence) * w->error;

	return (struct analyze_interval){ w->difference - half, w->difference + half };
}

struct analyze_interval analyze_ratio_interval(const struct analyze_moments *a,
					       const struct analyze_moments *b, double confidence)
{
	struct analyze_interval none = { NAN, NAN };
	double ratio = b->mean / a->mean, t, va, vb, middle, root, below;

	if (!is_enough(a, b) || !(a->mean > 0))
		return none;
	t = reach(degrees(a, b, ratio * ratio), confidence);
	/* In units of a's mean, the ends of the interval are the solutions x of |ratio - x| = t * sqrt(vb + x * x * va). */
	va = t * t * (mean_variance(a) / a->mean / a->mean);
	vb = t * t * (mean_variance(b) / a->mean / a->mean);
	below = 1 - va;
	if (!(below > 0))
		return none;
	middle = ratio / below;
	root = sqrt(va * (ratio * ratio) + vb * below) / below;
	return (struct analyze_interval){ middle - root - 1, middle + root - 1 };
}

double analyze_interval_widening(size_t rows)
{
	double tail = (1 - ANALYZE_CONFIDENCE) / 2;

	return rows ? qnorm(1 - tail / (double)rows, 0, 1, 1, 0) / qnorm(1 - tail, 0, 1, 1, 0) : 1;
}

bool analyze_is_same(const struct analyze_moments *a, const struct analyze_moments *b,
		     double margin)
{
	struct analyze_interval i = analyze_ratio_interval(a, b, ANALYZE_CONFIDENCE_SAME);

	return i.low > -margin && i.high < margin;
}

struct ranked {
	double p;
	size_t index;
};

define_compare(rank_compare, struct ranked,
	       compare_values(a->p, b->p)  ?:
		       a->index < b->index ? -1 :
					     1);

void analyze_adjust(double *p, size_t n)
{
	scoped_free struct ranked *order = alloc_array(n, sizeof(*order));
	size_t known = 0;
	double least = 1;

	for (size_t i = 0; i < n; i++)
		if (!isnan(p[i]))
			order[known++] = (struct ranked){ p[i], i };
	sort_array(order, known, sizeof(*order), rank_compare);
	for (size_t i = known; i-- > 0;) {
		least = fmin(least, order[i].p * (double)known / (double)(i + 1));
		p[order[i].index] = least;
	}
}

enum analyze_verdict analyze_verdict_of(bool same, double difference, double p)
{
	if (isnan(p))
		return ANALYZE_VERDICT_NONE;
	if (same)
		return ANALYZE_VERDICT_SAME;
	if (p < ANALYZE_SIGNIFICANT)
		return difference > 0 ? ANALYZE_VERDICT_SLOWER : ANALYZE_VERDICT_FASTER;
	return ANALYZE_VERDICT_UNCLEAR;
}

/*
 * Return the minimum number of repetitions per kernel. With probability ANALYZE_POWER, the interval of the difference then
 * excludes two values: one at the distance NEAR, the other at FAR on the other side. TAIL is the probability on each side of the
 * interval. Degrees of freedom depend on the number, so correct a first guess three times. Systematic uncertainty stays the same.
 */
static double boots_for(struct analyze_moments a, struct analyze_moments b, double tail,
			double near, double far)
{
	double shrinks = a.variance + b.variance, n = ANALYZE_MAX_BOOTS, missed = 1 - ANALYZE_POWER;
	double stays = mean_variance(&a) - a.variance / a.n + mean_variance(&b) - b.variance / b.n;

	for (int round = 0; round < 4; round++) {
		double df, reach, beyond, error;

		a.n = b.n = (uint32_t)n;
		df = degrees(&a, &b, 1);
		reach = qt(1 - tail, df, 1, 0);
		beyond = pt(reach - far / sqrt(shrinks / n + stays), df, 1, 0);
		error = near / (reach + qt(1 - fmax(missed - beyond, missed / 2), df, 1, 0));
		n = fmax(ceil(shrinks / (error * error - stays)), ANALYZE_MIN_REPETITIONS);
		if (!(near > 0) || !(error * error > stays) || n > ANALYZE_MAX_BOOTS)
			return NAN;
	}
	return n;
}

double analyze_boots_needed(const struct analyze_moments *a, const struct analyze_moments *b,
			    double margin, double level)
{
	double difference = fabs(b->mean - a->mean), limit = margin * a->mean;

	if (!is_enough(a, b) || !(mean_variance(a) + mean_variance(b) > 0))
		return NAN;
	return fmin(boots_for(*a, *b, level / 2, difference, INFINITY),
		    boots_for(*a, *b, (1 - ANALYZE_CONFIDENCE_SAME) / 2, limit - difference,
			      limit + difference));
}

#define TAIL (ANALYZE_SIGNIFICANT / 2) /* probability outside the 95 % interval, on each side */

/*
 * Limit of the number of samples. A file may contain any number, and libRmath prints warnings on stdout for too large N. A test of
 * 80,000 quantiles caused no warning with N up to this limit, but 213 warnings with N up to 1e13.
 */
#define SAMPLES_MAX 1e12
/* If the probability that an inlined function gets no sample is below this, analyze_binomial() needs no correction. */
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

/* One or more of N samples hit an inlined function that takes the fraction P of the time. Return the probability of K or more. */
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
