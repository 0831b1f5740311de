// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Programs that capture values exclude the time from a call's end to a reading of the clock, and what the pair costs its
 * callers. The difference between that and the time that a call takes longer with them is a constant.
 */
#include <linux/types.h>

#include "kprotperf/engine.h"
#include "record/cost/calibrate_impl.h"
#include "record/engine/engine.h"
#include "record/target/capture.h"

struct medians {
	uint64_t oncpu, excluded;
};

static int measure(struct calibrator *c, struct medians *out)
{
	struct record_reading readings[] = {
		{ ENGINE_SITE_CONTEXT, c->empty_call.ctx, RECORD_SUM_ONCPU },
		{ ENGINE_SITE_CONTEXT, c->empty_call.ctx, RECORD_SUM_EXCLUDED },
	};
	int err = record_measure(c->e, c->empty_call.once, c->empty_call.arg, readings, 2);

	if (!err)
		*out = (struct medians){ record_series_median(&readings[0].series),
					 record_series_median(&readings[1].series) };
	c->base = readings[0].series;
	return err;
}

int record_calibrate_capture(struct calibrator *c, enum profile_mechanism mech,
			     const struct record_target *target)
{
	static const struct record_capture nothing;
	bool fentry = mech == PROFILE_MECH_FENTRY;
	uint32_t spare = fentry ? SPARE_CAPTURE : SPARE_CAPTURE_KPROBE;
	struct engine_cost *cost =
		&c->out->cost[fentry ? PROFILE_COSTS_CAPTURE : PROFILE_COSTS_CAPTURE_KPROBE];
	struct record_target capturing = *target;
	struct medians before, with;
	uint64_t full; /* that the programs exclude by now */
	int err;

	capturing.capture = &nothing;
	err = measure(c, &before);
	err = err ?: record_calibrator_attach(c, spare, mech, &capturing);
	full = record_engine_full_cost(c->e, record_engine_spare(c->e, spare), mech);
	err = err ?: measure(c, &with);
	if (err)
		return err;
	cost->after_handlers = with.oncpu - before.oncpu -
			       (with.excluded - before.excluded - full) -
			       record_cost_full(&c->out->cost[mech], fentry ? target->n_args : 0);
	cost->known = true;
	return 0;
}
