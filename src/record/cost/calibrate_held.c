// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the kernel does less around a program that runs with a lock of PREEMPT_RT held: see held_now() in bpf/engine.h.
 * Programs on recalc_sigpending(), which is called with one held when a signal is blocked, and not any more, are
 * compared with those that were calibrated without.
 */
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/syscall.h>

#include "arch/arch.h"
#include "base/log.h"
#include "kprotperf/engine.h"
#include "record/cost/calibrate_impl.h"

#define CALLS 2 /* of that in each round */

static int change_signals(void *arg)
{
	sigset_t one, before;

	(void)arg;
	sigemptyset(&one);
	sigaddset(&one, SIGWINCH);
	return sigprocmask(SIG_BLOCK, &one, &before) || sigprocmask(SIG_SETMASK, &before, NULL) ?
		       -errno :
		       0;
}

/* A third comes before the program: 13 instructions in migrate_disable() of 6.1, and 26 in migrate_enable(). */
static struct engine_held solve(const struct calibrator *c, uint64_t took)
{
	uint64_t full = record_cost_full(&c->out->cost[PROFILE_MECH_FENTRY],
					 c->empty->locked.n_args),
		 less = record_cost_less(full, took + took * c->out->interrupts + 0.5);
	struct engine_held held = {};

	if (c->p->clock == PROFILE_CLOCK_INSN)
		held.rcu = ARCH_RCU_NESTED_INSNS;
	less = record_cost_less(less / 2, 2 * held.rcu); /* of one program */
	held.before = less / 3;
	held.behind = less - held.before;
	return held;
}

int record_calibrate_held(struct calibrator *c)
{
	const struct record_call call = { change_signals, NULL, SYS_rt_sigprocmask };
	struct record_series base, with;
	struct engine_held held;
	uint64_t took;
	int err = record_calibrator_measure(c, &call, 0, &base, NULL);

	err = err   ?:
		      record_calibrator_attach(c, SPARE_HELD, PROFILE_MECH_FENTRY,
					       &c->empty->locked);
	if (err)
		return err;
	err = record_calibrator_measure(c, &call, 0, &with, NULL);
	if (err)
		return err;
	took = record_cost_less(record_series_median(&with), record_series_median(&base)) / CALLS;
	/* It was not called: the caller has the signal blocked. */
	if (2 * took < c->out->cost[PROFILE_MECH_FENTRY].full)
		return -ERANGE;
	held = solve(c, took);
	record_engine_set_held(c->e, &held);
	c->out->held = true;
	log_verbose(1,
		    "with a lock held, each program costs %llu less before it and %llu less after "
		    "it",
		    held.before, held.behind);
	return 0;
}
