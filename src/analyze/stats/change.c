// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/stats/change.h"

#include <math.h>

#include "base/alloc.h"

const struct analyze_change analyze_change_none = {
	.repetitions = { NAN, NAN },
	.ci = { NAN, NAN },
	.ci_pct = { NAN, NAN },
	.plus_minus = NAN,
	.plus_minus_pct = NAN,
	.p_single = NAN,
	.p = NAN,
	.boots_needed = NAN,
	.noise = NAN,
	.moments = { { .mean = NAN, .variance = NAN }, { .mean = NAN, .variance = NAN } },
};

static struct analyze_interval in_percent(struct analyze_interval i)
{
	return (struct analyze_interval){ i.low * 100, i.high * 100 };
}

void analyze_change_form(struct analyze_change *c)
{
	const struct analyze_moments *a = &c->moments[0], *b = &c->moments[1];
	struct analyze_welch w = analyze_welch_form(a, b);
	double pct = (b->mean / a->mean - 1) * 100;

	c->repetitions[0] = a->n;
	c->repetitions[1] = b->n;
	c->ci = analyze_welch_interval(&w, ANALYZE_CONFIDENCE);
	c->plus_minus = (c->ci.high - c->ci.low) / 2;
	c->ci_pct = in_percent(analyze_ratio_interval(a, b, ANALYZE_CONFIDENCE));
	/* The interval is not symmetric around the change, so use the distance to its farther end. */
	c->plus_minus_pct = fmax(c->ci_pct.high - pct, pct - c->ci_pct.low);
	c->p_single = c->p = w.p;
}

/* Save the verdict that follows from runs, then set "unclear": runs do not show how much recordings differ. */
static void hold(struct analyze_change *c)
{
	c->verdict_of_runs = c->verdict;
	if (c->verdict_of_runs)
		c->verdict = ANALYZE_VERDICT_UNCLEAR;
}

static void judge(struct analyze_change *c, double margin, bool undecided)
{
	const struct analyze_moments *a = &c->moments[0], *b = &c->moments[1];
	/* The adjustment raised P_SINGLE to P. Instead of raising further p-values, lower the significance level as much. */
	double level = c->p > 0 ? ANALYZE_SIGNIFICANT * c->p_single / c->p : ANALYZE_SIGNIFICANT;

	c->verdict = analyze_verdict_of(analyze_is_same(a, b, margin), b->mean - a->mean, c->p);
	if (undecided)
		hold(c);
	else if (c->verdict == ANALYZE_VERDICT_UNCLEAR)
		c->boots_needed = analyze_boots_needed(a, b, margin, level);
}

void analyze_changes_judge(struct analyze_change *const *changes, size_t n, double margin_pct,
			   bool undecided)
{
	scoped_free double *p = alloc_array(n, sizeof(*p));

	for (size_t i = 0; i < n; i++)
		p[i] = changes[i]->p_single;
	analyze_adjust(p, n);
	for (size_t i = 0; i < n; i++) {
		changes[i]->p = p[i];
		if (!isnan(p[i]))
			judge(changes[i], margin_pct / 100, undecided);
	}
}
