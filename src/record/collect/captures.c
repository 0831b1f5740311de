// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/collect/collect.h"

#include <linux/types.h>
#include <string.h>

#include "kprotperf/engine.h"
#include "record/engine/engine.h"

/* Number *I of ROW, as it is in a profile: of a name, which takes two, that of its text. Moves *I to the next. */
static uint64_t drain_value(const struct record_capture *c, const struct engine_capture *from,
			    uint32_t *i, struct profile *p)
{
	const __u64 *values = &from->values[*i];
	char text[ENGINE_NAME + 1] = "";
	bool is_absent = from->absent >> *i & 1;

	if (c->values[(*i)++].variable.kind != PROFILE_VARIABLE_NAME)
		return *values;
	++*i;
	memcpy(text, values, ENGINE_NAME);
	return is_absent ? 0 : profile_name_add(p, text);
}

static void drain_row(const struct record_capture *c, const struct engine_capture *from,
		      bool sampled, struct profile *p, uint32_t run)
{
	struct profile_capture row = {
		.run = run,
		.site = c->site + 1,
		.calls = from->calls,
		.time = (int64_t)from->time,
		.sumsq = (double)from->sq_lo + (double)from->sq_hi * (1 << ENGINE_SQ_SPLIT),
		.min = ~from->min_inv,
		.max = from->max,
		.sampled = sampled,
	};

	if (!from->hash || !from->calls)
		return;
	row.context = record_context_add(p, from->key % ENGINE_CONTEXTS);
	for (uint32_t i = 0, n = 0; i < c->n_values; n++) {
		row.absent |= (uint32_t)(from->absent >> i & 1) << n;
		row.values[n] = drain_value(c, from, &i, p);
	}
	profile_capture_add(p, &row);
}

void record_captures_drain(const struct record_captures *c, const struct record_engine *e,
			   struct profile *p, uint32_t run)
{
	struct record_engine_maps maps;

	record_engine_maps(e, &maps);
	for (uint32_t i = 0; i < c->n_items; i++) {
		const struct engine_capture *rows = &maps.captures[(size_t)i * ENGINE_CAPTURE_ROWS];
		const struct engine_capture *samples =
			&maps.captures[(size_t)maps.n_captured * ENGINE_CAPTURE_ROWS +
				       (size_t)i * ENGINE_CAPTURE_SAMPLES];

		for (uint32_t k = 0; k < ENGINE_CAPTURE_ROWS; k++)
			drain_row(&c->items[i], &rows[k], false, p, run);
		for (uint32_t k = 0; k < ENGINE_CAPTURE_SAMPLES; k++)
			drain_row(&c->items[i], &samples[k], true, p, run);
	}
}
