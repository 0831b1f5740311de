// SPDX-License-Identifier: GPL-2.0-or-later
/* What probes count of themselves, by event: as calibrate.c has it of their time. */
#include <bpf/libbpf.h>
#include <linux/types.h>
#include <sys/syscall.h>

#include "kprotperf/engine.h"
#include "kprotperf.skel.h"
#include "record/cost/calibrate_impl.h"

/* By event: how much each round made the counts of a call's context grow, and those of a site in it. */
struct rounds {
	struct record_series outer[ENGINE_COUNTERS], inner[ENGINE_COUNTERS];
};

static void read_all(const struct calibrator *c, uint32_t site, uint32_t ctx, struct rounds *r,
		     int round, int sign)
{
	for (uint32_t i = 0; i < c->out->n_counters; i++) {
		uint64_t outer = record_engine_counted(c->e, ENGINE_SITE_CONTEXT, ctx, i);
		uint64_t inner = record_engine_counted(c->e, site, ctx, i);

		r->outer[i].values[round] += sign < 0 ? -outer : outer;
		r->inner[i].values[round] += sign < 0 ? -inner : inner;
	}
}

static int measure(const struct calibrator *c, const struct record_call *call, uint32_t site,
		   struct rounds *r)
{
	for (int round = 0; round < RECORD_ROUNDS; round++) {
		int err;

		read_all(c, site, call->ctx, r, round, -1);
		err = call->once(call->arg);
		if (err)
			return err;
		read_all(c, site, call->ctx, r, round, 1);
	}
	return 0;
}

int record_calibrate_counters_before(struct calibrator *c, const struct record_call *call,
				     uint64_t *base)
{
	struct rounds r = {};
	int err = c->out->n_counters ? measure(c, call, ENGINE_SITE_CONTEXT, &r) : 0;

	for (uint32_t i = 0; i < c->out->n_counters && !err; i++)
		base[i] = record_series_median(&r.outer[i]);
	return err;
}

int record_calibrate_counters(struct calibrator *c, const struct record_call *call, uint32_t site,
			      enum profile_mechanism mech, uint64_t insns, const uint64_t *base)
{
	struct engine_counter_costs costs = {};
	struct rounds r = {};
	int err = c->out->n_counters ? measure(c, call, site, &r) : 0;

	if (err || !c->out->n_counters)
		return err;
	for (uint32_t i = 0; i < c->out->n_counters; i++) {
		bool of_insns = record_event_is_instructions(&c->out->counters[i],
							     c->p->clock == PROFILE_CLOCK_INSN);

		costs.inner[i] = record_series_median(&r.inner[i]) - (of_insns ? insns : 0);
		if (base)
			costs.full[i] = record_series_median(&r.outer[i]) - base[i];
	}
	record_engine_set_counter_costs(c->e, mech, &costs);
	return 0;
}

/* What it takes to leave out what the CPU counts while a task does not run. */
void record_calibrate_counters_pause(struct calibrator *c)
{
	struct kprotperf_bpf *skel = record_engine_programs(c->e);
	int prog = c->out->n_counters ? bpf_program__fd(skel->progs.pause_counters) : -1;
	const struct record_call call = { record_round_run, &prog, SYS_bpf };
	uint64_t counted[2][ENGINE_COUNTERS];
	int err = 0;

	if (prog < 0)
		return;
	for (int i = 0; i < 2 && !err; i++) {
		skel->bss->pauses = i;
		err = record_calibrate_counters_before(c, &call, counted[i]);
	}
	for (uint32_t i = 0; i < c->out->n_counters && !err; i++)
		skel->bss->counter_pause[i] = counted[1][i] - counted[0][i];
}
