// SPDX-License-Identifier: GPL-2.0-or-later
/* The inlined body that has most of a function's change. */
#include <math.h>
#include <string.h>

#include "analyze/diff/inside/ranges.h"

static bool is_one_sided(const struct analyze_diff_range *r)
{
	return !r->sides[0].source != !r->sides[1].source;
}

static double total(const struct analyze_diff_range *r)
{
	return fmax(r->sides[0].source ? r->sides[0].figures.total : 0,
		    r->sides[1].source ? r->sides[1].figures.total : 0);
}

/*
 * Return whether A says more than B of a change that both have in them: a measurement more than an estimate, and what one
 * kernel alone has more than what both have. Of the former the outermost is what was put there, with all that it needs; of
 * the latter the innermost has least that did not change.
 */
static bool is_better(const struct analyze_diff_range *a, const struct analyze_diff_range *b)
{
	if (a->estimated != b->estimated)
		return b->estimated;
	if (is_one_sided(a) != is_one_sided(b))
		return is_one_sided(a);
	return is_one_sided(a) ? total(a) > total(b) : total(a) < total(b);
}

static bool is_candidate(const struct analyze_diff_range *r, const char *function,
			 const char *context)
{
	return !r->redundant && !strcmp(r->body.function, function) &&
	       !strcmp(r->context, context) && r->share >= MOST &&
	       strcmp(r->body.name, ANALYZE_RANGE_REST) != 0;
}

const struct analyze_diff_range *analyze_diff_ranges_main(const struct analyze_diff_ranges *ranges,
							  const char *function, const char *context)
{
	const struct analyze_diff_range *best = NULL;
	double largest = MOST;

	vec_each(const struct analyze_diff_range, r, ranges, rows)
		if (is_candidate(r, function, context))
			largest = fmax(largest, r->share);
	vec_each(const struct analyze_diff_range, r, ranges, rows)
		if (is_candidate(r, function, context) && r->share >= NEARLY_ALL * largest &&
		    (!best || is_better(r, best)))
			best = r;
	return best;
}
