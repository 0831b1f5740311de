// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the kernel does less around a program that runs with a lock of PREEMPT_RT held: see held_now() in bpf/frame.h.
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
#include "record/probe/links.h"

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

/*
 * Of a pair that takes TOOK with a lock held. A third comes before the program: 13 instructions in migrate_disable() of
 * 6.1, and 26 in migrate_enable().
 */
static struct engine_held solve(const struct calibrator *c, enum profile_mechanism mech,
				uint64_t took)
{
	bool fentry = mech == PROFILE_MECH_FENTRY;
	uint64_t full = record_cost_full(&c->out->cost[mech], fentry ? c->empty->locked.n_args : 0),
		 less = record_cost_less(full, took + took * c->out->interrupts + 0.5);
	struct engine_held held = {};

	if (c->p->clock == PROFILE_CLOCK_INSN)
		held.rcu = ARCH_RCU_NESTED_INSNS;
	less = record_cost_less(less / 2, (fentry ? 2 : 1) * held.rcu); /* of one program */
	held.before = less / 3;
	held.behind = less - held.before;
	return held;
}

static int calibrate_held(struct calibrator *c, enum profile_mechanism mech, enum engine_held_by by)
{
	const struct record_call call = { change_signals, NULL, SYS_rt_sigprocmask };
	struct record_series base, with;
	struct engine_held held;
	uint64_t took;
	int err = record_calibrator_measure(c, &call, 0, &base, NULL);

	err = err ?: record_calibrator_attach(c, SPARE_HELD, mech, &c->empty->locked);
	if (err)
		return err;
	err = record_calibrator_measure(c, &call, 0, &with, NULL);
	if (err)
		return err;
	took = record_cost_less(record_series_median(&with), record_series_median(&base)) / CALLS;
	/* It was not called: the caller has the signal blocked. */
	if (2 * took < c->out->cost[mech].full)
		return -ERANGE;
	held = solve(c, mech, took);
	record_engine_set_held(c->e, by, &held);
	log_verbose(
		1,
		"with a lock held, each program by %s costs %llu less before it and %llu less after it",
		profile_mechanism_name(mech), held.before, held.behind);
	return 0;
}

int record_calibrate_held(struct calibrator *c)
{
	struct record_calibration *out = c->out;
	int err;

	if (out->cost[PROFILE_MECH_KPROBE].known && !out->held_kprobe) {
		err = calibrate_held(c, PROFILE_MECH_KPROBE, ENGINE_HELD_KPROBE);
		if (err)
			return err;
		/* Two on one function cost more than each. */
		record_probes_detach_last(c->probes);
		c->n_left--;
		record_detach_wait();
		out->held_kprobe = true;
	}
	if (!out->cost[PROFILE_MECH_FENTRY].known || out->held)
		return 0;
	err = calibrate_held(c, PROFILE_MECH_FENTRY, ENGINE_HELD_FENTRY);
	out->held = !err;
	return err;
}
