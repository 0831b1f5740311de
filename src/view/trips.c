// SPDX-License-Identifier: GPL-2.0-or-later
#include "view/words.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sorted.h"

/* Trip counts that a text has, at most; and the share of the calls that these must have. */
#define TEXT_ROWS  6
#define TEXT_SHARE 0.95

char *view_trips_words(const struct analyze_trips *row)
{
	if (isinf(row->high))
		return alloc_printf("%.0f or more", row->low);
	if (row->high <= row->low)
		return alloc_printf("%.0f", row->low);
	return alloc_printf("%.0f to %.0f", row->low, row->high);
}

define_compare(by_share, struct analyze_trips,
	       compare_values(b->share, a->share) ?: compare_values(a->low, b->low));

/* The share of the one with the least of the TEXT_ROWS of N rows that have most; in *ALL what they have. */
static double least_share(const struct analyze_trips *rows, size_t n, double *all)
{
	scoped_free struct analyze_trips *sorted = alloc_array(n, sizeof(*sorted));
	double least = 0;

	*all = 0;
	if (n)
		memcpy(sorted, rows, n * sizeof(*sorted));
	sort_array(sorted, n, sizeof(*sorted), by_share);
	for (size_t i = 0; i < n && i < TEXT_ROWS; i++) {
		least = sorted[i].share;
		*all += least;
	}
	return least;
}

char *view_trips_text(const struct analyze_trips *rows, size_t n)
{
	scoped_free struct analyze_trips *coarse = NULL;
	char *text = alloc_strdup("");
	double all, least = least_share(rows, n, &all), others = 0;

	if (all < TEXT_SHARE) {
		n = analyze_trips_coarse(rows, n, &coarse);
		rows = coarse;
		least = least_share(rows, n, &all);
	}
	for (size_t i = 0; i < n; i++) {
		scoped_free char *words = NULL;

		if (rows[i].share < least) {
			others += rows[i].share;
			continue;
		}
		words = view_trips_words(&rows[i]);
		alloc_append_item(&text, alloc_printf("%s: %.3g %%", words, 100 * rows[i].share));
	}
	if (others > 0)
		alloc_append_item(&text, alloc_printf("others: %.2g %%", 100 * others));
	return text;
}

char *view_trips_of_loop(const struct analyze_paths *paths, const struct analyze_loop *loop)
{
	scoped_free struct analyze_trips *rows = NULL;

	if (!loop->n_trips)
		return NULL;
	rows = alloc_array(loop->n_trips, sizeof(*rows));
	for (uint32_t i = 0; i < loop->n_trips; i++)
		rows[i] = paths->trips[loop->first_trips + i].trips;
	return view_trips_text(rows, loop->n_trips);
}

/* "3.5 at slub.c:1874" */
static char *mean_words(const struct analyze_path_trips *row)
{
	int decimals = row->trips == round(row->trips) ? 0 : row->trips < 10 ? 2 : 1;
	const char *file = row->location ? strrchr(row->location, '/') : NULL;

	return alloc_printf("%.*f at %s", decimals, row->trips,
			    file          ? file + 1 :
			    row->location ? row->location :
					    "?");
}

char *view_trips_of_path(const struct analyze_paths *paths, const struct analyze_path *path)
{
	char *text;

	if (!path->counted)
		return NULL;
	text = alloc_strdup("");
	for (uint32_t i = 0; i < path->n_trips; i++)
		alloc_append_item(&text, mean_words(&paths->path_trips[path->first_trips + i]));
	return text;
}
