// SPDX-License-Identifier: GPL-2.0-or-later
/* Kprobes on functions without an ftrace location, which the kernel reaches by a jump or by a breakpoint. */
#include <errno.h>
#include <linux/capability.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/log.h"
#include "record/calibrate_impl.h"
#include "record/detour.h"

/*
 * Functions without an ftrace location, and system calls that call each once and do little else. The
 * optimizer takes the first. It leaves the second alone, since a fault in there goes on in the middle of
 * it. Nothing else will do for that: a breakpoint that only waits for the optimizer costs a third less
 * than one that stays.
 */
static const struct detour {
	const char *name;
	uint32_t spare;
	uint64_t insns; /* of the function, as in record_calibrator_insns */
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

/* record_calibrator_measure() for a function that is called by itself. */
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
	record_calibrator_add_interrupts(c->out, cost);
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

	record_calibrator_use_provisional_costs(&c);
	if (!record_engine_follow_caller(e, true)) {
		optimized = calibrate_both_detours(&c, addrs);
		record_engine_follow_caller(e, false);
		/* Others call these functions too. */
		record_calibrator_detach_spares(&c);
	}
	record_engine_set_costs(e, out->cost);
	log_verbose(1,
		    "calibrated kprobes on no ftrace location in %.3f s, with the wait for the "
		    "kernel's optimizer",
		    (clock_ns() - start) / 1e9);
	return optimized;
}
