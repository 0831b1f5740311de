// SPDX-License-Identifier: GPL-2.0-or-later
/* Attach and calibrate kprobe.multi at the same time: a single link has all functions, also the functions for calibration. */
#include <errno.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/system/clock.h"
#include "kprotperf/engine.h"
#include "record/cost/calibrate_impl.h"
#include "record/probe/multi.h"
#include "record/probe/kprobe.h"

/*
 * Median absolute deviation of a function's cost from the mean, in instructions, due to the function's position in the kernel's
 * hash table: each function before it in a list adds ten. In 19 boots, callers' times were up to 42 instructions off per timed
 * call.
 */
#define PLACE_SPREAD 10

/* The functions in a link of kprobe.multi. */
struct multi {
	struct calibrator *c;
	const struct record_target *items;
	uint32_t n;
};

/* Return the attached function at ADDR; NULL: no function there is attached. */
static const struct record_target *multi_find(const struct multi *m, uint64_t addr)
{
	for (uint32_t i = 0; i < m->n; i++)
		if (m->items[i].addr == addr)
			return m->items[i].err ? NULL : &m->items[i];
	return NULL;
}

/* Return the number of calls of all functions so far in bpf(), the system call that runs the empty functions. */
static uint64_t multi_count(const struct multi *m)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < m->n; i++)
		if (!m->items[i].err)
			sum += record_engine_sum(m->c->e, m->items[i].site, SYS_bpf,
						 RECORD_SUM_CALLS);
	return sum;
}

/* Time the system call that runs the empty functions. If CALLS is not NULL, set *CALLS to the number of timed calls per series. */
static int multi_measure(const struct multi *m, struct record_series *with, uint64_t *calls)
{
	uint32_t series = m->c->p->clock == PROFILE_CLOCK_INSN ? 1 : RECORD_REPEATS;
	uint64_t before = multi_count(m);
	int err = record_calibrator_measure(m->c, &m->c->empty_call, 0, with, NULL);

	if (err || !calls)
		return err;
	*calls = (multi_count(m) - before) / series;
	return *calls ? 0 : -ESHUTDOWN;
}

/* Set TIME to the system call's median time if the function of ITEM is not timed in it. */
static int multi_time_without(const struct multi *m, const struct record_target *item,
			      uint64_t *time)
{
	struct record_series s;
	int err;

	err = record_multi_show(m->c->probes, item, false);
	err = err ?: multi_measure(m, &s, NULL);
	if (!err)
		*time = record_series_median(&s);
	return record_multi_show(m->c->probes, item, true) ?: err;
}

/*
 * Measure the extra cost of timing a call that encloses timed calls: compare the outer function, which calls the empty functions,
 * with the empty function TEST.
 */
static uint64_t multi_nested(const struct multi *m, const struct record_target *test)
{
	const struct record_target *outer = multi_find(m, m->c->empty->outer.addr);
	uint64_t without_outer, without_test;

	if (!outer || multi_time_without(m, outer, &without_outer) ||
	    multi_time_without(m, test, &without_test))
		return 0;
	return record_cost_less(without_test, without_outer);
}

/* Set INNER of COST to the mean INNER of the empty functions. Return the last empty function that was measured; NULL: none. */
static const struct record_target *multi_measure_inner(const struct multi *m,
						       struct engine_cost *cost)
{
	const struct record_target *last = NULL;
	uint64_t inner = 0, spread = 0;
	uint32_t n = 0;

	for (uint32_t i = 0; i < RECORD_N_TESTS; i++) {
		const struct record_target *test = multi_find(m, m->c->empty->tests[i].addr);
		uint64_t empty = empty_ticks(m->c, record_empty_insns[i]), median;
		struct record_series all, one;

		if (!test ||
		    record_calibrator_measure(m->c, &m->c->empty_call, test->site, &all, &one))
			continue;
		median = record_series_median(&one);
		inner += record_cost_less(median, empty);
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
 * Set the engine's cost to an estimate. With cost 0, calls that enclose others would seem too long, and the program would take
 * another path for these calls than for most calls.
 */
static int set_estimate(const struct multi *m)
{
	struct engine_cost costs[PROFILE_N_COSTS];
	uint64_t calls;
	struct record_series with;
	int err = multi_measure(m, &with, &calls);

	if (err)
		return err;
	memcpy(costs, m->c->out->cost, sizeof(costs));
	costs[PROFILE_MECH_MULTI] = (struct engine_cost){};
	record_cost_solve_multi(&costs[PROFILE_MECH_MULTI], &m->c->base, &with, calls);
	record_calibrator_set_costs(m->c->e, costs);
	return 0;
}

/* Measure the mean cost of a call. Count the calls: the system call may also call functions to be recorded, in the same link. */
static int measure_multi(const struct multi *m, struct engine_cost *cost)
{
	const struct record_target *test = multi_measure_inner(m, cost);
	uint64_t calls;
	struct record_series with;
	int err;

	err = set_estimate(m) ?: !test ? -ENOENT : multi_measure(m, &with, &calls);
	if (err)
		return err;
	cost->nested = m->c->out->cost[PROFILE_MECH_FENTRY].nested ?: multi_nested(m, test);
	record_cost_solve_multi(cost, &m->c->base, &with, calls);
	if (m->c->p->clock == PROFILE_CLOCK_INSN)
		cost->full_spread += PLACE_SPREAD;
	return 0;
}

/* Add the function at ADDR to ITEMS, unless ADDR is 0 or ITEMS has the function already. */
static void multi_add(struct record_target *items, uint32_t *n, uint32_t site, uint64_t addr)
{
	for (uint32_t i = 0; i < *n; i++)
		if (items[i].addr == addr)
			return;
	if (addr)
		items[(*n)++] = (struct record_target){ .site = site, .addr = addr };
}

/* Set NESTED of the mechanisms for functions that have no NESTED yet. */
static void set_nested(struct record_calibration *out, uint64_t nested)
{
	for (int mech = 0; mech < PROFILE_N_MECHANISMS; mech++)
		if (mech != PROFILE_MECH_TRACEPOINT && out->cost[mech].known)
			out->cost[mech].nested = out->cost[mech].nested ?: nested;
}

void record_calibrate_multi(struct record_probes *probes, const struct profile *p,
			    const struct record_empty *empty, struct record_target *items,
			    uint32_t n, struct record_calibration *out)
{
	struct engine_cost *cost = &out->cost[PROFILE_MECH_MULTI];
	struct multi m = { .items = items, .n = n };
	uint64_t start = clock_ns();
	struct calibrator c;
	int err;

	err = record_calibrator_open(&c, probes, p, empty, out);
	err = err               ?:
		      c.run < 0 ? c.run :
				  record_calibrator_measure(&c, &c.empty_call, 0, &c.base, NULL);
	m.c = &c;
	for (uint32_t i = 0; !err && i < RECORD_N_TESTS; i++)
		multi_add(items, &m.n, record_engine_spare(c.e, SPARE_MULTI + i),
			  empty->tests[i].addr);
	if (!err)
		multi_add(items, &m.n, record_engine_spare(c.e, SPARE_OUTER), empty->outer.addr);
	record_mechanism(PROFILE_MECH_MULTI)->attach(probes, items, m.n);
	err = err ?: measure_multi(&m, cost);
	if (err) {
		record_calibrator_note_unknown(&c, PROFILE_MECH_MULTI, err);
	} else {
		set_nested(out, cost->nested);
		record_calibrator_finish(&c, PROFILE_MECH_MULTI);
	}
	record_calibrator_close(&c);
	log_verbose(1, "attached and calibrated kprobe.multi in %.3f s",
		    (clock_ns() - start) / 1e9);
}

/* ---- kprobes on functions without an ftrace location ---- */

static int call_tuxcall(void *arg)
{
	(void)arg;
	syscall(SYS_tuxcall);
	return 0;
}

static int call_capget(void *arg)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };

	(void)arg;
	syscall(SYS_capget, &header, NULL);
	return 0;
}

const struct record_untraced record_untraced[RECORD_N_UNTRACED] = {
	{ PROFILE_MECH_KPROBE_OPTIMIZED, "__x64_sys_ni_syscall" },
	{ PROFILE_MECH_KPROBE_INT3, "__get_user_4" },
};

/*
 * Each system call below calls one of the functions in record_untraced[] once, and does little else. The second function must keep
 * its breakpoint: a breakpoint costs a third less as long as it waits for the optimizer. The optimizer does not replace the
 * breakpoint of this function, since the kernel continues in the middle of the function after a fault there.
 */
static const struct subject {
	uint32_t spare;
	uint64_t insns; /* instructions of the function, counted as in record_empty_insns */
	struct record_call call;
} subjects[RECORD_N_UNTRACED] = {
	{ SPARE_OPTIMIZED, 2, { call_tuxcall, NULL, SYS_tuxcall } },
	{ SPARE_INT3, 10, { call_capget, NULL, SYS_capget } },
};

/* Measure the attached probes on subjects[I]. BASE has the times without these probes. */
static int calibrate_subject(struct calibrator *c, size_t i, struct record_series *base)
{
	const struct subject *s = &subjects[i];
	struct engine_cost *cost = &c->out->cost[record_untraced[i].mech];
	int err = record_calibrator_solve(c, &s->call, s->spare, base, s->insns, cost);

	if (err)
		return err;
	cost->nested = c->out->cost[PROFILE_MECH_KPROBE].nested ?:
			       c->out->cost[PROFILE_MECH_FENTRY].nested;
	record_calibrator_finish(c, record_untraced[i].mech);
	return 0;
}

static bool calibrate_all(struct calibrator *c, const uint64_t *addrs)
{
	enum profile_mechanism found[RECORD_N_UNTRACED] = {};
	struct record_series base[RECORD_N_UNTRACED];
	int errs[RECORD_N_UNTRACED];

	for (size_t i = 0; i < RECORD_N_UNTRACED; i++) {
		const struct record_target target = { .addr = addrs[i] };
		const struct subject *s = &subjects[i];

		errs[i] = record_calibrator_measure(c, &s->call, 0, &base[i], NULL) ?:
				  record_calibrator_attach(c, s->spare, record_untraced[i].mech,
							   &target);
	}
	if (!errs[0])
		record_optimizer_await(c->e, addrs[0]);
	for (size_t i = RECORD_N_UNTRACED; i-- > 0;) {
		enum profile_mechanism mech = record_untraced[i].mech;

		if (!errs[i]) {
			found[i] = record_optimizer_look(c->e, addrs[i]);
			errs[i] = found[i] != mech ? -ENODATA : calibrate_subject(c, i, &base[i]);
		}
		if (errs[i])
			log_verbose(1, "%s is not available on %s: %s",
				    profile_mechanism_name(mech), record_untraced[i].function,
				    log_strerror(errs[i]));
	}
	return found[0] == PROFILE_MECH_KPROBE_OPTIMIZED;
}

bool record_calibrate_kprobes(struct record_probes *probes, const struct profile *p,
			      const uint64_t addrs[RECORD_N_UNTRACED],
			      struct record_calibration *out)
{
	uint64_t start = clock_ns();
	bool optimized = false;
	struct calibrator c;
	int err = record_calibrator_open(&c, probes, p, NULL, out);

	if (!err)
		optimized = calibrate_all(&c, addrs);
	record_calibrator_close(&c);
	/* Detach the probes, since the workload calls these functions, too. */
	record_calibrator_detach_spares(&c);
	log_verbose(1,
		    "calibrated kprobes off ftrace locations in %.3f s, including the wait for the "
		    "kernel's optimizer",
		    (clock_ns() - start) / 1e9);
	return optimized;
}
