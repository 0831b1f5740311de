// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/calibrate.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "kprotperf/engine.h"
#include "record/trip.h"

#define ROUNDS          101
#define SAMPLER_PERIODS 20

/*
 * What the empty calls that are timed take by themselves, in instructions: the nop at the entry, the
 * addition, the return and its thunk, and of the one with many arguments four more; for the system call, the test of its number and the empty
 * function behind it. On a real clock that is about a nanosecond.
 */
#define EMPTY_FUNCTION_INSNS 4
#define MANY_FUNCTION_INSNS  4 /* more than that */
#define EMPTY_SYSCALL_INSNS  8
#define EMPTY_NS             1

/* A system call that no kernel has. */
#define UNUSED_SYSCALL (ENGINE_SYSCALLS - 1)

struct calibrator {
	struct record_engine *e;
	enum profile_clock clock;
	int run; /* an unattached fentry program: running it calls the empty functions once */
	const struct record_empty *empty;
	uint64_t trip;
};

#define N_MECHANISMS (sizeof(function_mechanisms) / sizeof(function_mechanisms[0]))

struct series {
	uint64_t values[ROUNDS];
};

static int compare(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

static uint64_t median(struct series *s)
{
	qsort(s->values, ROUNDS, sizeof(s->values[0]), compare);
	return s->values[ROUNDS / 2];
}

static uint64_t deviation(const struct series *s, uint64_t centre)
{
	struct series d;

	for (int i = 0; i < ROUNDS; i++)
		d.values[i] = s->values[i] > centre ? s->values[i] - centre : centre - s->values[i];
	return median(&d);
}

/* Loads "return 0" as a fentry program of the function, which is not attached. */
static int load_runner(int32_t btf_id)
{
	static const struct bpf_insn insns[] = {
		{ .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0 },
		{ .code = BPF_JMP | BPF_EXIT },
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = BPF_TRACE_FENTRY,
		    .attach_btf_id = btf_id);
	int fd = bpf_prog_load(BPF_PROG_TYPE_TRACING, "kprotperf_run", "GPL", insns,
			       sizeof(insns) / sizeof(insns[0]), &opts);

	return fd < 0 ? -errno : fd;
}

/*
 * Runs the empty function once a round. OUTER becomes the time of the system call that does it,
 * INNER that of the function as SITE saw it, if SITE is not 0.
 */
static int measure(struct calibrator *c, uint32_t site, struct series *outer, struct series *inner)
{
	for (int i = 0; i < ROUNDS; i++) {
		LIBBPF_OPTS(bpf_test_run_opts, opts);
		uint64_t outer_before, inner_before = 0;
		int err;

		outer_before = record_engine_oncpu(c->e, ENGINE_SITE_CONTEXT, SYS_bpf);
		if (site)
			inner_before = record_engine_oncpu(c->e, site, SYS_bpf);
		err = bpf_prog_test_run_opts(c->run, &opts);
		if (err)
			return err;
		outer->values[i] =
			record_engine_oncpu(c->e, ENGINE_SITE_CONTEXT, SYS_bpf) - outer_before;
		if (site)
			inner->values[i] = record_engine_oncpu(c->e, site, SYS_bpf) - inner_before;
	}
	return 0;
}

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

uint64_t record_cost_inner(const struct record_cost *cost, uint32_t n_args)
{
	return n_args ? cost->inner + cost->inner_args * (n_args - 1) / RECORD_COST_ARGS :
			cost->inner;
}

uint64_t record_cost_full(const struct record_cost *cost, uint32_t n_args)
{
	return n_args ? cost->full + cost->full_args * (n_args - 1) / RECORD_COST_ARGS : cost->full;
}

/*
 * With the outer function probed as well, there is one more call, which encloses another: what that
 * costs beyond a call. Costs must be in force, or nothing would be set aside for the inner one.
 */
static int calibrate_nested(struct calibrator *c, enum profile_mechanism mech,
			    struct record_cost *cost)
{
	struct series one, both;
	uint32_t site;
	int err;

	err = record_engine_attach_spare(c->e, 0, mech, &c->empty->inner, &site);
	if (err)
		return err;
	err = measure(c, 0, &one, NULL);
	if (err)
		goto detach;
	err = record_engine_attach_spare(c->e, 1, mech, &c->empty->outer, &site);
	if (err)
		goto detach;
	err = measure(c, 0, &both, NULL);
	record_engine_detach_last(c->e);
	if (!err)
		cost->nested = less(median(&both),
				    median(&one) + record_cost_full(cost, c->empty->outer.n_args));
detach:
	record_engine_detach_last(c->e);
	return err;
}

/* FULL and INNER: the cost of probes on TARGET, in the SERIES of an unprobed run. */
static int measure_probed(struct calibrator *c, enum profile_mechanism mech,
			  const struct record_target *target, struct series *without,
			  struct record_cost *cost)
{
	struct series with, inner;
	uint64_t base, probed;
	uint32_t site;
	int err;

	err = record_engine_attach_spare(c->e, 0, mech, target, &site);
	if (err)
		return err;
	err = measure(c, site, &with, &inner);
	record_engine_detach_last(c->e);
	if (err)
		return err;
	base = median(without);
	probed = median(&with);
	cost->full = less(probed, base);
	cost->full_spread = deviation(&with, probed) + deviation(without, base);
	cost->inner = median(&inner);
	cost->inner_spread = deviation(&inner, cost->inner);
	return 0;
}

static int calibrate_function(struct calibrator *c, enum profile_mechanism mech,
			      struct record_cost *cost)
{
	bool insns = c->clock == PROFILE_CLOCK_INSN;
	struct record_cost many = {};
	struct series without;
	int err;

	err = measure(c, 0, &without, NULL);
	err = err ?: measure_probed(c, mech, &c->empty->inner, &without, cost);
	if (err)
		return err;
	if (mech == PROFILE_MECH_FENTRY && c->empty->many.addr &&
	    !measure_probed(c, mech, &c->empty->many, &without, &many)) {
		cost->full_args = less(many.full, cost->full);
		cost->inner_args =
			less(many.inner, cost->inner + (insns ? MANY_FUNCTION_INSNS : 0));
	}
	cost->inner = less(cost->inner, insns ? EMPTY_FUNCTION_INSNS : EMPTY_NS);
	cost->trip = mech == PROFILE_MECH_FENTRY ? 0 : c->trip;
	cost->known = true;
	return 0;
}

static void calibrate_syscall(struct calibrator *c, struct record_cost *cost)
{
	uint64_t empty = c->clock == PROFILE_CLOCK_INSN ? EMPTY_SYSCALL_INSNS : EMPTY_NS;
	struct series inner;

	for (int i = 0; i < ROUNDS; i++) {
		uint64_t before = record_engine_oncpu(c->e, ENGINE_SITE_CONTEXT, UNUSED_SYSCALL);

		syscall(UNUSED_SYSCALL);
		inner.values[i] =
			record_engine_oncpu(c->e, ENGINE_SITE_CONTEXT, UNUSED_SYSCALL) - before;
	}
	cost->inner = median(&inner);
	cost->inner_spread = deviation(&inner, cost->inner);
	cost->inner = less(cost->inner, empty);
	cost->known = true;
}

static bool is_used(const struct calibrator *c, const struct profile *p,
		    enum profile_mechanism mech)
{
	if (record_engine_fault_mechanism(c->e) == mech)
		return true;
	for (uint32_t i = 0; i < p->n_sites; i++)
		if (p->sites[i].mech == mech)
			return true;
	return false;
}

static const enum profile_mechanism function_mechanisms[] = { PROFILE_MECH_FENTRY,
							      PROFILE_MECH_KPROBE,
							      PROFILE_MECH_MULTI };

static void calibrate_functions(struct calibrator *c, const struct profile *p,
				struct record_calibration *out)
{
	for (unsigned int i = 0; i < N_MECHANISMS; i++) {
		enum profile_mechanism mech = function_mechanisms[i];
		int err;

		if (!is_used(c, p, mech))
			continue;
		err = c->run < 0 ? c->run : calibrate_function(c, mech, &out->cost[mech]);
		if (err)
			log_note("the cost of %s probes is not known and not subtracted: %s",
				 profile_mechanism_name(mech),
				 c->run == -ENOENT ? "this kernel has no bpf_fentry_test1" :
						     log_strerror(err));
	}
}

/*
 * Two functions one by one would be two links of kprobe.multi, which cost more than the one there is
 * with all functions; what is sought is our own programs' doing, which is the same by fentry.
 */
static void calibrate_all_nested(struct calibrator *c, struct record_calibration *out)
{
	if (!c->empty->outer.addr)
		return;
	for (unsigned int i = 0; i < N_MECHANISMS; i++) {
		enum profile_mechanism mech = function_mechanisms[i];
		struct record_cost *cost = &out->cost[mech];

		if (mech == PROFILE_MECH_MULTI)
			cost->nested = out->cost[PROFILE_MECH_FENTRY].nested;
		else if (cost->known && calibrate_nested(c, mech, cost))
			log_note("what nested calls cost more by %s is not known",
				 profile_mechanism_name(mech));
	}
}

/* What kprobes and kprobe.multi share: the way back through the kernel's return trampoline. */
static void calibrate_trip(struct calibrator *c, const struct profile *p)
{
	int err;

	if (c->run < 0 ||
	    !(is_used(c, p, PROFILE_MECH_KPROBE) || is_used(c, p, PROFILE_MECH_MULTI)))
		return;
	err = record_trip_measure(c->run, c->empty->inner.addr, &c->trip);
	if (err)
		log_note("functions that end in a call of another timed one will read too low: %s",
			 log_strerror(err));
}

void record_calibrate(struct record_engine *e, const struct profile *p,
		      const struct record_empty *empty, struct record_calibration *out)
{
	struct calibrator c = { .e = e, .clock = p->clock, .empty = empty };
	int err;

	memset(out, 0, sizeof(*out));
	c.run = empty->inner.btf_id > 0 ? load_runner(empty->inner.btf_id) : -ENOENT;
	calibrate_trip(&c, p);
	err = record_engine_follow_caller(e, true);
	if (err) {
		log_note("probe cost is not known and not subtracted: %s", log_strerror(err));
		goto out;
	}
	calibrate_syscall(&c, &out->cost[PROFILE_MECH_TRACEPOINT]);
	calibrate_functions(&c, p, out);
	record_engine_set_costs(e, out->cost);
	calibrate_all_nested(&c, out);
	record_engine_follow_caller(e, false);
	record_engine_set_costs(e, out->cost);
out:
	if (c.run >= 0)
		close(c.run);
}

void record_calibrate_sampler(struct record_engine *e, uint64_t period,
			      struct record_calibration *out)
{
	uint64_t full[ENGINE_WATCHED], latency = 0;
	uint32_t n = 0;

	if (!record_engine_follow_caller(e, true)) {
		n = record_engine_watch_sampler(e, SAMPLER_PERIODS * period, &latency, full);
		record_engine_follow_caller(e, false);
	}
	if (!n) {
		log_note("the cost of samples is not known, and subtracted only in part");
		return;
	}
	/* The lower quartile: some of the few came with another interrupt's work. */
	qsort(full, n, sizeof(full[0]), compare);
	out->sampler_known = true;
	out->sample_latency = latency;
	out->sample_full = full[n / 4];
	record_engine_set_sample_cost(e, latency, out->sample_full);
}

static void store(struct profile *p, const char *name, char *value)
{
	char *key = alloc_printf(PROFILE_ENV_COST "%s", name);

	profile_env_set(p, key, value);
	log_verbose(1, "cost of %s: %s %s", name, value, profile_clock_unit(p->clock));
	free(key);
	free(value);
}

static char *cost_text(const struct record_cost *cost)
{
	char full[64] = "", more[64] = "";

	if (cost->full)
		snprintf(full, sizeof(full), " full=%" PRIu64 "+-%" PRIu64, cost->full,
			 cost->full_spread);
	if (cost->nested || cost->trip)
		snprintf(more, sizeof(more), " nested=%" PRIu64 " trip=%" PRIu64 " args=%" PRIu64,
			 cost->nested, cost->trip, cost->full_args);
	return alloc_printf("inner=%" PRIu64 "+-%" PRIu64 "%s%s", cost->inner, cost->inner_spread,
			    full, more);
}

void record_calibration_store(const struct record_calibration *c, struct profile *p)
{
	for (int mech = 0; mech < PROFILE_N_MECHANISMS; mech++) {
		const struct record_cost *cost = &c->cost[mech];

		if (cost->known)
			store(p, profile_mechanism_name(mech), cost_text(cost));
	}
	if (c->sampler_known)
		store(p, "sample",
		      alloc_printf("latency=%" PRIu64 " interrupt=%" PRIu64, c->sample_latency,
				   c->sample_full));
}
