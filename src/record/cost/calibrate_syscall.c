// SPDX-License-Identifier: GPL-2.0-or-later
#include <linux/types.h>
#include <math.h>
#include <sched.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "base/log.h"
#include "kprotperf/engine.h"
#include "record/cost/calibrate_impl.h"

/* An unused system call: the test of its number and the empty function behind it. */
#define EMPTY_SYSCALL_INSNS 8

/* A system call that no kernel has. */
#define UNUSED_SYSCALL (ENGINE_SYSCALLS - 1)

/* What takes longer than so many medians was interrupted. */
#define INTERRUPTED 8

/* Between two series. */
#define PAUSE_NS 1000000

/*
 * What its site reads is that of a call which does nothing. How long a call takes, with its caller's reading of the clock, is
 * that of one which looks at its task as all others do: in cold caches the probe's own looks at it cost the less.
 */
struct readings {
	const struct record_walk *walk; /* before each; NULL: none */
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

	if (r->walk)
		record_walk(r->walk);
	syscall(UNUSED_SYSCALL);
	return 0;
}

/* E is NULL where there are no probes. */
static void read_syscalls(const struct record_engine *e, const struct record_walk *walk,
			  struct readings *r)
{
	struct record_reading inner = { ENGINE_SITE_CONTEXT, UNUSED_SYSCALL, record_engine_oncpu };
	struct record_reading closing = { ENGINE_SITE_CONTEXT, SYS_getppid,
					  record_engine_closing_time };

	r->walk = walk;
	r->round = 0;
	record_measure(e, call_timed, r, &closing, e ? 1 : 0);
	if (!e)
		return;
	record_measure(e, call_unused, r, &inner, 1);
	r->inner = inner.series;
	r->closing = closing.series;
}

/* Lets this process run on the Ith of the CPUs that it may use, modulo their number. */
static void move_to(const cpu_set_t *allowed, int i)
{
	int n = CPU_COUNT(allowed);
	cpu_set_t one;

	CPU_ZERO(&one);
	for (int cpu = 0; n > 1 && cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, allowed) && !(i-- % n)) {
			CPU_SET(cpu, &one);
			sched_setaffinity(0, sizeof(one), &one);
			return;
		}
}

/* On the CPUs in turn. In between others may run: what disturbs one series should not disturb them all. */
static void repeat(const struct record_engine *e, bool real_clock, struct record_repeats *to)
{
	const struct timespec pause = { .tv_nsec = PAUSE_NS };
	cpu_set_t allowed;
	bool moves = real_clock && !sched_getaffinity(0, sizeof(allowed), &allowed);

	for (int i = 0; i < RECORD_REPEATS; i++) {
		struct readings r;

		if (moves) {
			move_to(&allowed, i);
			nanosleep(&pause, NULL);
		}
		read_syscalls(e, NULL, &r);
		to->time[i] = record_series_median(&r.time);
		to->inner[i] = e ? record_series_median(&r.inner) : 0;
	}
	if (moves)
		sched_setaffinity(0, sizeof(allowed), &allowed);
}

static uint64_t median(const uint64_t *repeats, uint64_t *deviation)
{
	uint64_t sorted[RECORD_REPEATS], middle;

	memcpy(sorted, repeats, sizeof(sorted));
	record_values_sort(sorted, RECORD_REPEATS);
	middle = sorted[RECORD_REPEATS / 2];
	*deviation = record_values_deviation(sorted, RECORD_REPEATS, middle);
	return middle;
}

/* COST by what was read without and with probes. */
static void solve(struct engine_cost *cost, const struct record_repeats *base,
		  const struct record_repeats *with, uint64_t empty, double interrupts)
{
	uint64_t of_probed, of_unprobed, of_inner;
	uint64_t probed = median(with->time, &of_probed);
	uint64_t unprobed = median(base->time, &of_unprobed);

	cost->inner = record_cost_less(median(with->inner, &of_inner), empty);
	cost->full = record_cost_less(probed, unprobed);
	cost->inner_spread = of_inner;
	cost->full_spread = of_probed + of_unprobed;
	cost->known = true;
	record_cost_add_interrupts(cost, interrupts);
}

void record_calibrate_before(struct record_calibration *out, enum profile_clock clock)
{
	bool real_clock = clock == PROFILE_CLOCK_NS;
	struct readings r;

	memset(out, 0, sizeof(*out));
	repeat(NULL, real_clock, &out->unprobed);
	if (!real_clock)
		return;
	record_walk_init(&out->walk);
	read_syscalls(NULL, &out->walk, &r);
	out->unprobed_cold = r.time;
}

/* The mean without what was interrupted: cold caches' times are skewed, and of the workload it is means that are known. */
static double mean(struct record_series *s)
{
	uint64_t most = INTERRUPTED * record_series_median(s);
	double sum = 0;
	uint32_t n = 0;

	for (; n < RECORD_ROUNDS && s->values[n] <= most; n++)
		sum += (double)s->values[n];
	return n ? sum / n : 0;
}

/* What the same costs behind a walk, and how that is seen. */
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
	/* Never less than in the caches. */
	cost->cold_inner = (uint64_t)fmax(inner, (double)cost->inner);
	cost->cold_full = (uint64_t)fmax(full, (double)cost->full);
	record_engine_read_closings(c->e, ENGINE_CLOSINGS,
				    INTERRUPTED * record_series_median(&cold.closing));
	record_walk_deinit(&c->out->walk);
}

void record_calibrate_syscall(struct calibrator *c)
{
	struct engine_cost *cost = &c->out->cost[PROFILE_MECH_TRACEPOINT];
	bool real_clock = c->p->clock == PROFILE_CLOCK_NS;
	struct record_repeats with;

	record_engine_read_closings(c->e, ENGINE_CLOSINGS, UINT64_MAX);
	repeat(c->e, real_clock, &with);
	solve(cost, &c->out->unprobed, &with, empty_ticks(c, EMPTY_SYSCALL_INSNS),
	      c->out->interrupts);
	c->out->repeats = real_clock;
	if (c->out->walk.memory)
		calibrate_cold(c, cost);
}

void record_calibrate_again(struct record_engine *e, struct record_calibration *out)
{
	if (!out->repeats)
		return;
	out->repeats = !record_engine_follow_caller(e, true);
	if (!out->repeats)
		return;
	repeat(e, true, &out->again);
	record_engine_follow_caller(e, false);
}

void record_calibrate_after(struct record_calibration *out, const struct record_cold_costs *cold)
{
	struct engine_cost *cost = &out->cost[PROFILE_MECH_TRACEPOINT], first = *cost, again = {};
	double inner, full;

	if (!out->repeats || !(cold->calls > 0))
		return;
	repeat(NULL, true, &out->unprobed);
	solve(&again, &out->unprobed, &out->again, EMPTY_NS, out->interrupts);
	inner = cold->inner / cold->calls;
	full = cold->full / cold->calls;
	cost->inner = (uint64_t)(inner + 0.5);
	cost->full = (uint64_t)(full + 0.5);
	cost->inner_spread = record_cost_error(first.inner_spread, first.inner, again.inner, inner);
	cost->full_spread = record_cost_error(first.full_spread, first.full, again.full, full);
	log_verbose(1,
		    "syscall probes cost %llu ns before the runs and %llu ns after them; %llu ns "
		    "with cold caches, and %.0f ns in the runs",
		    first.full, again.full, first.cold_full, full);
}
