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
#include "base/clock.h"
#include "base/log.h"
#include "kprotperf/engine.h"
#include "record/calibrate_impl.h"
#include "record/closer.h"

#define SAMPLER_PERIODS 20

/*
 * What the calls that are timed take by themselves, in instructions: for the functions the nop at the
 * entry, what they calculate, and the return, which the kernel writes over the jump to its thunk
 * where it needs none; for the system call the test of its number and the empty function behind it.
 * On a real clock that is about a nanosecond.
 */
const uint64_t record_calibrator_insns[RECORD_N_TESTS] = { 3, 3, 5, 6, 7, 8 };

#define INTERRUPTS_NS 20000000

#define EMPTY_SYSCALL_INSNS 8

/*
 * Which test is whose. Each mechanism has its own, where its probes stay as long as the others': two on
 * one function would cost other than each alone, and detaching waits for the whole machine.
 */
enum {
	TEST_FENTRY = 0, /* of one argument, */
	TEST_KPROBE = 1,
	TEST_TRIP = 2,
	TEST_FAULT = RECORD_FAULT_ARGS -
		     1, /* instead of the first, where fentry is for page faults alone */
	TEST_MANY = RECORD_COST_ARGS, /* of so many more */
};

/* A system call that no kernel has. */
#define UNUSED_SYSCALL (ENGINE_SYSCALLS - 1)

/* PART of RECORD_COST_ARGS arguments is in COST, which is of one. */
static uint64_t with_args(uint64_t cost, uint64_t part, uint32_t n_args)
{
	int64_t more = (int64_t)part * ((int64_t)n_args - 1) / RECORD_COST_ARGS;

	return more < 0 ? less(cost, -more) : cost + more;
}

uint64_t record_cost_inner(const struct record_cost *cost, uint32_t n_args)
{
	return with_args(cost->inner, cost->inner_args, n_args);
}

uint64_t record_cost_full(const struct record_cost *cost, uint32_t n_args)
{
	return with_args(cost->full, cost->full_args, n_args);
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

int record_calibrate_runner(const struct record_empty *empty)
{
	int32_t btf_id = empty->tests[TEST_FENTRY].btf_id;

	return btf_id > 0 ? load_runner(btf_id) : -ENOENT;
}

int record_calibrator_measure(struct calibrator *c, uint32_t site, struct record_series *outer,
			      struct record_series *inner)
{
	for (int i = 0; i < RECORD_ROUNDS; i++) {
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

void record_calibrator_detach_spares(struct calibrator *c)
{
	while (c->n_left)
		record_engine_detach_last(c->e, c->left[--c->n_left]);
}

static bool has_sites(const struct calibrator *c, enum profile_mechanism mech)
{
	for (uint32_t i = 0; i < c->p->n_sites; i++)
		if (c->p->sites[i].mech == mech)
			return true;
	return false;
}

static bool is_used(const struct calibrator *c, enum profile_mechanism mech)
{
	return record_engine_fault_mechanism(c->e) == mech || has_sites(c, mech);
}

/* What fentry costs with few arguments and with many is needed; or else with those of a page fault. */
static bool needs_all_of_fentry(const struct calibrator *c)
{
	return has_sites(c, PROFILE_MECH_FENTRY) || has_sites(c, PROFILE_MECH_KPROBE);
}

/* By kprobe.multi it is found without probes that would have to be detached again. */
static bool needs_nested(const struct calibrator *c)
{
	return needs_all_of_fentry(c) && !has_sites(c, PROFILE_MECH_MULTI);
}

/* While the kernel waits for something else, and the processor has nothing to do. */
static void prepare_fentry(struct calibrator *c)
{
	const struct record_target *tests = c->empty->tests;
	bool all = needs_all_of_fentry(c);

	if (c->run < 0 || !is_used(c, PROFILE_MECH_FENTRY) ||
	    c->out->cost[PROFILE_MECH_FENTRY].known)
		return;
	record_engine_prepare_spare(c->e, SPARE_FENTRY, &tests[all ? TEST_FENTRY : TEST_FAULT]);
	if (all)
		record_engine_prepare_spare(c->e, SPARE_MANY, &tests[TEST_MANY]);
	if (needs_nested(c))
		record_engine_prepare_spare(c->e, SPARE_OUTER, &c->empty->outer);
}

/* Probes TARGET, which takes INSNS instructions, with what is attached so far, and leaves it probed. */
static int calibrate_one(struct calibrator *c, uint32_t spare, enum profile_mechanism mech,
			 const struct record_target *target, uint64_t insns,
			 struct record_cost *cost)
{
	uint64_t empty = c->clock == PROFILE_CLOCK_INSN ? insns : EMPTY_NS, base, probed;
	struct record_series with, inner;
	int err;

	if (!target->addr)
		return -ENOENT;
	err = record_engine_attach_spare(c->e, spare, mech, target);
	if (err)
		return err;
	c->left[c->n_left++] = mech;
	err = record_calibrator_measure(c, record_engine_spare(c->e, spare), &with, &inner);
	if (err)
		return err;
	base = record_series_median(&c->base);
	probed = record_series_median(&with);
	cost->full = less(probed, base);
	cost->full_spread =
		record_series_deviation(&with, probed) + record_series_deviation(&c->base, base);
	cost->inner = record_series_median(&inner);
	cost->inner_spread = record_series_deviation(&inner, cost->inner);
	cost->inner = less(cost->inner, empty);
	cost->known = true;
	c->base = with;
	return 0;
}

/*
 * With the outer function probed as well, there is one more call, which encloses others: what that
 * costs beyond a call.
 */
static void calibrate_nested(struct calibrator *c, enum profile_mechanism mech,
			     struct record_cost *cost)
{
	struct record_cost outer = {};
	int err = calibrate_one(c, SPARE_OUTER, mech, &c->empty->outer, 0, &outer);

	if (err)
		log_verbose(1, "what it costs more to time nested calls is not known: %s",
			    log_strerror(err));
	else
		cost->nested = less(outer.full, record_cost_full(cost, c->empty->outer.n_args));
}

void record_calibrator_add_interrupts(struct record_calibration *out, struct record_cost *cost)
{
	cost->inner += cost->inner * out->interrupts + 0.5;
	cost->full += cost->full * out->interrupts + 0.5;
}

/* With only the return's probe left of SPARE: what that costs. Nothing else can be calibrated by it then. */
static void calibrate_half(struct calibrator *c, uint32_t spare, struct record_cost *cost)
{
	struct record_series half;
	uint64_t both = record_series_median(&c->base);

	if (!c->out->halves)
		return;
	record_engine_halve(c->e, record_engine_spare(c->e, spare));
	if (record_calibrator_measure(c, 0, &half, NULL))
		return;
	cost->half = less(cost->full, less(both, record_series_median(&half)));
	c->base = half;
}

static int calibrate_fentry(struct calibrator *c)
{
	const struct record_target *tests = c->empty->tests;
	struct record_cost *cost = &c->out->cost[PROFILE_MECH_FENTRY], many = {};
	uint32_t test = needs_all_of_fentry(c) ? TEST_FENTRY : TEST_FAULT;
	int err;

	err = calibrate_one(c, SPARE_FENTRY, PROFILE_MECH_FENTRY, &tests[test],
			    record_calibrator_insns[test], cost);
	if (err)
		return err;
	if (needs_all_of_fentry(c) &&
	    !calibrate_one(c, SPARE_MANY, PROFILE_MECH_FENTRY, &tests[TEST_MANY],
			   record_calibrator_insns[TEST_MANY], &many)) {
		cost->full_args = less(many.full, cost->full);
		cost->inner_args = less(many.inner, cost->inner);
	}
	if (needs_nested(c))
		calibrate_nested(c, PROFILE_MECH_FENTRY, cost);
	calibrate_half(c, SPARE_FENTRY, cost);
	record_calibrator_add_interrupts(c->out, cost);
	return 0;
}

static int calibrate_kprobe(struct calibrator *c)
{
	struct record_cost *cost = &c->out->cost[PROFILE_MECH_KPROBE];
	const struct record_cost *fentry = &c->out->cost[PROFILE_MECH_FENTRY];
	int err;

	err = calibrate_one(c, SPARE_KPROBE, PROFILE_MECH_KPROBE, &c->empty->tests[TEST_KPROBE],
			    record_calibrator_insns[TEST_KPROBE], cost);
	if (err)
		return err;
	/* It is our own programs' doing, whichever way they are reached. */
	if (fentry->known)
		cost->nested = fentry->nested;
	else if (needs_nested(c))
		calibrate_nested(c, PROFILE_MECH_KPROBE, cost);
	calibrate_half(c, SPARE_KPROBE, cost);
	cost->trip = c->out->trip;
	record_calibrator_add_interrupts(c->out, cost);
	return 0;
}

/* The median time of an unused system call, its caller's reading of the clock included. */
static uint64_t time_syscall(void)
{
	struct record_series s;

	for (int i = 0; i < RECORD_ROUNDS; i++) {
		uint64_t start = clock_ns();

		syscall(UNUSED_SYSCALL);
		s.values[i] = clock_ns() - start;
	}
	return record_series_median(&s);
}

static void calibrate_syscall(struct calibrator *c)
{
	uint64_t empty = c->clock == PROFILE_CLOCK_INSN ? EMPTY_SYSCALL_INSNS : EMPTY_NS;
	struct record_cost *cost = &c->out->cost[PROFILE_MECH_TRACEPOINT];
	struct record_series inner;

	for (int i = 0; i < RECORD_ROUNDS; i++) {
		uint64_t before = record_engine_oncpu(c->e, ENGINE_SITE_CONTEXT, UNUSED_SYSCALL);

		syscall(UNUSED_SYSCALL);
		inner.values[i] =
			record_engine_oncpu(c->e, ENGINE_SITE_CONTEXT, UNUSED_SYSCALL) - before;
	}
	cost->inner = record_series_median(&inner);
	cost->inner_spread = record_series_deviation(&inner, cost->inner);
	cost->inner = less(cost->inner, empty);
	cost->full = less(time_syscall(), c->out->unprobed_syscall);
	cost->known = true;
	record_calibrator_add_interrupts(c->out, cost);
}

void record_calibrator_use_provisional_costs(struct calibrator *c)
{
	struct record_cost costs[PROFILE_N_MECHANISMS];

	memcpy(costs, c->out->cost, sizeof(costs));
	for (int mech = 0; mech < PROFILE_N_MECHANISMS; mech++)
		if (!costs[mech].known)
			costs[mech] = (struct record_cost){ .full = 1 };
	record_engine_set_costs(c->e, costs);
}

void record_calibrator_note_unknown(const struct calibrator *c, enum profile_mechanism mech,
				    int err)
{
	log_note("the cost of %s probes is not known and not subtracted: %s",
		 profile_mechanism_name(mech),
		 c->run == -ENOENT ? "this kernel has no bpf_fentry_test1" : log_strerror(err));
}

typedef int (*calibrate_fn)(struct calibrator *c);

static void calibrate_functions(struct calibrator *c)
{
	static const calibrate_fn calibrate[PROFILE_N_MECHANISMS] = {
		[PROFILE_MECH_FENTRY] = calibrate_fentry,
		[PROFILE_MECH_KPROBE] = calibrate_kprobe,
	};
	int err = c->run < 0 ? c->run : record_calibrator_measure(c, 0, &c->base, NULL);

	for (int mech = 0; mech < PROFILE_N_MECHANISMS; mech++) {
		if (!calibrate[mech] || c->out->cost[mech].known || !is_used(c, mech))
			continue;
		err = err ?: calibrate[mech](c);
		if (err)
			record_calibrator_note_unknown(c, mech, err);
	}
}

/* What kprobes and kprobe.multi share: the way back through the kernel's return trampoline. */
static void calibrate_trip(struct calibrator *c)
{
	int err;

	if (c->run < 0 || c->out->trip.shared)
		return;
	if (!is_used(c, PROFILE_MECH_KPROBE) && !is_used(c, PROFILE_MECH_MULTI))
		return;
	err = record_trip_measure(c->run, c->empty->tests[TEST_TRIP].addr, &c->out->trip);
	if (err)
		log_verbose(
			1,
			"functions that end in a call of another timed one will read too low: %s",
			err == -ERANGE ? "the clock is too coarse" : log_strerror(err));
}

void record_calibrate_before(struct record_calibration *out)
{
	memset(out, 0, sizeof(*out));
	out->unprobed_syscall = time_syscall();
}

int record_calibrator_open(struct calibrator *c, struct record_engine *e, const struct profile *p,
			   const struct record_empty *empty, struct record_calibration *out)
{
	*c = (struct calibrator){ .e = e, .p = p, .clock = p->clock, .empty = empty, .out = out };
	c->run = record_calibrate_runner(empty);
	calibrate_trip(c);
	record_calibrator_use_provisional_costs(c);
	prepare_fentry(c);
	record_closer_wait();
	return record_engine_follow_caller(e, true);
}

void record_calibrator_close(struct calibrator *c)
{
	record_engine_follow_caller(c->e, false);
	record_engine_set_costs(c->e, c->out->cost);
	if (c->run >= 0)
		close(c->run);
}

void record_calibrate(struct record_engine *e, const struct profile *p,
		      const struct record_empty *empty, struct record_calibration *out)
{
	uint64_t start = clock_ns();
	struct calibrator c;
	int err;

	err = record_calibrator_open(&c, e, p, empty, out);
	if (err) {
		log_note("probe cost is not known and not subtracted: %s", log_strerror(err));
	} else {
		if (!out->cost[PROFILE_MECH_TRACEPOINT].known) {
			out->interrupts = record_engine_watch_interrupts(e, INTERRUPTS_NS);
			calibrate_syscall(&c);
		}
		calibrate_functions(&c);
	}
	record_calibrator_close(&c);
	/* Each trampoline that there is costs a call by kprobe.multi some 50 instructions. */
	if (is_used(&c, PROFILE_MECH_MULTI))
		record_calibrator_detach_spares(&c);
	log_verbose(1, "calibrated in %.3f s; %.2f %% of the time goes into interrupts",
		    (clock_ns() - start) / 1e9, 100 * out->interrupts);
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
	record_values_sort(full, n);
	out->sampler_known = true;
	out->sample_latency = latency;
	out->sample_full = full[n / 4];
	out->sample_spread = record_values_deviation(full, n, out->sample_full);
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
	if (cost->nested || cost->trip.shared)
		snprintf(more, sizeof(more), " nested=%" PRIu64 " trip=%" PRIu64 " args=%" PRIu64,
			 cost->nested, cost->trip.shared, cost->full_args);
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
	if (c->ranges.known)
		store(p, profile_mechanism_name(PROFILE_MECH_RANGE),
		      record_range_cost_text(&c->ranges));
	if (c->sampler_known)
		store(p, "sample",
		      alloc_printf("latency=%" PRIu64 " interrupt=%" PRIu64 "+-%" PRIu64,
				   c->sample_latency, c->sample_full, c->sample_spread));
}
