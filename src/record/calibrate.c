// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/calibrate.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/bpf.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "kprotperf/engine.h"
#include "record/closer.h"
#include "record/detour.h"
#include "record/series.h"
#include "record/trip.h"

#define SAMPLER_PERIODS 20

/*
 * What the calls that are timed take by themselves, in instructions: for the functions the nop at the
 * entry, what they calculate, and the return, which the kernel writes over the jump to its thunk
 * where it needs none; for the system call the test of its number and the empty function behind it.
 * On a real clock that is about a nanosecond.
 */
static const uint64_t test_insns[RECORD_N_TESTS] = { 3, 3, 5, 6, 7, 8 };

#define INTERRUPTS_NS 20000000

#define EMPTY_SYSCALL_INSNS 8
#define EMPTY_NS            1

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

enum {
	SPARE_FENTRY,
	SPARE_MANY,
	SPARE_OUTER,
	SPARE_KPROBE,
	SPARE_OPTIMIZED,
	SPARE_INT3,
	SPARE_MULTI /* and one for each further test */
};

/* A system call that no kernel has. */
#define UNUSED_SYSCALL (ENGINE_SYSCALLS - 1)

struct calibrator {
	struct record_engine *e;
	const struct profile *p;
	enum profile_clock clock;
	int run; /* an unattached fentry program: running it calls the empty functions once each */
	const struct record_empty *empty;
	struct record_calibration *out;
	struct record_series base; /* a run with what is attached so far */
	enum profile_mechanism left[8]; /* attached */
	uint32_t n_left;
};

static uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

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

/*
 * Runs the empty functions once a round. OUTER becomes the time of the system call that does it,
 * INNER that of the function as SITE saw it, if SITE is not 0.
 */
static int measure(struct calibrator *c, uint32_t site, struct record_series *outer,
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

/* In the background, which is not to be while the caller is followed: that would be more tasks. */
static void detach_spares(struct calibrator *c)
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
	err = measure(c, record_engine_spare(c->e, spare), &with, &inner);
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

/* Interrupts that hit a probe are charged to what is probed, as far as that is not taken off. */
static void add_interrupts(struct record_calibration *out, struct record_cost *cost)
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
	if (measure(c, 0, &half, NULL))
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

	err = calibrate_one(c, SPARE_FENTRY, PROFILE_MECH_FENTRY, &tests[test], test_insns[test],
			    cost);
	if (err)
		return err;
	if (needs_all_of_fentry(c) &&
	    !calibrate_one(c, SPARE_MANY, PROFILE_MECH_FENTRY, &tests[TEST_MANY],
			   test_insns[TEST_MANY], &many)) {
		cost->full_args = less(many.full, cost->full);
		cost->inner_args = less(many.inner, cost->inner);
	}
	if (needs_nested(c))
		calibrate_nested(c, PROFILE_MECH_FENTRY, cost);
	calibrate_half(c, SPARE_FENTRY, cost);
	add_interrupts(c->out, cost);
	return 0;
}

static int calibrate_kprobe(struct calibrator *c)
{
	struct record_cost *cost = &c->out->cost[PROFILE_MECH_KPROBE];
	const struct record_cost *fentry = &c->out->cost[PROFILE_MECH_FENTRY];
	int err;

	err = calibrate_one(c, SPARE_KPROBE, PROFILE_MECH_KPROBE, &c->empty->tests[TEST_KPROBE],
			    test_insns[TEST_KPROBE], cost);
	if (err)
		return err;
	/* It is our own programs' doing, whichever way they are reached. */
	if (fentry->known)
		cost->nested = fentry->nested;
	else if (needs_nested(c))
		calibrate_nested(c, PROFILE_MECH_KPROBE, cost);
	calibrate_half(c, SPARE_KPROBE, cost);
	cost->trip = c->out->trip;
	add_interrupts(c->out, cost);
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
	add_interrupts(c->out, cost);
}

/* Nothing is taken off what is measured, but something set aside, for what nested calls cost more. */
static void use_provisional_costs(struct calibrator *c)
{
	struct record_cost costs[PROFILE_N_MECHANISMS];

	memcpy(costs, c->out->cost, sizeof(costs));
	for (int mech = 0; mech < PROFILE_N_MECHANISMS; mech++)
		if (!costs[mech].known)
			costs[mech] = (struct record_cost){ .full = 1 };
	record_engine_set_costs(c->e, costs);
}

static void note_unknown(const struct calibrator *c, enum profile_mechanism mech, int err)
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
	int err = c->run < 0 ? c->run : measure(c, 0, &c->base, NULL);

	for (int mech = 0; mech < PROFILE_N_MECHANISMS; mech++) {
		if (!calibrate[mech] || c->out->cost[mech].known || !is_used(c, mech))
			continue;
		err = err ?: calibrate[mech](c);
		if (err)
			note_unknown(c, mech, err);
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

static int calibrator_open(struct calibrator *c, struct record_engine *e, const struct profile *p,
			   const struct record_empty *empty, struct record_calibration *out)
{
	*c = (struct calibrator){ .e = e, .p = p, .clock = p->clock, .empty = empty, .out = out };
	c->run = record_calibrate_runner(empty);
	calibrate_trip(c);
	use_provisional_costs(c);
	prepare_fentry(c);
	record_closer_wait();
	return record_engine_follow_caller(e, true);
}

static void calibrator_close(struct calibrator *c)
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

	err = calibrator_open(&c, e, p, empty, out);
	if (err) {
		log_note("probe cost is not known and not subtracted: %s", log_strerror(err));
	} else {
		if (!out->cost[PROFILE_MECH_TRACEPOINT].known) {
			out->interrupts = record_engine_watch_interrupts(e, INTERRUPTS_NS);
			calibrate_syscall(&c);
		}
		calibrate_functions(&c);
	}
	calibrator_close(&c);
	/* Each trampoline that there is costs a call by kprobe.multi some 50 instructions. */
	if (is_used(&c, PROFILE_MECH_MULTI))
		detach_spares(&c);
	log_verbose(1, "calibrated in %.3f s; %.2f %% of the time goes into interrupts",
		    (clock_ns() - start) / 1e9, 100 * out->interrupts);
}

/* The functions in a link of kprobe.multi. */
struct multi {
	struct calibrator *c;
	const struct record_multi_site *items;
	uint32_t n;
};

/* The function at ADDR, if it is attached. */
static const struct record_multi_site *multi_find(const struct multi *m, uint64_t addr)
{
	for (uint32_t i = 0; i < m->n; i++)
		if (m->items[i].addr == addr)
			return m->items[i].err ? NULL : &m->items[i];
	return NULL;
}

/* Calls in the system call that runs the empty functions, and what they cost by their functions' places. */
struct multi_calls {
	uint64_t n, extra;
};

static struct multi_calls multi_count(const struct multi *m)
{
	struct multi_calls sum = {};

	for (uint32_t i = 0; i < m->n; i++) {
		uint64_t calls = m->items[i].err ?
					 0 :
					 record_engine_calls(m->c->e, m->items[i].site, SYS_bpf);

		sum.n += calls;
		sum.extra += calls * m->items[i].extra;
	}
	return sum;
}

/* The time of the system call while calls of that function go untimed. */
static int multi_time_without(const struct multi *m, const struct record_multi_site *item,
			      uint64_t *time)
{
	struct record_series s;
	int err;

	err = record_engine_show_multi(m->c->e, item, false);
	err = err ?: measure(m->c, 0, &s, NULL);
	if (!err)
		*time = record_series_median(&s);
	return record_engine_show_multi(m->c->e, item, true) ?: err;
}

/*
 * What it costs more to time a call that encloses others: the function that calls the empty ones against
 * TEST, one of those.
 */
static uint64_t multi_nested(const struct multi *m, const struct record_multi_site *test)
{
	const struct record_multi_site *outer = multi_find(m, m->c->empty->outer.addr);
	uint64_t without_outer, without_test;

	if (!outer || multi_time_without(m, outer, &without_outer) ||
	    multi_time_without(m, test, &without_test))
		return 0;
	return less(without_test, without_outer);
}

/* The mean of what lies between the two readings of the empty functions; the last of those. */
static const struct record_multi_site *multi_measure_inner(const struct multi *m,
							   struct record_cost *cost)
{
	const struct record_multi_site *last = NULL;
	uint64_t inner = 0, spread = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < RECORD_N_TESTS; i++) {
		const struct record_multi_site *test = multi_find(m, m->c->empty->tests[i].addr);
		struct record_series all, one;
		uint64_t median;

		if (!test || measure(m->c, test->site, &all, &one))
			continue;
		median = record_series_median(&one);
		inner += less(median, m->c->clock == PROFILE_CLOCK_INSN ? test_insns[i] : EMPTY_NS);
		spread += record_series_deviation(&one, median);
		last = test;
		n++;
	}
	if (n) {
		cost->inner = (inner + n / 2) / n;
		cost->inner_spread = spread / n;
	}
	return last;
}

/*
 * Sets aside about what a call costs, of which all that enclose others would be too long for the path
 * that most calls take through the distribution.
 */
static int set_estimate(const struct multi *m, uint64_t base)
{
	struct record_cost costs[PROFILE_N_MECHANISMS];
	struct multi_calls before = multi_count(m), after;
	struct record_series with;
	int err = measure(m->c, 0, &with, NULL);

	after = multi_count(m);
	if (err || after.n == before.n)
		return err ?: -ENODATA;
	memcpy(costs, m->c->out->cost, sizeof(costs));
	costs[PROFILE_MECH_MULTI].full =
		RECORD_ROUNDS * less(record_series_median(&with), base) / (after.n - before.n);
	record_engine_set_costs(m->c->e, costs);
	return 0;
}

/*
 * What a call costs that is found at once. With many functions in the link those are not only the empty ones
 * that their system call comes by, so calls are counted; they become *CALLS.
 */
static int measure_multi(const struct multi *m, struct record_cost *cost, uint64_t *calls)
{
	const struct record_multi_site *test = multi_measure_inner(m, cost);
	uint64_t base = record_series_median(&m->c->base), probed, all;
	struct multi_calls before, after;
	struct record_series with;
	int err;

	if (!test)
		return -ENOENT;
	err = set_estimate(m, base);
	if (err)
		return err;
	before = multi_count(m);
	err = measure(m->c, 0, &with, NULL);
	if (err)
		return err;
	after = multi_count(m);
	*calls = after.n - before.n;
	if (!*calls)
		return -ENODATA;
	probed = record_series_median(&with);
	cost->nested = multi_nested(m, test);
	all = less(RECORD_ROUNDS * less(probed, base + cost->nested), after.extra - before.extra);
	cost->full = (all + *calls / 2) / *calls;
	cost->full_spread = (record_series_deviation(&with, probed) +
			     record_series_deviation(&m->c->base, base)) *
			    RECORD_ROUNDS / *calls;
	cost->known = true;
	return 0;
}

/* What the return's probes cost without those on entries, which are attached again then. */
static int measure_multi_half(const struct multi *m, uint64_t calls, struct record_cost *cost)
{
	struct record_series half;
	int err;

	record_engine_halve_multi(m->c->e);
	err = measure(m->c, 0, &half, NULL);
	if (!err)
		cost->half = RECORD_ROUNDS *
			     less(record_series_median(&half), record_series_median(&m->c->base)) /
			     calls;
	return record_engine_restore_multi(m->c->e) ?: err;
}

/* Adds the function at ADDR, unless it is one of the workload's or there is none. */
static void multi_add(struct record_multi_site *items, uint32_t *n, uint32_t site, uint64_t addr)
{
	for (uint32_t i = 0; i < *n; i++)
		if (items[i].addr == addr)
			return;
	if (addr)
		items[(*n)++] = (struct record_multi_site){ .site = site, .addr = addr };
}

/* Those that no probe of their own mechanism has found it for. */
static void set_nested(struct record_calibration *out, uint64_t nested)
{
	for (int mech = 0; mech < PROFILE_N_MECHANISMS; mech++)
		if (mech != PROFILE_MECH_TRACEPOINT && out->cost[mech].known)
			out->cost[mech].nested = out->cost[mech].nested ?: nested;
}

void record_calibrate_multi(struct record_engine *e, const struct profile *p,
			    const struct record_empty *empty, struct record_multi_site *items,
			    uint32_t n, struct record_calibration *out)
{
	struct record_cost *cost = &out->cost[PROFILE_MECH_MULTI];
	struct multi m = { .items = items, .n = n };
	uint64_t start = clock_ns(), calls;
	struct calibrator c;
	int err;

	err = calibrator_open(&c, e, p, empty, out);
	err = err ?: c.run < 0 ? c.run : measure(&c, 0, &c.base, NULL);
	m.c = &c;
	for (uint32_t i = 0; !err && i < RECORD_N_TESTS; i++)
		multi_add(items, &m.n, record_engine_spare(e, SPARE_MULTI + i),
			  empty->tests[i].addr);
	if (!err)
		multi_add(items, &m.n, record_engine_spare(e, SPARE_OUTER), empty->outer.addr);
	record_engine_attach_multi(e, items, m.n);
	err = err ?: measure_multi(&m, cost, &calls);
	if (!err && out->halves)
		err = measure_multi_half(&m, calls, cost);
	if (err) {
		note_unknown(&c, PROFILE_MECH_MULTI, err);
	} else {
		set_nested(out, cost->nested);
		cost->trip = out->trip;
		add_interrupts(out, cost);
	}
	calibrator_close(&c);
	log_verbose(1, "attached and calibrated kprobe.multi in %.3f s",
		    (clock_ns() - start) / 1e9);
}

/*
 * Functions without an ftrace location, and system calls that call each once and do little else. The
 * optimizer takes the first. It leaves the second alone, since a fault in there goes on in the middle of
 * it. Nothing else will do for that: a breakpoint that only waits for the optimizer costs a third less
 * than one that stays.
 */
static const struct detour {
	const char *name;
	uint32_t spare;
	uint64_t insns; /* of the function, as in test_insns */
} detours[RECORD_N_DETOURS] = {
	[RECORD_DETOUR_OPTIMIZED] = { "__x64_sys_ni_syscall", SPARE_OPTIMIZED, 2 },
	[RECORD_DETOUR_INT3] = { "__get_user_4", SPARE_INT3, 10 },
};

static const enum profile_mechanism detour_mechs[RECORD_N_DETOURS] = {
	[RECORD_DETOUR_OPTIMIZED] = PROFILE_MECH_KPROBE_OPTIMIZED,
	[RECORD_DETOUR_INT3] = PROFILE_MECH_KPROBE_INT3,
};

const char *record_detour_name(enum record_detour which)
{
	return detours[which].name;
}

static uint32_t call_detour(enum record_detour which)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };

	if (which == RECORD_DETOUR_INT3) {
		syscall(SYS_capget, &header, NULL);
		return SYS_capget;
	}
	syscall(SYS_tuxcall);
	return SYS_tuxcall;
}

/* measure() for a function that is called by itself. */
static void measure_detour(struct calibrator *c, enum record_detour which, uint32_t site,
			   struct record_series *outer, struct record_series *inner)
{
	uint32_t nr = call_detour(which);

	for (int i = 0; i < RECORD_ROUNDS; i++) {
		uint64_t outer_before, inner_before;

		outer_before = record_engine_oncpu(c->e, ENGINE_SITE_CONTEXT, nr);
		inner_before = record_engine_oncpu(c->e, site, nr);
		call_detour(which);
		outer->values[i] =
			record_engine_oncpu(c->e, ENGINE_SITE_CONTEXT, nr) - outer_before;
		inner->values[i] = record_engine_oncpu(c->e, site, nr) - inner_before;
	}
}

/* Measures the probes that are there as SITE; BASE: the same without. */
static int calibrate_detour(struct calibrator *c, enum record_detour which, uint32_t site,
			    struct record_series *base)
{
	uint64_t empty = c->clock == PROFILE_CLOCK_INSN ? detours[which].insns : EMPTY_NS;
	struct record_cost *cost = &c->out->cost[detour_mechs[which]];
	uint64_t unprobed = record_series_median(base), probed, own;
	struct record_series with, inner;

	measure_detour(c, which, site, &with, &inner);
	own = record_series_median(&inner);
	if (!own)
		return -ENODATA;
	probed = record_series_median(&with);
	*cost = (struct record_cost){
		.full = less(probed, unprobed),
		.full_spread = record_series_deviation(&with, probed) +
			       record_series_deviation(base, unprobed),
		.inner = less(own, empty),
		.inner_spread = record_series_deviation(&inner, own),
		.nested = c->out->cost[PROFILE_MECH_KPROBE].nested ?:
				  c->out->cost[PROFILE_MECH_FENTRY].nested,
		.trip = c->out->trip,
		.known = true,
	};
	if (c->out->halves) {
		record_engine_halve(c->e, site);
		measure_detour(c, which, site, &with, &inner);
		cost->half = less(record_series_median(&with), unprobed);
	}
	add_interrupts(c->out, cost);
	return 0;
}

static bool calibrate_both_detours(struct calibrator *c, const uint64_t *addrs)
{
	enum profile_mechanism found[RECORD_N_DETOURS] = {};
	struct record_series base[RECORD_N_DETOURS], none;
	int errs[RECORD_N_DETOURS];

	for (int i = 0; i < RECORD_N_DETOURS; i++) {
		const struct record_target target = { .addr = addrs[i] };

		measure_detour(c, i, ENGINE_SITE_CONTEXT, &base[i], &none);
		errs[i] = !addrs[i] ? -ENOENT :
				      record_engine_attach_spare(c->e, detours[i].spare,
								 detour_mechs[i], &target);
		if (!errs[i])
			c->left[c->n_left++] = detour_mechs[i];
	}
	if (!errs[RECORD_DETOUR_OPTIMIZED])
		record_detour_await(addrs[RECORD_DETOUR_OPTIMIZED]);
	for (int i = RECORD_N_DETOURS - 1; i >= 0; i--) {
		if (!errs[i]) {
			found[i] = record_detour_look(addrs[i]);
			errs[i] = found[i] != detour_mechs[i] ?
					  -ENODATA :
					  calibrate_detour(
						  c, i, record_engine_spare(c->e, detours[i].spare),
						  &base[i]);
		}
		if (errs[i])
			log_verbose(1, "%s is not to be had on %s: %s",
				    profile_mechanism_name(detour_mechs[i]), detours[i].name,
				    log_strerror(errs[i]));
	}
	return found[RECORD_DETOUR_OPTIMIZED] == PROFILE_MECH_KPROBE_OPTIMIZED;
}

bool record_calibrate_detours(struct record_engine *e, const struct profile *p,
			      const uint64_t *addrs, struct record_calibration *out)
{
	struct calibrator c = { .e = e, .clock = p->clock, .out = out };
	uint64_t start = clock_ns();
	bool optimized = false;

	use_provisional_costs(&c);
	if (!record_engine_follow_caller(e, true)) {
		optimized = calibrate_both_detours(&c, addrs);
		record_engine_follow_caller(e, false);
		/* Others call these functions too. */
		detach_spares(&c);
	}
	record_engine_set_costs(e, out->cost);
	log_verbose(1,
		    "calibrated kprobes on no ftrace location in %.3f s, with the wait for the "
		    "kernel's optimizer",
		    (clock_ns() - start) / 1e9);
	return optimized;
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
		      alloc_printf("latency=%" PRIu64 " interrupt=%" PRIu64, c->sample_latency,
				   c->sample_full));
}
