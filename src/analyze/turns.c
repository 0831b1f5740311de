// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/turns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "kprotperf/hist.h"

#define SLOTS 256 /* more than hist_slot(PROFILE_TURNS_MAX) */

/* Numbers of turns that a text has, at most; and the share of the calls that these must have. */
#define TEXT_ROWS  6
#define TEXT_SHARE 0.95

struct list {
	struct analyze_turns *items;
	uint32_t n_items, cap_items;
};

static bool is_known(const struct profile *p)
{
	uint32_t i;

	for (i = 0; i < p->n_runs; i++)
		if (p->runs[i].losses[PROFILE_LOSS_TURNS_FULL] &&
		    p->runs[i].losses[PROFILE_LOSS_TURNS_FULL] != PROFILE_NOT_COUNTED)
			return false;
	return true;
}

size_t analyze_turns_of(const struct profile *p, uint32_t blocks, uint32_t context, uint8_t counter,
			double calls, struct analyze_turns **rows)
{
	double slots[SLOTS] = { 0 }, left = calls;
	struct list list = { 0 };
	uint32_t i;

	*rows = NULL;
	if (counter == PROFILE_NO_BIT || !(calls > 0) || !is_known(p))
		return 0;
	for (i = 0; i < p->n_turns; i++) {
		const struct profile_turns *t = &p->turns[i];

		if (t->blocks != blocks || t->counter != counter || t->slot >= SLOTS ||
		    (context != PROFILE_ALL_CONTEXTS && t->context != context))
			continue;
		slots[t->slot] += (double)t->calls;
		left -= (double)t->calls;
	}
	slots[0] += left > 0 ? left : 0;
	for (i = 0; i < SLOTS; i++) {
		double low = (double)hist_slot_low(i);
		struct analyze_turns row = { .low = low,
					     .high = low + (double)hist_slot_width(i) - 1,
					     .calls = slots[i],
					     .share = slots[i] / calls };

		if (row.high >= PROFILE_TURNS_MAX)
			row.high = INFINITY;
		if (slots[i] > 0)
			vec_push(&list, items, row);
	}
	*rows = list.items;
	return list.n_items;
}

size_t analyze_turns_coarse(const struct analyze_turns *rows, size_t n,
			    struct analyze_turns **coarse)
{
	struct list list = { 0 };
	size_t i;

	for (i = 0; i < n; i++) {
		double low = rows[i].low < 1 ? 0 : exp2(floor(log2(rows[i].low)));
		struct analyze_turns row = { .low = low, .high = low < 1 ? 0 : 2 * low - 1 };

		if (!list.n_items || list.items[list.n_items - 1].low < low)
			vec_push(&list, items, row);
		list.items[list.n_items - 1].calls += rows[i].calls;
		list.items[list.n_items - 1].share += rows[i].share;
		if (isinf(rows[i].high))
			list.items[list.n_items - 1].high = INFINITY;
	}
	*coarse = list.items;
	return list.n_items;
}

char *analyze_turns_words(const struct analyze_turns *row)
{
	if (isinf(row->high))
		return alloc_printf("%.0f or more", row->low);
	if (row->high <= row->low)
		return alloc_printf("%.0f", row->low);
	return alloc_printf("%.0f to %.0f", row->low, row->high);
}

static int by_share(const void *left, const void *right)
{
	const struct analyze_turns *a = left, *b = right;

	return a->share != b->share ? (a->share > b->share ? -1 : 1) :
				      (a->low > b->low) - (a->low < b->low);
}

/* The share of the one with the least of the TEXT_ROWS of N rows that have most; in *ALL what they have. */
static double least_share(const struct analyze_turns *rows, size_t n, double *all)
{
	struct analyze_turns *sorted = alloc_array(n, sizeof(*sorted));
	double least = 0;

	*all = 0;
	if (n)
		memcpy(sorted, rows, n * sizeof(*sorted));
	if (n)
		qsort(sorted, n, sizeof(*sorted), by_share);
	for (size_t i = 0; i < n && i < TEXT_ROWS; i++) {
		least = sorted[i].share;
		*all += least;
	}
	free(sorted);
	return least;
}

static char *append(char *text, char *more)
{
	char *longer = alloc_printf("%s%s%s", text, *text ? ", " : "", more);

	free(text);
	free(more);
	return longer;
}

char *analyze_turns_text(const struct analyze_turns *rows, size_t n)
{
	struct analyze_turns *coarse = NULL;
	char *text = alloc_strdup("");
	double all, least = least_share(rows, n, &all), others = 0;
	size_t i;

	if (all < TEXT_SHARE) {
		n = analyze_turns_coarse(rows, n, &coarse);
		rows = coarse;
		least = least_share(rows, n, &all);
	}
	for (i = 0; i < n; i++) {
		char *words;

		if (rows[i].share < least) {
			others += rows[i].share;
			continue;
		}
		words = analyze_turns_words(&rows[i]);
		text = append(text, alloc_printf("%s: %.3g %%", words, 100 * rows[i].share));
		free(words);
	}
	if (others > 0)
		text = append(text, alloc_printf("others: %.2g %%", 100 * others));
	free(coarse);
	return text;
}
