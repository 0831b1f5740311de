// SPDX-License-Identifier: GPL-2.0-or-later
/* Kprobes on functions without an ftrace location, which the kernel reaches by a jump or by a breakpoint. */
#include <errno.h>
#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/system/clock.h"
#include "base/log.h"
#include "kprotperf/engine.h"
#include "record/cost/calibrate_impl.h"
#include "record/probe/optimizer.h"

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
 * System calls that call each of these functions once and do little else. The optimizer takes the first. It leaves the second alone, since a fault in there goes on in the middle of
 * it. Nothing else will do for that: a breakpoint that only waits for the optimizer costs a third less
 * than one that stays.
 */
static const struct subject {
	uint32_t spare;
	uint64_t insns; /* of the function, as in record_empty_insns */
	struct record_call call;
} subjects[RECORD_N_UNTRACED] = {
	{ SPARE_OPTIMIZED, 2, { call_tuxcall, NULL, SYS_tuxcall } },
	{ SPARE_INT3, 10, { call_capget, NULL, SYS_capget } },
};

/* Measures the probes on subject I, which are there; BASE: the same without. */
static int calibrate_subject(struct calibrator *c, size_t i, struct record_series *base)
{
	const struct subject *s = &subjects[i];
	struct engine_cost *cost = &c->out->cost[record_untraced[i].mech], found = {};
	int err = record_calibrator_solve(c, &s->call, s->spare, base, s->insns, &found);

	if (err)
		return err;
	if (!record_engine_calls(c->e, record_engine_spare(c->e, s->spare), s->call.ctx))
		return -ENODATA;
	*cost = found;
	cost->nested = c->out->cost[PROFILE_MECH_KPROBE].nested ?:
			       c->out->cost[PROFILE_MECH_FENTRY].nested;
	record_calibrator_finish(c, &s->call, s->spare, base, record_untraced[i].mech);
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
	/* Others call these functions too. */
	record_calibrator_detach_spares(&c);
	log_verbose(1,
		    "calibrated kprobes off ftrace locations in %.3f s, including the wait for the "
		    "kernel's optimizer",
		    (clock_ns() - start) / 1e9);
	return optimized;
}
