// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/blocks/trips.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sorted.h"
#include "kprotperf/hist.h"

#define SLOTS 256 /* more than hist_slot(PROFILE_TRIP_COUNT_MAX) */

struct list {
	vec_of(struct analyze_trips, items);
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

#define MORE_MOST 2 /* trips more or less than the value */

/* Does CONDITION have what is last in NAME, "objects" of "return->objects"? */
static bool has_name(const char *condition, const char *name)
{
	const char *dot = strrchr(name, '.'), *arrow = strrchr(name, '>');
	const char *last = dot > arrow ? dot : arrow;

	return condition && strstr(condition, last ? last + 1 : name);
}

/* In which share of the calls in which TRIPS is one at least it is MORE than VALUE, both places among SITE's; *VARIES: it is not always the same. */
static double share_of(const struct profile *p, uint32_t site, uint32_t trips, uint32_t value,
		       int64_t more, bool *varies)
{
	double calls = 0, fitting = 0;
	uint64_t first = 0;

	*varies = false;
	vec_each(const struct profile_capture, c, p, captures) {
		if (c->site != site || c->absent >> trips & 1 || !c->values[trips])
			continue;
		first = first ?: c->values[trips];
		*varies |= c->values[trips] != first;
		calls += (double)c->calls;
		if (!(c->absent >> value & 1) &&
		    c->values[trips] == c->values[value] + (uint64_t)more)
			fitting += (double)c->calls;
	}
	return calls > 0 ? fitting / calls : 0;
}

void analyze_trip_value_find(struct analyze_trip_value *out, const struct profile *p, uint32_t site,
			     const char *named, const char *condition)
{
	const struct profile_variable *variables[PROFILE_VALUES_MAX];
	uint32_t n = 0, trips = PROFILE_VALUES_MAX;

	*out = (struct analyze_trip_value){ .share = 0.5 };
	for (uint32_t i = 0; i < p->n_variables && n < PROFILE_VALUES_MAX; i++) {
		if (p->variables[i].site != site)
			continue;
		if (!strcmp(p->variables[i].name, named))
			trips = n;
		variables[n++] = &p->variables[i];
	}
	for (uint32_t i = 0; i < n && trips < n; i++) {
		if (variables[i]->kind == PROFILE_VARIABLE_TRIP_COUNT)
			continue;
		for (int64_t more = -MORE_MOST; more <= MORE_MOST; more++) {
			bool varies, better;
			double share = share_of(p, site, trips, i, more, &varies);

			better = share > out->share || (out->variable && share == out->share &&
							has_name(condition, variables[i]->name) &&
							!has_name(condition, out->variable->name));
			if (varies && better)
				*out = (struct analyze_trip_value){ variables[i], more, share };
		}
	}
}
