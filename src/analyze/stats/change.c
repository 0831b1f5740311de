// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/stats/change.h"

#include <Rmath.h>
#include <math.h>

#include "analyze/stats/power.h"
#include "base/alloc.h"
#include "base/sorted.h"

/* Less is not worth another calculation. */
#define LEAST_GROWTH 1.01

/* Any fixed number: the same files give the same intervals. */
#define SEED 6

const struct analyze_change analyze_change_none = {
	.repetitions = { NAN, NAN },
	.ci = { NAN, NAN },
	.ci_pct = { NAN, NAN },
	.plus_minus = NAN,
	.plus_minus_pct = NAN,
	.p_single = NAN,
	.p = NAN,
	.boots_needed = NAN,
	.detectable = NAN,
	.detectable_pct = NAN,
	.bootstrap = { NAN, NAN },
	.mann_whitney = NAN,
	.noise = NAN,
	.margin = NAN,
	.level = NAN,
	.moments = { { .mean = NAN, .variance = NAN }, { .mean = NAN, .variance = NAN } },
};

static struct analyze_interval in_percent(struct analyze_interval i)
{
	return (struct analyze_interval){ i.low * 100, i.high * 100 };
}

static void form_intervals(struct analyze_change *c)
{
	const struct analyze_moments *a = &c->moments[0], *b = &c->moments[1];
	struct analyze_welch w = analyze_welch_form(a, b);
	double pct = (b->mean / a->mean - 1) * 100;

	c->ci = analyze_welch_interval(&w, ANALYZE_CONFIDENCE);
	c->plus_minus = (c->ci.high - c->ci.low) / 2;
	c->ci_pct = in_percent(analyze_ratio_interval(a, b, ANALYZE_CONFIDENCE));
	/* Not quite symmetric: the longer side. */
	c->plus_minus_pct = fmax(c->ci_pct.high - pct, pct - c->ci_pct.low);
	c->p_single = c->p = w.p;
}

void analyze_change_form(struct analyze_change *c, const struct analyze_sample *baseline,
			 const struct analyze_sample *hardened)
{
	*c = analyze_change_none;
	if (!baseline || !hardened)
		return;
	c->moments[0] = analyze_sample_moments(baseline);
	c->moments[1] = analyze_sample_moments(hardened);
	c->repetitions[0] = c->moments[0].n;
	c->repetitions[1] = c->moments[1].n;
	form_intervals(c);
}

static void resample(struct analyze_change *c, const struct analyze_sample *baseline,
		     const struct analyze_sample *hardened)
{
	scoped_free double *a = alloc_array(baseline->n_sums, sizeof(*a));
	scoped_free double *b = alloc_array(hardened->n_sums, sizeof(*b));
	uint32_t n_a = analyze_sample_values(baseline, a);
	uint32_t n_b = analyze_sample_values(hardened, b);

	c->bootstrap = analyze_bootstrap(a, n_a, b, n_b, SEED, ANALYZE_CONFIDENCE);
	c->mann_whitney = analyze_mann_whitney(a, n_a, b, n_b);
}

/*
 * At LEVEL, which is the adjustment's where no other row differs. Spreads mostly grow with the mean, so
 * that of the hardened side is taken for as much larger as it would be with that difference.
 */
static void form_detectable(struct analyze_change *c, double level)
{
	struct analyze_moments a = c->moments[0], b = c->moments[1];
	double growth;

	c->detectable = analyze_detectable(&a, &b, level);
	growth = (a.mean + c->detectable) / b.mean;
	if (a.mean > 0 && growth > LEAST_GROWTH && isfinite(growth)) {
		b.variance *= growth * growth;
		c->detectable = analyze_detectable(&a, &b, level);
	}
	if (!isnan(c->plus_minus_pct))
		c->detectable_pct = c->detectable / a.mean * 100;
}

void analyze_change_work_out(struct analyze_change *c, const struct analyze_sample *baseline,
			     const struct analyze_sample *hardened)
{
	const struct analyze_moments *a = &c->moments[0], *b = &c->moments[1];

	if (c->is_worked_out)
		return;
	c->is_worked_out = true;
	if (!isnan(c->repetitions[0]))
		resample(c, baseline, hardened);
	if (isnan(c->level))
		return;
	form_detectable(c, c->level);
	/* The adjustment makes p of this row so many times larger. */
	if (c->verdict == ANALYZE_VERDICT_UNCLEAR && !c->verdict_of_runs)
		c->boots_needed = analyze_boots_needed(
			a, b, c->margin,
			c->p > 0 ? ANALYZE_SIGNIFICANT * c->p_single / c->p : ANALYZE_SIGNIFICANT);
}

/* On a real clock runs of one recording say nothing of the next. */
static void hold(struct analyze_change *c)
{
	c->verdict_of_runs = c->verdict;
	if (c->verdict_of_runs)
		c->verdict = ANALYZE_VERDICT_UNCLEAR;
}

/* ROWS have a p-value. */
static void judge(struct analyze_change *c, double margin, size_t rows)
{
	const struct analyze_moments *a = &c->moments[0], *b = &c->moments[1];
	bool same = analyze_is_same(a, b, margin);

	c->margin = margin;
	c->level = ANALYZE_SIGNIFICANT / (double)rows;
	c->verdict = analyze_verdict_of(same, b->mean - a->mean, c->p);
}

void analyze_changes_judge(struct analyze_change *const *changes, size_t n, double margin_pct,
			   bool undecided)
{
	scoped_free double *p = alloc_array(n, sizeof(*p));
	size_t rows = 0;

	for (size_t i = 0; i < n; i++) {
		p[i] = changes[i]->p_single;
		rows += !isnan(p[i]);
	}
	analyze_adjust(p, n);
	for (size_t i = 0; i < n; i++) {
		changes[i]->p = p[i];
		if (!isnan(p[i]))
			judge(changes[i], margin_pct / 100, rows);
		if (undecided)
			hold(changes[i]);
	}
}

/* ---- resample ---- */

#define RESAMPLES 2000
/* More than that, and the exact distribution is not worth its time: as R has it. */
#define EXACT_MAX 49

/* Steele, Lea and Flood, "Fast splittable pseudorandom number generators", OOPSLA 2014: SplitMix64. */
static uint64_t random_next(uint64_t *state)
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

/* The mean of N of the VALUES, drawn with repetition. The upper half of a product is below n. */
static double mean_drawn(const double *values, uint32_t n, uint64_t *state)
{
	double sum = 0;

	for (uint32_t i = 0; i < n; i++)
		sum += values[(random_next(state) >> 32) * n >> 32];
	return sum / n;
}

define_compare(value_compare, double, compare_values(*a, *b));

/* Return a quantile of sorted values, linear in between: Hyndman and Fan's definition 7, R's default. */
static double quantile(const double *sorted, uint32_t n, double q)
{
	double at = q * (n - 1);
	uint32_t i = (uint32_t)at;

	return i + 1 < n ? sorted[i] + (at - i) * (sorted[i + 1] - sorted[i]) : sorted[n - 1];
}

struct analyze_interval analyze_bootstrap(const double *a, uint32_t n_a, const double *b,
					  uint32_t n_b, uint64_t seed, double confidence)
{
	struct analyze_interval interval = { NAN, NAN };
	scoped_free double *differences = NULL;

	if (n_a < ANALYZE_MIN_BOOTSTRAP || n_b < ANALYZE_MIN_BOOTSTRAP)
		return interval;
	differences = alloc_array(RESAMPLES, sizeof(*differences));
	for (uint32_t i = 0; i < RESAMPLES; i++) {
		differences[i] = -mean_drawn(a, n_a, &seed);
		differences[i] += mean_drawn(b, n_b, &seed);
	}
	sort_array(differences, RESAMPLES, sizeof(*differences), value_compare);
	interval.low = quantile(differences, RESAMPLES, 0.5 - confidence / 2);
	interval.high = quantile(differences, RESAMPLES, 0.5 + confidence / 2);
	return interval;
}

struct value {
	double value;
	bool is_b;
};

define_compare(pooled_compare, struct value, value_compare(&a->value, &b->value));

/*
 * The sum of B's ranks among the N pooled values, equal ones sharing theirs. *TIES becomes the sum
 * of t^3 - t over groups of t equal values.
 */
static double rank_sum(const struct value *pooled, uint32_t n, double *ties)
{
	double sum = 0;

	*ties = 0;
	for_each_run(i, j, n, pooled[j].value == pooled[i].value) {
		double size = j - i, of_b = 0;

		for (uint32_t k = i; k < j; k++)
			of_b += pooled[k].is_b;
		sum += of_b * (i + 1 + j) / 2;
		*ties += size * size * size - size;
	}
	return sum;
}

static double mann_whitney_exact(double u, uint32_t n_a, uint32_t n_b)
{
	double below = pwilcox(u, n_b, n_a, 1, 0), above = pwilcox(u - 1, n_b, n_a, 0, 0);

	return fmin(1, 2 * fmin(below, above));
}

static double mann_whitney_normal(double u, double n_a, double n_b, double ties)
{
	double n = n_a + n_b, distance = fabs(u - n_a * n_b / 2) - 0.5;
	double variance = n_a * n_b / 12 * (n + 1 - ties / (n * (n - 1)));

	if (!(variance > 0) || distance <= 0)
		return 1;
	return 2 * pnorm(-distance / sqrt(variance), 0, 1, 1, 0);
}

double analyze_mann_whitney(const double *a, uint32_t n_a, const double *b, uint32_t n_b)
{
	scoped_free struct value *pooled = NULL;
	double ties, u;

	if (n_a < ANALYZE_MIN_MANN_WHITNEY || n_b < ANALYZE_MIN_MANN_WHITNEY)
		return NAN;
	pooled = alloc_array((size_t)n_a + n_b, sizeof(*pooled));
	for (uint32_t i = 0; i < n_a; i++)
		pooled[i] = (struct value){ a[i], false };
	for (uint32_t i = 0; i < n_b; i++)
		pooled[n_a + i] = (struct value){ b[i], true };
	sort_array(pooled, (size_t)n_a + n_b, sizeof(*pooled), pooled_compare);
	u = rank_sum(pooled, n_a + n_b, &ties) - (double)n_b * (n_b + 1) / 2;
	return n_a <= EXACT_MAX && n_b <= EXACT_MAX && ties == 0 ?
		       mann_whitney_exact(u, n_a, n_b) :
		       mann_whitney_normal(u, n_a, n_b, ties);
}
