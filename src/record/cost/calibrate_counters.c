// SPDX-License-Identifier: GPL-2.0-or-later
/* Calibrate the numbers of events that probes cause themselves, as calibrate.c calibrates time. */
#include <bpf/libbpf.h>
#include <linux/types.h>
#include <sys/syscall.h>

#include "base/alloc.h"
#include "kprotperf/engine.h"
#include "kprotperf.skel.h"
#include "record/cost/calibrate_impl.h"
#include "record/engine/engine.h"
#include "record/target/capture.h"

/* Count N events while CALL runs. READINGS gets N counts for the function SITE, followed by N counts for CALL's system call. */
static int measure(const struct record_engine *e, bool real_clock, const struct record_call *call,
		   uint32_t site, struct record_reading *readings, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		readings[i] = (struct record_reading){ .site = site,
						       .ctx = call->ctx,
						       .of = RECORD_SUM_COUNTED + i };
		readings[n + i] = readings[i];
		readings[n + i].site = ENGINE_SITE_CONTEXT;
	}
	return n ? record_measure_repeated(e, real_clock, call, readings, 2 * n) : 0;
}

int record_calibrate_counters_before(struct calibrator *c, const struct record_call *call,
				     struct record_series *base)
{
	struct record_reading readings[2 * ENGINE_COUNTERS];
	uint32_t n = c->out->n_counters;
	int err = measure(c->e, c->p->clock == PROFILE_CLOCK_NS, call, ENGINE_SITE_CONTEXT,
			  readings, n);

	for (uint32_t i = 0; i < n && !err; i++)
		base[i] = readings[n + i].series;
	return err;
}

/* Return how many events EVENT counts in an unprobed function of INSNS instructions: INSNS if it counts instructions, else 0. */
static uint64_t empty_count(const struct record_event *event, enum profile_clock clock,
			    uint64_t insns)
{
	return record_event_is_instructions(event, clock == PROFILE_CLOCK_INSN) ? insns : 0;
}

int record_calibrate_counters(struct calibrator *c, const struct record_call *call, uint32_t site,
			      enum profile_mechanism mech, uint64_t insns,
			      struct record_series *base)
{
	struct record_reading readings[2 * ENGINE_COUNTERS];
	struct engine_counter_costs costs = {};
	uint32_t n = c->out->n_counters;
	int err = measure(c->e, c->p->clock == PROFILE_CLOCK_NS, call, site, readings, n);

	if (err || !n)
		return err;
	for (uint32_t i = 0; i < n; i++) {
		struct record_series *outer = &readings[n + i].series;
		struct engine_cost *cost = &c->out->counted[mech][i];

		record_cost_solve(cost, base ? &base[i] : outer, outer, &readings[i].series,
				  empty_count(&c->out->counters[i], c->p->clock, insns));
		if (!base)
			cost->full_spread = 0;
		c->out->counted_again[mech][i] = cost->inner;
		costs.inner[i] = cost->inner;
		costs.full[i] = cost->full;
	}
	record_engine_set_counter_costs(c->e, mech, &costs);
	return 0;
}

void record_calibrate_counters_again(struct record_engine *e, struct record_calibration *out)
{
	const struct {
		enum profile_mechanism mech;
		struct record_call call;
		uint32_t site;
		uint64_t insns;
	} all[] = {
		{ PROFILE_MECH_TRACEPOINT, record_call_unused, ENGINE_SITE_CONTEXT,
		  EMPTY_SYSCALL_INSNS },
		{ PROFILE_MECH_FENTRY,
		  { record_round_run, &out->run, SYS_bpf },
		  record_engine_spare(e, SPARE_FENTRY),
		  record_empty_insns[0] },
	};
	const struct engine_counter_costs nothing = {};

	/* Clear the costs: programs would subtract them from the counts of each call. */
	for (size_t k = 0; k < ARRAY_SIZE(all); k++)
		record_engine_set_counter_costs(e, all[k].mech, &nothing);
	for (size_t k = 0; k < ARRAY_SIZE(all); k++) {
		struct record_reading readings[2 * ENGINE_COUNTERS];
		uint64_t *again = out->counted_again[all[k].mech];

		if (!out->counted[all[k].mech][0].known ||
		    measure(e, true, &all[k].call, all[k].site, readings, out->n_counters))
			continue;
		for (uint32_t i = 0; i < out->n_counters; i++)
			again[i] = record_cost_less(
				record_series_median(&readings[i].series),
				empty_count(&out->counters[i], PROFILE_CLOCK_NS, all[k].insns));
	}
}

void record_calibrate_counters_pause(struct calibrator *c)
{
	struct kprotperf_bpf *skel = record_engine_programs(c->e);
	int prog = c->out->n_counters ? bpf_program__fd(skel->progs.pause_counters) : -1;
	const struct record_call call = { record_round_run, &prog, SYS_bpf };
	struct record_series counted[2][ENGINE_COUNTERS];
	int err = 0;

	if (prog < 0)
		return;
	for (int i = 0; i < 2 && !err; i++) {
		skel->bss->pauses = i;
		err = record_calibrate_counters_before(c, &call, counted[i]);
	}
	for (uint32_t i = 0; i < c->out->n_counters && !err; i++)
		skel->bss->counter_pause[i] =
			record_series_median(&counted[1][i]) - record_series_median(&counted[0][i]);
}

/*
 * A program that captures values excludes the time from a call's end to a further clock reading, and FULL of the call's two
 * probes. The program really takes a different time. The difference is constant, and is measured here.
 */

struct medians {
	uint64_t oncpu, excluded;
};

static int measure_capture(struct calibrator *c, struct medians *out)
{
	struct record_reading readings[] = {
		{ ENGINE_SITE_CONTEXT, c->empty_call.ctx, RECORD_SUM_ONCPU },
		{ ENGINE_SITE_CONTEXT, c->empty_call.ctx, RECORD_SUM_EXCLUDED },
	};
	int err = record_measure(c->e, &c->empty_call, readings, 2);

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
	uint64_t full; /* FULL that the programs exclude now */
	int err;

	capturing.capture = &nothing;
	err = measure_capture(c, &before);
	err = err ?: record_calibrator_attach(c, spare, mech, &capturing);
	full = record_cost_full(record_engine_cost(c->e, mech), target->n_args);
	err = err ?: measure_capture(c, &with);
	if (err)
		return err;
	cost->after_handlers = with.oncpu - before.oncpu -
			       (with.excluded - before.excluded - full) -
			       record_cost_full(&c->out->cost[mech], fentry ? target->n_args : 0);
	cost->known = true;
	return 0;
}
