// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/collect/captures.h"

#include <linux/types.h>

#include "kprotperf/engine.h"
#include "record/collect/syscalls.h"
#include "record/engine/engine.h"

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
		.absent = from->absent,
	};

	if (!from->hash || !from->calls)
		return;
	row.context = record_context_add(p, from->key % ENGINE_CONTEXTS);
	for (uint32_t i = 0; i < c->n_values; i++)
		row.values[i] = from->values[i];
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
