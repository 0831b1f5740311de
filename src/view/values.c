// SPDX-License-Identifier: GPL-2.0-or-later
#include "view/words.h"

#include <math.h>
#include <string.h>

#include "output/number.h"
#include "view/names.h"
#include "view/page/page.h"

/* Return FUNCTION's row for all variables together. Rows of single variables follow it. FUNCTION NULL: the first function. */
static const struct varies_shift *all_of(const struct varies_shifts *s, const char *function)
{
	for (uint32_t i = 0; i < s->n_rows; i++)
		if (!function || !strcmp(s->rows[i].function, function))
			return &s->rows[i];
	return NULL;
}

/*
 * Append the change that different captured values cause: "+5,940 from different values, mostly of crng_init (0 instead of 2 on
 * average)". Omit MOST, the variable in this example, if it is NULL or causes less than half of the change. Omit MOST also if the
 * change at equal values is more than 10 times as large.
 */
static void append_by_values(char **text, const struct varies_shift *all,
			     const struct varies_shift *most, enum profile_clock clock)
{
	alloc_append(text, "%s from different values",
		     output_number(OUTPUT_DELTA, all->by_values, clock));
	if (!most || fabs(most->by_values) < fabs(all->by_values) / 2 ||
	    fabs(all->by_values) < fabs(all->by_cost) / 10)
		return;
	view_append(text, ", mostly of %s", most->variable);
	if (!isnan(most->sides[0].value) && !isnan(most->sides[1].value))
		alloc_append(text, " (%s instead of %s on average)",
			     output_digits(most->sides[1].value, 3),
			     output_digits(most->sides[0].value, 3));
}

char *view_values_change(const struct varies_shifts *s, const char *function,
			 enum profile_clock clock)
{
	const struct varies_shift *all = all_of(s, function), *most;
	const char *by_cost;
	char *text = NULL;

	if (!all)
		return NULL;
	most = all + 1 < s->rows + s->n_rows && all[1].variable ? all + 1 : NULL;
	by_cost = output_number(OUTPUT_DELTA, all->by_cost, clock);
	view_append(&text, "%s takes %s per call: ", all->function,
		    output_amount(OUTPUT_DELTA, all->delta, clock));
	if (fabs(all->by_values) >= fabs(all->by_cost)) {
		append_by_values(&text, all, most, clock);
		alloc_append(&text, ", and %s at equal captured values.", by_cost);
	} else {
		alloc_append(&text, "%s at equal captured values and ", by_cost);
		append_by_values(&text, all, most, clock);
		alloc_append(&text, ".");
	}
	return text;
}
