// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/stats/change.h"

#include <math.h>

#include "analyze/stats/power.h"
#include "analyze/stats/resample.h"
#include "base/alloc.h"

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
	c->samples[0] = baseline;
	c->samples[1] = hardened;
	form_intervals(c);
}

void analyze_change_resample(struct analyze_change *c)
{
	scoped_free double *a = NULL, *b = NULL;
	uint32_t n_a, n_b;

	if (!c->samples[0] || !c->samples[1])
		return;
	a = alloc_array(c->samples[0]->n_sums, sizeof(*a));
	b = alloc_array(c->samples[1]->n_sums, sizeof(*b));
	n_a = analyze_sample_values(c->samples[0], a);
	n_b = analyze_sample_values(c->samples[1], b);
	c->bootstrap = analyze_bootstrap(a, n_a, b, n_b, SEED, ANALYZE_CONFIDENCE);
	c->mann_whitney = analyze_mann_whitney(a, n_a, b, n_b);
	c->samples[0] = c->samples[1] = NULL;
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

void analyze_change_work_out(struct analyze_change *c)
{
	const struct analyze_moments *a = &c->moments[0], *b = &c->moments[1];

	analyze_change_resample(c);
	if (isnan(c->level))
		return;
	form_detectable(c, c->level);
	/* The adjustment makes p of this row so many times larger. */
	if (c->verdict == ANALYZE_VERDICT_UNCLEAR && !c->held)
		c->boots_needed = analyze_boots_needed(
			a, b, c->margin,
			c->p > 0 ? ANALYZE_SIGNIFICANT * c->p_single / c->p : ANALYZE_SIGNIFICANT);
	c->level = NAN;
}

/* On a real clock runs of one recording say nothing of the next. */
static void hold(struct analyze_change *c)
{
	c->held = c->verdict;
	if (c->held)
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
