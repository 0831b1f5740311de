// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/attach.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "record/calibrate.h"
#include "record/closer.h"
#include "record/detour.h"
#include "record/engine.h"
#include "record/features.h"
#include "record/function.h"
#include "record/kprobe_table.h"
#include "record/point.h"
#include "record/range_attach.h"
#include "record/range_cost.h"
#include "record/workload.h"
#include "symbol/kcore.h"

/* What calls the kernel's own test functions, which do next to nothing. */
#define EMPTY_OUTER "bpf_prog_test_run_tracing"

/* Site I of the sites is attached by MECH. */
static void note_attached(struct record_attachment *a, uint32_t i, enum profile_mechanism mech)
{
	struct record_site *rs = &a->sites->items[i];

	if (!rs->entered)
		a->recalibrate |= mech != rs->mech && !a->calibration->cost[mech].known;
	rs->mech = mech;
	a->p->sites[i + 1].mech = mech;
	/* Nobody could tell how the kernel reaches it: taken for an ftrace location. */
	if (mech == PROFILE_MECH_KPROBE &&
	    symbol_tracing_is_ftrace(a->symbols->tracing, rs->sym) == SYMBOL_NO)
		log_warn(
			"'%s' has no ftrace location: the probe cost subtracted from it is only an "
			"estimate",
			rs->name);
}

/* The kernel refused site I with ERR: an error where it was named. */
static int note_refused(struct record_attachment *a, uint32_t i, int err)
{
	struct record_site *rs = &a->sites->items[i];

	a->p->sites[i + 1].mech = PROFILE_MECH_NONE;
	if (err == -EINTR)
		return err;
	if (rs->named) {
		log_error("cannot probe '%s': %s", rs->sym->name, log_strerror(err));
		return err;
	}
	log_verbose(1, "skipped %s: the kernel refuses the probe: %s", rs->sym->name,
		    log_strerror(err));
	a->sites->skipped[RECORD_SKIP_MECHANISM]++;
	return 0;
}

static int attach_by(struct record_attachment *a, uint32_t i, enum profile_mechanism mech)
{
	struct record_site *rs = &a->sites->items[i];
	const struct record_target target = { rs->sym->addr, rs->btf_id, rs->btf_fd, rs->n_args,
					      rs->extra };
	int err;

	/* The rest of it is settle_kprobes(). */
	if (mech == PROFILE_MECH_KPROBE &&
	    symbol_tracing_is_ftrace(a->symbols->tracing, rs->sym) != SYMBOL_YES) {
		err = record_engine_attach_entry(a->engine, i + 1, &target);
		rs->entered = !err;
		return err;
	}
	return record_engine_attach(a->engine, i + 1, mech, &target);
}

/*
 * A kernel may have a mechanism and yet refuse it for one function: then another may do. What
 * kprobe.multi is to do comes later, all at once.
 */
static int attach_site(struct record_attachment *a, uint32_t i, enum profile_mechanism mech)
{
	bool retry = a->how == RECORD_ATTACH_AUTO;
	int err = attach_by(a, i, mech);

	if (err && err != -EINTR && retry && mech == PROFILE_MECH_FENTRY) {
		log_verbose(1, "%s: fentry: %s", a->sites->items[i].name, log_strerror(err));
		if (record_features_has(a->features, PROFILE_MECH_MULTI)) {
			a->sites->items[i].mech = PROFILE_MECH_MULTI;
			a->p->sites[i + 1].mech = PROFILE_MECH_MULTI;
			return 0;
		}
		mech = PROFILE_MECH_KPROBE;
		if (record_features_has(a->features, mech))
			err = attach_by(a, i, mech);
	}
	if (err)
		return note_refused(a, i, err);
	if (!a->sites->items[i].entered)
		note_attached(a, i, mech);
	return 0;
}

/* The function of that name, if there is just one. */
static struct record_target find_target(const struct record_attachment *a, const char *name)
{
	struct record_target target = {};
	const struct symbol_sym *const *named;
	size_t n;

	named = symbol_kallsyms_named(a->symbols->ks, name, &n);
	if (n != 1)
		return target;
	target.addr = named[0]->addr;
	target.btf_id = a->symbols->btf ? symbol_btf_function(a->symbols->btf, name) : -ENOENT;
	if (target.btf_id > 0)
		target.n_args = symbol_btf_function_nargs(a->symbols->btf, target.btf_id);
	return target;
}

/* The kernel's functions to calibrate with. */
static void find_empty(struct record_attachment *a, struct record_empty *empty)
{
	memset(empty, 0, sizeof(*empty));
	if (record_symbols_load_functions(a->symbols))
		return;
	for (int i = 0; i < RECORD_N_TESTS; i++) {
		char name[] = RECORD_EMPTY_FUNCTION; /* the first */

		name[sizeof(name) - 2] += i;
		empty->tests[i] = find_target(a, name);
	}
	empty->outer = find_target(a, EMPTY_OUTER);
}

static void calibrate(struct record_attachment *a)
{
	struct record_empty empty;

	find_empty(a, &empty);
	record_calibrate(a->engine, a->p, &empty, a->calibration);
}

/* All sites that are to be had by kprobe.multi, in one go. */
static int attach_multi(struct record_attachment *a)
{
	struct record_multi_site *items =
		alloc_array(a->sites->n_items + RECORD_MULTI_MORE, sizeof(*items));
	uint32_t n = 0;
	int err = 0, one;

	for (uint32_t i = 0; i < a->sites->n_items; i++)
		if (a->sites->items[i].mech == PROFILE_MECH_MULTI)
			items[n++] = (struct record_multi_site){
				.site = i + 1,
				.addr = a->sites->items[i].sym->addr,
			};
	if (n) {
		struct record_empty empty;

		log_progress("attaching %u functions at once", n);
		find_empty(a, &empty);
		record_calibrate_multi(a->engine, a->p, &empty, items, n, a->calibration);
	}
	for (uint32_t i = 0; i < n && err != -EINTR; i++) {
		uint32_t site = items[i].site - 1;

		one = 0;
		if (!items[i].err)
			note_attached(a, site, PROFILE_MECH_MULTI);
		else if (items[i].err == -EINTR || a->how != RECORD_ATTACH_AUTO)
			one = note_refused(a, site, items[i].err);
		else
			one = attach_site(a, site, PROFILE_MECH_KPROBE);
		err = one ? one : err;
	}
	free(items);
	return err;
}

/* What kprobes cost more by their place in the kernel's lists, which the order of attaching makes. */
static void find_extra_costs(struct record_attachment *a)
{
	uint64_t *addrs = alloc_array(a->sites->n_items, sizeof(*addrs));
	uint32_t *hops = alloc_array(a->sites->n_items, sizeof(*hops)), n = 0;

	for (uint32_t i = 0; i < a->sites->n_items; i++)
		if (a->sites->items[i].mech == PROFILE_MECH_KPROBE)
			addrs[n++] = a->sites->items[i].sym->addr;
	record_kprobe_hops(addrs, n, hops);
	while (n)
		for (uint32_t i = a->sites->n_items; i-- > 0;)
			if (a->sites->items[i].mech == PROFILE_MECH_KPROBE)
				a->sites->items[i].extra = hops[--n] * RECORD_KPROBE_HOP_INSNS;
	free(addrs);
	free(hops);
}

static bool is_timed_by(const struct record_attachment *a, enum profile_mechanism mech)
{
	for (uint32_t i = 1; i < a->p->n_sites; i++)
		if (a->p->sites[i].mech == mech)
			return true;
	return false;
}

/* The address of that function; 0: there is none, or it is to be timed itself. */
static uint64_t spare_function(const struct record_attachment *a, const char *name)
{
	uint64_t addr = find_target(a, name).addr;

	for (uint32_t i = 0; i < a->sites->n_items; i++)
		if (a->sites->items[i].sym->addr == addr)
			return 0;
	return addr;
}

/* Until the optimizer has been to the kprobes that are there; LAST: the function probed last. */
static void calibrate_detours(struct record_attachment *a, const struct record_site *last)
{
	uint64_t addrs[RECORD_N_DETOURS];

	for (int i = 0; i < RECORD_N_DETOURS; i++)
		addrs[i] = spare_function(a, record_detour_name(i));
	if (!record_calibrate_detours(a->engine, a->p, addrs, a->calibration))
		record_detour_await(last->sym->addr);
}

static void say_if_unknown(const struct record_attachment *a, enum profile_mechanism mech,
			   enum record_detour which)
{
	if (is_timed_by(a, mech) && !a->calibration->cost[mech].known)
		log_note(
			"the cost of %s probes is not known and not subtracted: %s, on which it is "
			"measured, could not be probed so",
			profile_mechanism_name(mech), record_detour_name(which));
}

/* The second half of a kprobe, whose first the kernel will go on to reach as it does now. */
static int settle_kprobe(struct record_attachment *a, uint32_t i)
{
	const struct record_site *rs = &a->sites->items[i];
	struct record_target target = { .addr = rs->sym->addr, .extra = rs->extra };
	enum profile_mechanism mech = record_detour_look(target.addr) ?: PROFILE_MECH_KPROBE;
	int err;

	/* The jump leads to what is this probe's own: nothing is looked up. */
	if (mech == PROFILE_MECH_KPROBE_OPTIMIZED)
		target.extra = 0;
	err = record_engine_attach_return(a->engine, i + 1, mech, &target);
	if (err)
		err = note_refused(a, i, err);
	else
		note_attached(a, i, mech);
	a->sites->items[i].entered = false;
	return err;
}

/*
 * Those kprobes that may be on no ftrace location get their other half, which is to know whether the
 * kernel's optimizer has been to the first. It shall not come while the workload runs.
 */
static int settle_kprobes(struct record_attachment *a)
{
	const struct record_site *last = NULL;
	int err = 0;

	for (uint32_t i = 0; i < a->sites->n_items; i++)
		if (a->sites->items[i].entered)
			last = &a->sites->items[i];
	if (!last)
		return 0;
	calibrate_detours(a, last);
	for (uint32_t i = 0; i < a->sites->n_items && !err; i++)
		if (a->sites->items[i].entered)
			err = settle_kprobe(a, i);
	say_if_unknown(a, PROFILE_MECH_KPROBE_OPTIMIZED, RECORD_DETOUR_OPTIMIZED);
	say_if_unknown(a, PROFILE_MECH_KPROBE_INT3, RECORD_DETOUR_INT3);
	return err;
}

static int attach_all(struct record_attachment *a)
{
	uint64_t start = clock_ns();
	int err = 0;

	if (a->p->clock == PROFILE_CLOCK_INSN && a->sites->n_items)
		find_extra_costs(a);
	for (uint32_t i = 0; i < a->sites->n_items && !err; i++) {
		if (a->sites->items[i].mech == PROFILE_MECH_MULTI)
			continue;
		log_progress("attaching %u of %u functions", i + 1, a->sites->n_items);
		err = attach_site(a, i, a->sites->items[i].mech);
		if (record_workload_interrupted())
			err = -EINTR;
	}
	err = err ?: attach_multi(a);
	err = err ?: settle_kprobes(a);
	log_progress_end();
	if (a->sites->n_items)
		log_verbose(1, "attaching took %.1f ms", (clock_ns() - start) / 1e6);
	return err;
}

static int use_table(const struct record_attachment *a)
{
	if (!a->symbols->btf)
		return -ENOENT;
	return record_points_use_table(record_engine_points(a->engine),
				       symbol_btf_raw(a->symbols->btf), SYMBOL_KCORE_PATH,
				       SYMBOL_KALLSYMS_PATH);
}

/* Before anything is on the functions that the kernel's test function calls, but what stays there. */
static void calibrate_ranges(struct record_attachment *a)
{
	struct record_empty empty;
	int err;

	find_empty(a, &empty);
	err = use_table(a);
	if (err)
		log_verbose(1, "the kernel's table of kprobes cannot be read: %s",
			    log_strerror(err));
	err = record_calibrate_ranges(a->engine, a->p->clock, &empty, a->calibration->interrupts,
				      &a->calibration->ranges);
	if (err)
		log_note("the cost of probes inside of functions is not known and not subtracted: "
			 "%s, on which it is measured, is not as it must be: %s",
			 EMPTY_OUTER, log_strerror(err));
	if (err)
		return;
	/* What is measured on must be there as it was, and not with the probes of before. */
	record_closer_wait();
	err = record_calibrate_blocks(a->engine, a->p->clock, &empty, a->calibration->interrupts,
				      a->blocks->n_points ? a->blocks->n_points : RECORD_NO_PROBE,
				      &a->calibration->ranges);
	if (err && a->blocks->n_points)
		log_note("the cost of probes that count blocks is not known and not subtracted: %s",
			 log_strerror(err));
	else if (err)
		log_note("the cost of probes inside of functions is known less well than usual: %s",
			 log_strerror(err));
}

/* Probes inside of functions: all of them first, since what one costs depends on the others. */
static int attach_inside(struct record_attachment *a)
{
	uint64_t stext = symbol_kallsyms_stext(a->symbols->ks);
	int err = record_ranges_arm(a->ranges, a->engine, stext);

	err = err ?: record_blocks_arm(a->blocks, a->engine, stext);
	if (err)
		return err;
	if (a->ranges->n_points)
		record_ranges_attach(a->ranges, a->engine, a->p, stext);
	if (a->blocks->n_points)
		record_blocks_attach(a->blocks, a->engine, a->p->clock, &a->calibration->ranges);
	return 0;
}

int record_attach_sites(struct record_attachment *a)
{
	int err;

	calibrate(a);
	if (a->ranges->n_points || a->blocks->n_points) {
		record_closer_wait();
		calibrate_ranges(a);
	}
	err = attach_all(a);
	err = err ?: attach_inside(a);
	if (!err && a->recalibrate)
		calibrate(a);
	record_closer_wait();
	return err;
}
