// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/plan.h"

#include <bpf/libbpf.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/system/clock.h"
#include "base/log.h"
#include "record/collect/environment.h"
#include "record/probe/choose.h"
#include "record/probe/memory.h"
#include "record/probe/probes.h"
#include "record/probe/point.h"
#include "record/protection.h"

#define COARSE_STEP_NS 10000 /* a function's time */

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

/* Resolve captures; their functions are timed by a mechanism that can capture. */
static int resolve_captures(struct record_plan *plan, const struct record_options *o)
{
	const struct record_capture_wanted wanted = {
		.expressions = &o->captures,
		.automatic = o->context,
		.sites = &plan->sites,
		.blocks = &plan->blocks,
		.ranges = &plan->ranges,
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
	err = record_protections_expand(kernel, o->protections, o->n_protections, p,
					&plan->functions, &plan->inlined);
	err = err ?: record_blocks_resolve(&plan->blocks, kernel, &o->blocks);
	if (err)
		return err;
	record_names_add_all(&plan->functions, &o->blocks);
	err = record_sites_find(&plan->sites, &plan->symbols, &plan->functions, &plan->inlined);
	/* The errors of all names are reported. */
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
