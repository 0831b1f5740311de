// SPDX-License-Identifier: GPL-2.0-or-later
#include <bpf/libbpf.h>
#include <linux/types.h>
#include <math.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "kprotperf/engine.h"
#include "kprotperf.skel.h"
#include "record/cost/calibrate_impl.h"

#define UNUSED_SYSCALL (ENGINE_SYSCALLS - 1)

/* A call that takes longer than this many medians was interrupted. */
#define INTERRUPTED 8

/*
 * INNER has the times that probes read of a syscall that does nothing. TIME has the caller's times of getppid(). Like most
 * syscalls, getppid() reads data of its task. If caches are cold, the probe's own accesses to that data are then cheaper.
 */
struct readings {
	const struct record_walk *walk; /* memory to walk over before each call; NULL: no walk */
	uint32_t round;
	struct record_series time;
	struct record_series inner;
	struct record_series closing;
};

static int call_timed(void *arg)
{
	struct readings *r = arg;
	uint64_t start;

	if (r->walk)
		record_walk(r->walk);
	start = clock_ns();
	syscall(SYS_getppid);
	r->time.values[r->round++] = clock_ns() - start;
	return 0;
}

static int call_unused(void *arg)
{
	const struct readings *r = arg;

	if (r && r->walk)
		record_walk(r->walk);
	syscall(UNUSED_SYSCALL);
	return 0;
}

const struct record_call record_call_unused = { call_unused, NULL, UNUSED_SYSCALL };

/* Fill R by calls, each after a walk over WALK. If E is NULL, no probes are attached: fill only R->time. */
static void read_syscalls(const struct record_engine *e, const struct record_walk *walk,
			  struct readings *r)
{
	struct record_reading inner = { ENGINE_SITE_CONTEXT, UNUSED_SYSCALL, RECORD_SUM_ONCPU };
	struct record_reading closing = { ENGINE_SITE_CONTEXT, SYS_getppid, RECORD_SUM_CLOSING };

	r->walk = walk;
	r->round = 0;
	clock_settle();
	record_measure(e, call_timed, r, &closing, e ? 1 : 0);
	if (!e)
		return;
	record_measure(e, call_unused, r, &inner, 1);
	r->inner = inner.series;
	r->closing = closing.series;
}

struct repeated {
	const struct record_engine *e;
	uint64_t time[RECORD_REPEATS], inner[RECORD_REPEATS]; /* medians, indexed by series */
};

static int read_series(void *arg, uint32_t i)
{
	struct repeated *to = arg;
	struct readings r;

	read_syscalls(to->e, NULL, &r);
	to->time[i] = record_series_median(&r.time);
	to->inner[i] = to->e ? record_series_median(&r.inner) : 0;
	return 0;
}

void record_calibrate_read_syscalls(const struct record_engine *e, bool real_clock,
				    struct record_series *time, struct record_series *inner)
{
	struct repeated r = { .e = e };

	record_repeat(real_clock, read_series, &r);
	*time = record_series_of(r.time);
	if (e)
		*inner = record_series_of(r.inner);
}

void record_calibrate_before(struct record_calibration *out, enum profile_clock clock)
{
	bool real_clock = clock == PROFILE_CLOCK_NS;
	struct readings r;

	memset(out, 0, sizeof(*out));
	out->run = -1;
	out->cost[PROFILE_COSTS_SAMPLE].pending = ENGINE_PENDING_NS;
	record_calibrate_read_syscalls(NULL, real_clock, &out->unprobed, NULL);
	if (!real_clock)
		return;
	out->step = clock_step_ns(clock_ns);
	record_walk_init(&out->walk);
	read_syscalls(NULL, &out->walk, &r);
	out->unprobed_cold = r.time;
}

/* Return the mean of the times without an interrupt. Workloads give means, which differ from medians if caches are cold. */
static double mean(struct record_series *s)
{
	uint64_t most = INTERRUPTED * record_series_median(s);
	double sum = 0;
	uint32_t n = 0;

	for (; n < RECORD_ROUNDS && s->values[n] <= most; n++)
		sum += (double)s->values[n];
	return n ? sum / n : 0;
}

/* Measure the costs and the closing time (record/cost/cost.h) with cold caches: before each call, walk over memory. */
static void calibrate_cold(struct calibrator *c, struct engine_cost *cost)
{
	double interrupts = 1 + c->out->interrupts, inner, full;
	struct readings hot, cold;

	record_engine_read_closings(c->e, 1, UINT64_MAX);
	read_syscalls(c->e, NULL, &hot);
	read_syscalls(c->e, &c->out->walk, &cold);
	inner = (mean(&cold.inner) - (double)empty_ticks(c, EMPTY_SYSCALL_INSNS)) * interrupts;
	full = (mean(&cold.time) - mean(&c->out->unprobed_cold)) * interrupts;
	cost->closing = (uint64_t)mean(&hot.closing);
	cost->cold_closing = (uint64_t)mean(&cold.closing);
	/* Costs with cold caches are never below costs with warm caches. */
	cost->cold_inner = (uint64_t)fmax(inner, (double)cost->inner);
	cost->cold_full = (uint64_t)fmax(full, (double)cost->full);
	record_engine_read_closings(c->e, ENGINE_CLOSINGS,
				    INTERRUPTED * record_series_median(&cold.closing));
	record_walk_deinit(&c->out->walk);
}

/* Measure the extra cost of ending a call that enclosed timed calls. The cost is in the caller's time, not in the call's own. */
static uint64_t measure_enclosing(const struct calibrator *c)
{
	struct kprotperf_bpf *skel = record_engine_programs(c->e);
	int prog = bpf_program__fd(skel->progs.enclose_in_syscall), err = 0;
	uint64_t times[2] = { 0 };

	for (int i = 0; i < 2 && !err; i++) {
		struct record_series s;

		skel->bss->enclosed = i;
		err = record_measure_time(record_round_run, &prog, NULL, &s, NULL);
		times[i] = record_series_median(&s);
	}
	skel->bss->enclosed = 0;
	return err ? 0 : record_cost_less(times[1], times[0]);
}

void record_calibrate_syscall(struct calibrator *c)
{
	struct engine_cost *cost = &c->out->cost[PROFILE_MECH_TRACEPOINT];
	bool real_clock = c->p->clock == PROFILE_CLOCK_NS;
	struct record_series time, inner;

	record_engine_read_closings(c->e, ENGINE_CLOSINGS, UINT64_MAX);
	record_calibrate_counters(c, &record_call_unused, ENGINE_SITE_CONTEXT,
				  PROFILE_MECH_TRACEPOINT, EMPTY_SYSCALL_INSNS, NULL);
	record_calibrate_counters_pause(c);
	record_calibrate_read_syscalls(c->e, real_clock, &time, &inner);
	record_cost_solve(cost, &c->out->unprobed, &time, &inner,
			  empty_ticks(c, EMPTY_SYSCALL_INSNS));
	record_cost_add_interrupts(cost, c->out->interrupts);
	/* Leave NESTED of syscalls to record_calibrator_set_costs() if the clock is real, and so too coarse to measure NESTED. */
	if (!real_clock)
		cost->nested = measure_enclosing(c);
	c->out->repeats = real_clock;
	if (c->out->walk.memory)
		calibrate_cold(c, cost);
}
