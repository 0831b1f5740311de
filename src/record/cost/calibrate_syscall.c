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

/* Like most syscalls, getppid() reads data of its task: in cold caches, the probe's own accesses to it are then cheaper. */
static int call_getppid(void *arg)
{
	(void)arg;
	syscall(SYS_getppid);
	return 0;
}

static int call_unused(void *arg)
{
	(void)arg;
	syscall(UNUSED_SYSCALL);
	return 0;
}

static const struct record_call getppid_call = { call_getppid, NULL, SYS_getppid };
const struct record_call record_call_unused = { call_unused, NULL, UNUSED_SYSCALL };

static const struct record_reading time_reading = { .is_time = true };
static const struct record_reading inner_reading = { ENGINE_SITE_CONTEXT, UNUSED_SYSCALL,
						     RECORD_SUM_ONCPU };
static const struct record_reading closing_reading = { ENGINE_SITE_CONTEXT, SYS_getppid,
						       RECORD_SUM_CLOSING };

void record_calibrate_read_syscalls(const struct record_engine *e, bool real_clock,
				    struct record_series *time, struct record_series *inner)
{
	struct record_reading outer = time_reading, own = inner_reading;

	record_measure_repeated(e, real_clock, &getppid_call, &outer, 1);
	*time = outer.series;
	if (!e)
		return;
	record_measure_repeated(e, real_clock, &record_call_unused, &own, 1);
	*inner = own.series;
}

/* Measure CALL like record_measure(), with cold caches: before each round, walk over WALK. */
static void measure_cold(const struct record_engine *e, const struct record_walk *walk,
			 const struct record_call *call, struct record_reading *readings,
			 uint32_t n)
{
	struct record_call cold = *call;

	cold.walk = walk;
	record_measure(e, &cold, readings, n);
}

void record_calibrate_before(struct record_calibration *out, enum profile_clock clock)
{
	bool real_clock = clock == PROFILE_CLOCK_NS;
	struct record_reading time = time_reading;

	memset(out, 0, sizeof(*out));
	out->run = -1;
	out->cost[PROFILE_COSTS_SAMPLE].pending = ENGINE_PENDING_NS;
	record_calibrate_read_syscalls(NULL, real_clock, &out->unprobed, NULL);
	if (!real_clock)
		return;
	out->step = clock_step_ns(clock_ns);
	record_walk_init(&out->walk);
	measure_cold(NULL, &out->walk, &getppid_call, &time, 1);
	out->unprobed_cold = time.series;
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
	struct record_reading hot = closing_reading, own = inner_reading;
	struct record_reading cold[] = { closing_reading, time_reading };

	record_engine_read_closings(c->e, 1, UINT64_MAX);
	record_measure(c->e, &getppid_call, &hot, 1);
	measure_cold(c->e, &c->out->walk, &getppid_call, cold, 2);
	measure_cold(c->e, &c->out->walk, &record_call_unused, &own, 1);
	inner = (mean(&own.series) - (double)empty_ticks(c, EMPTY_SYSCALL_INSNS)) * interrupts;
	full = (mean(&cold[1].series) - mean(&c->out->unprobed_cold)) * interrupts;
	cost->closing = (uint64_t)mean(&hot.series);
	cost->cold_closing = (uint64_t)mean(&cold[0].series);
	/* Costs with cold caches are never below costs with warm caches. */
	cost->cold_inner = (uint64_t)fmax(inner, (double)cost->inner);
	cost->cold_full = (uint64_t)fmax(full, (double)cost->full);
	record_engine_read_closings(c->e, ENGINE_CLOSINGS,
				    INTERRUPTED * record_series_median(&cold[0].series));
	record_walk_deinit(&c->out->walk);
}

/* Measure the extra cost of ending a call that enclosed timed calls. The cost is in the caller's time, not in the call's own. */
static uint64_t measure_enclosing(const struct calibrator *c)
{
	struct kprotperf_bpf *skel = record_engine_programs(c->e);
	int prog = bpf_program__fd(skel->progs.enclose_in_syscall), err = 0;
	const struct record_call call = { record_round_run, &prog, SYS_bpf };
	uint64_t times[2] = { 0 };

	for (int i = 0; i < 2 && !err; i++) {
		struct record_reading time = time_reading;

		skel->bss->enclosed = i;
		err = record_measure(c->e, &call, &time, 1);
		times[i] = record_series_median(&time.series);
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
