// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/plan.h"

#include <bpf/libbpf.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/system/clock.h"
#include "catalogue/catalogue.h"
#include "catalogue/state.h"
#include "kernel/debuginfo/index.h"
#include "record/collect/environment.h"
#include "record/engine/features.h"
#include "record/probe/choose.h"
#include "record/probe/probes.h"
#include "record/target/sites.h"

/* A protection's function is timed in at most this many places where it is inlined. --range can choose among more places. */
#define RECORD_PROTECTION_PLACES 32

/* ---- functions of protections ---- */

struct expansion {
	const struct record_kernel *kernel;
	struct record_names *functions, *inlined;
	const struct kernel_index *index; /* index of the kernel's image; NULL: none */
	uint32_t version;
	bool can_probe, can_enter; /* functions can be probed; inlined functions can be probed */
	uint32_t added; /* number of functions added for the current protection */
};

/* Set *ARG, a bool, to true if the function SYM can be timed, by a mechanism MECH. */
static void note_mechanism(const struct kernel_sym *sym, enum profile_mechanism mech,
			   const char *why, void *arg)
{
	bool *timed = arg;

	(void)sym;
	(void)why;
	if (mech != PROFILE_UNTIMED)
		*timed = true;
}

static bool is_function(struct expansion *e, const char *name)
{
	bool timed = false;

	if (e->can_probe)
		record_sites_list(e->kernel, name, note_mechanism, &timed);
	return timed;
}

static int count_body(const struct kernel_body *body, void *arg)
{
	uint32_t *n = arg;

	(void)body;
	return ++*n > RECORD_PROTECTION_PLACES ? -E2BIG : 0;
}

/* Return the number of inlined calls of NAME, some of which may prove impossible to time; -E2BIG, reported: too many. */
static int count_bodies(struct expansion *e, const char *name)
{
	uint32_t n = 0;
	int err;

	if (!e->can_enter || !e->index)
		return 0;
	err = kernel_index_bodies_each(e->index, name, count_body, &n, NULL);
	if (err == -E2BIG)
		log_note("'%s' is inlined in more than %d places, too many to time; "
			 "--range=%s@FUNC times those in FUNC",
			 name, RECORD_PROTECTION_PLACES, name);
	return err ? err : (int)n;
}

/* Add FUNCTION to the functions or to the inlined functions, depending on what it is in this kernel. */
static void expand_function(struct expansion *e, const struct catalogue_function *function)
{
	int bodies = 0;

	if (function->code > CATALOGUE_INLINE || !catalogue_span_has(function->span, e->version))
		return;
	if (is_function(e, function->name))
		record_names_add(e->functions, function->name);
	else if ((bodies = count_bodies(e, function->name)) > 0)
		record_names_add(e->inlined, function->name);
	else {
		if (bodies != -E2BIG)
			log_verbose(
				1,
				"'%s' is not timed: neither a function nor inlined in this kernel",
				function->name);
		return;
	}
	e->added++;
}

static void note_state(const struct catalogue_protection *protection, struct profile *p)
{
	scoped_free char *how, *key, *value;
	enum catalogue_state state = catalogue_state(protection, p, true, &how);

	key = alloc_printf(PROFILE_ENV_PROTECTION "%s", protection->name);
	value = alloc_printf("%s: %s", catalogue_state_name(state), how);
	profile_env_set(p, key, value);
	if (state != CATALOGUE_ON)
		log_note("%s is %s on this kernel: %s", protection->name,
			 catalogue_state_name(state), how);
}

static void expand_protection(struct expansion *e, const struct catalogue_protection *protection)
{
	const struct catalogue_function *function = protection->functions;

	e->added = 0;
	for (; function && function->name; function++)
		expand_function(e, function);
	if (!e->added)
		log_note(
			"%s: none of its functions can be timed on this kernel; %s",
			protection->name,
			protection->in_syscall == CATALOGUE_NO ?
				"its cost shows in the workload's own time only" :
				"its cost shows in system calls, samples and the workload's own time");
}

/*
 * Add the functions of the N PROTECTIONS to FUNCTIONS and INLINED, except functions that this kernel lacks or cannot time. Print a
 * note for each protection without any function that can be timed. Write each protection's state into P's environment, which must
 * have been read. Return 0 or -errno, reported. The names belong to the catalogue.
 */
static int expand_protections(const struct record_kernel *kernel,
			      const struct catalogue_protection *const *protections, uint32_t n,
			      struct profile *p, struct record_names *functions,
			      struct record_names *inlined)
{
	struct expansion e = {
		.kernel = kernel,
		.functions = functions,
		.inlined = inlined,
		.version = catalogue_linux(p),
		.can_probe = !kernel->features->fentry || !kernel->features->kprobe,
		.can_enter = !kernel->features->kprobe,
	};
	int err = 0;

	if (!n)
		return 0;
	if (e.can_probe)
		err = record_symbols_load_functions(kernel->symbols);
	if (!err && e.can_enter)
		err = record_symbols_index(kernel->symbols, &e.index);
	for (uint32_t i = 0; !err && i < n; i++) {
		note_state(protections[i], p);
		expand_protection(&e, protections[i]);
	}
	return err;
}

#define COARSE_STEP_NS 10000 /* longer steps of the clock hide a function's time */

static void note_if_coarse(struct profile *p)
{
	uint64_t step = clock_step_ns(clock_ns);
	char text[24];

	if (step <= COARSE_STEP_NS)
		return;
	snprintf(text, sizeof(text), "%" PRIu64, step);
	profile_env_set(p, PROFILE_ENV_CLOCK_STEP, text);
	log_warn("this kernel's clock (%s) advances in steps of %.1f ms, and so do all times and "
		 "probe costs: boot with another clock (dmesg | grep -i tsc shows why this one is "
		 "used)",
		 profile_env_get(p, PROFILE_ENV_CLOCKSOURCE) ?: "unknown", (double)step / 1e6);
}

/* Resolve the expressions of values to capture. First give functions that capture values a mechanism that is able to capture. */
static int resolve_captures(struct record_plan *plan, const struct record_options *o)
{
	const struct record_capture_wanted wanted = {
		.expressions = &o->captures,
		.automatic = o->context,
		.sites = &plan->sites,
		.symbols = &plan->symbols,
	};

	if (o->context || o->captures.n_items)
		record_sites_prefer_kprobe(&plan->sites, &plan->kernel,
					   record_attach_mechanism(o->attach));
	return record_captures_resolve(&plan->captures, &wanted);
}

int record_plan_make(struct record_plan *plan, const struct record_options *o, struct profile *p)
{
	const struct record_kernel *kernel = &plan->kernel;
	struct kernel_btf *btf;
	int err, one;

	plan->kernel = (struct record_kernel){ &plan->symbols, &plan->features };
	record_features_begin(&plan->features, &btf);
	plan->symbols.btf = btf;
	err = record_features_check(&plan->features);
	err = err ?: record_symbols_init(&plan->symbols, o->vmlinux, btf);
	if (err)
		return err;
	record_environment_read(p, &plan->symbols);
	note_if_coarse(p);
	record_features_await(&plan->features);
	record_names_add_all(&plan->functions, &o->functions);
	record_names_add_all(&plan->inlined, &o->ranges);
	err = expand_protections(kernel, o->protections, o->n_protections, p, &plan->functions,
				 &plan->inlined);
	err = err ?: record_blocks_resolve(&plan->blocks, kernel, &o->blocks);
	if (err)
		return err;
	record_names_add_all(&plan->functions, &o->blocks);
	err = record_sites_find(&plan->sites, &plan->symbols, &plan->functions, &plan->inlined);
	/* Go on after an error: the user should see the errors of all names at once. */
	one = record_sites_choose(&plan->sites, kernel, record_attach_mechanism(o->attach));
	err = err ?: one;
	if (err)
		return err;
	record_sites_limit_fentry(&plan->sites, kernel, record_attach_mechanism(o->attach));
	err = record_ranges_resolve(&plan->ranges, kernel, &plan->inlined, plan->sites.n_items + 1);
	err = err ?: resolve_captures(plan, o);
	if (err)
		return err;
	record_sites_store(&plan->sites, &plan->symbols, p);
	record_ranges_store(&plan->ranges, p);
	record_captures_store(&plan->captures, p);
	record_blocks_store(&plan->blocks, &plan->sites, p);
	return 0;
}

void record_plan_deinit(struct record_plan *plan)
{
	record_captures_deinit(&plan->captures);
	record_ranges_deinit(&plan->ranges);
	record_blocks_deinit(&plan->blocks);
	record_sites_deinit(&plan->sites);
	record_names_deinit(&plan->functions);
	record_names_deinit(&plan->inlined);
	record_symbols_deinit(&plan->symbols);
}

size_t record_plan_memory(const struct record_plan *plan)
{
	const struct record_machine machine = {
		.n_cpus = libbpf_num_possible_cpus(),
		.btf = plan->symbols.btf ? kernel_btf_raw(plan->symbols.btf) : NULL,
	};
	size_t sum = record_point_memory(plan->ranges.n_points + plan->blocks.n_points);
	uint32_t n[PROFILE_N_MECHANISMS] = { 0 };

	vec_each(const struct record_site, site, &plan->sites, items)
		n[site->mech]++;
	for (int mech = 0; mech < PROFILE_N_MECHANISMS; mech++)
		sum += record_probe_memory(&machine, mech, n[mech]);
	return sum;
}
