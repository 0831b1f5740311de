// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/blocks/trips.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sorted.h"
#include "kprotperf/hist.h"

#define SLOTS 256 /* more than hist_slot(PROFILE_TRIP_COUNT_MAX) */

struct list {
	struct analyze_trips *items;
	uint32_t n_items, cap_items;
};

size_t analyze_trips_of(const struct analyze_counted *c, uint32_t blocks, uint32_t context,
			uint8_t counter, double calls, struct analyze_trips **rows)
{
	double slots[SLOTS] = { 0 }, left = calls;
	struct list list = { 0 };
	uint32_t n;
	const struct grouped_item *items = grouped_find(&c->trips, blocks, context, &n);

	*rows = NULL;
	if (counter == PROFILE_NO_BIT || !(calls > 0) || !c->trips_known)
		return 0;
	for (uint32_t i = 0; i < n; i++) {
		const struct profile_trips *t = &c->p->trips[items[i].item];

		if (t->counter != counter || t->slot >= SLOTS)
			continue;
		slots[t->slot] += (double)t->calls;
		left -= (double)t->calls;
	}
	slots[0] += left > 0 ? left : 0;
	for (uint32_t i = 0; i < SLOTS; i++) {
		double low = (double)hist_slot_low(i);
		struct analyze_trips row = { .low = low,
					     .high = low + (double)hist_slot_width(i) - 1,
					     .calls = slots[i],
					     .share = slots[i] / calls };

		if (row.high >= PROFILE_TRIP_COUNT_MAX)
			row.high = INFINITY;
		if (slots[i] > 0)
			vec_push(&list, items, row);
	}
	*rows = list.items;
	return list.n_items;
}

size_t analyze_trips_coarse(const struct analyze_trips *rows, size_t n,
			    struct analyze_trips **coarse)
{
	struct list list = { 0 };

	for (size_t i = 0; i < n; i++) {
		double low = rows[i].low < 1 ? 0 : exp2(floor(log2(rows[i].low)));
		struct analyze_trips row = { .low = low, .high = low < 1 ? 0 : 2 * low - 1 };

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
