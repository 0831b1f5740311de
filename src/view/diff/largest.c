// SPDX-License-Identifier: GPL-2.0-or-later
/* The sentence on the syscall or function that changed most. `diff` shows it if the causes of the change are too uncertain. */
#include <math.h>

#include "base/alloc.h"
#include "output/number.h"
#include "view/diff.h"
#include "view/names.h"
#include "view/page/page.h"

static bool is_significant(const struct analyze_diff_row *row)
{
	return row->change.p < ANALYZE_SIGNIFICANT &&
	       row->change.verdict != ANALYZE_VERDICT_UNCLEAR;
}

static bool is_better(const struct analyze_diff_row *a, const struct analyze_diff_row *b)
{
	if (!b || is_significant(a) != is_significant(b))
		return !b || is_significant(a);
	return fabs(a->delta_total) > fabs(b->delta_total);
}

/*
 * Return the row with the largest change, or with the largest significant change if there is one; NULL: no row changed. Ignore
 * syscalls whose change is at most the fraction LITTLE of the largest change.
 */
static const struct analyze_diff_row *find(const struct analyze_diff *diff)
{
	const struct analyze_diff_row *best = NULL;
	double largest = 0;

	vec_each(const struct analyze_diff_row, row, &diff->syscalls, rows)
		largest = fmax(largest, fabs(row->delta_total));
	vec_each(const struct analyze_diff_row, row, &diff->syscalls, rows)
		if (fabs(row->delta_total) > LITTLE * largest && is_better(row, best))
			best = row;
	if (diff->time != ANALYZE_TIME_SELF)
		return best;
	vec_each(const struct analyze_diff_row, row, &diff->functions, rows)
		if (fabs(row->delta_total) > 0 && !analyze_is_sum(row->context) &&
		    is_better(row, best))
			best = row;
	return best;
}

/* Append the change per call with its interval, such as ", 21.4 % slower per call (±0.05 %)". */
static void append_per_call(char **text, const struct view_diff *c,
			    const struct analyze_diff_row *row)
{
	const char *pct = output_number(OUTPUT_PERCENT, row->delta_pct, c->diff.clock);

	if (isnan(row->delta_pct))
		return;
	alloc_append(text, ", %s per call", pct);
	if (row->change.verdict)
		alloc_append(text, " (%s, \u00b1%.2g %%)", view_verdicts[row->change.verdict],
			     row->change.plus_minus_pct);
}

char *view_diff_largest(const struct view_diff *c, bool significant)
{
	static const char *const times[] = {
		[ANALYZE_TIME_WALL] = " by the wall clock",
		[ANALYZE_TIME_SELF] = " in self time, excluding timed callees",
	};
	const struct analyze_diff_row *row = find(&c->diff);
	char *text = NULL;

	if (significant && !(row && is_significant(row)))
		return NULL;
	if (!c->diff.syscalls.n_rows)
		return alloc_strdup("Nothing to compare: no syscalls were recorded.");
	if (!row)
		return alloc_strdup("No syscall changed.");
	view_append(&text, "%s%s%s changed most%s%s: ", row->name, row->context ? " in " : "",
		    row->context ?: "", times[c->diff.time] ?: "",
		    c->figures.raw ? ", including the probes' cost" : "");
	view_append_context(&text, row->name);
	alloc_append(&text, "%s per run",
		     output_amount(OUTPUT_DELTA, row->delta_total, c->diff.clock));
	append_per_call(&text, c, row);
	alloc_append(&text, ".");
	return text;
}
