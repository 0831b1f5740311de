/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Profiles for tests, built in memory. The functions are static and may be unused, because each test is one file linked with the
 * library.
 */
#pragma once

#include <math.h>

#include "kprotperf/hist.h"
#include "profile/profile.h"

#define fixture_fn static __attribute__((unused))

/* Add a call of TIME ticks, both on-CPU and wall-clock. */
fixture_fn void fixture_call(struct profile_stats *s, uint64_t time)
{
	struct profile_stats one = {
		.calls = 1,
		.entries = PROFILE_NOT_COUNTED,
		.errors = PROFILE_NOT_COUNTED,
		.wall = time,
		.oncpu = time,
		.self = time,
		.sumsq = (double)time * (double)time,
		.min = time,
		.max = time,
	};

	profile_stats_bucket_add(&one, hist_slot(time), 1);
	profile_stats_merge(s, &one);
	profile_stats_deinit(&one);
}

/* Add CALLS calls, with times that rise evenly from LOW to HIGH. */
fixture_fn void fixture_calls(struct profile_stats *s, uint32_t calls, uint64_t low, uint64_t high)
{
	uint32_t i;

	for (i = 0; i < calls; i++)
		fixture_call(s, calls > 1 ? low + (high - low) * i / (calls - 1) : low);
}

fixture_fn uint32_t fixture_function(struct profile *p, const char *name, uint64_t addr)
{
	return profile_site_add(p, &(struct profile_site){
					   .name = name,
					   .symbol = name,
					   .kind = PROFILE_SITE_FUNCTION,
					   .mech = PROFILE_MECH_FENTRY,
					   .addr = addr,
				   });
}

/* Add NAME, inlined into INTO at mm/slub.c:LINE, through the inlined functions CHAIN (or NULL). Return its number (site). */
fixture_fn uint32_t fixture_range(struct profile *p, const char *name, const char *chain,
				  const char *into, uint32_t line)
{
	return profile_site_add(p, &(struct profile_site){
					   .name = name,
					   .symbol = into,
					   .into = into,
					   .chain = chain,
					   .kind = PROFILE_SITE_RANGE,
					   .mech = PROFILE_MECH_KPROBE_OPTIMIZED,
					   .addr = 0x2a5000 + line,
					   .file = "mm/slub.c",
					   .line = line,
				   });
}

/*
 * Add CALLS calls of an inlined function to S. Control enters its code ENTRIES times, with times that rise evenly from LOW to
 * HIGH.
 */
fixture_fn void fixture_entries(struct profile_stats *s, uint32_t calls, uint32_t entries,
				uint64_t low, uint64_t high)
{
	struct profile_stats range;

	profile_stats_init(&range);
	fixture_calls(&range, entries, low, high);
	range.entries = range.calls;
	range.calls = calls;
	profile_stats_merge(s, &range);
	profile_stats_deinit(&range);
}

/* Set the costs of fentry probes, and of probes of syscalls and page faults, as record does after calibration. */
fixture_fn void fixture_calibrated(struct profile *p)
{
	profile_cost_set(p, PROFILE_MECH_TRACEPOINT, PROFILE_COST_INNER, 41, 0);
	profile_cost_set(p, PROFILE_MECH_TRACEPOINT, PROFILE_COST_FULL, 0, 0);
	profile_cost_set(p, PROFILE_MECH_FENTRY, PROFILE_COST_INNER, 98, 1);
	profile_cost_set(p, PROFILE_MECH_FENTRY, PROFILE_COST_FULL, 332, 2);
	profile_env_set(p, PROFILE_ENV_PAGE_FAULTS, "fentry");
}

/* Remove the costs of probes of MECH. */
fixture_fn void fixture_forget_cost(struct profile *p, enum profile_mechanism mech)
{
	for (uint32_t i = p->n_costs; i-- > 0;)
		if (p->costs[i].mech == mech)
			p->costs[i] = p->costs[--p->n_costs];
}

/* Add a run in which all losses were counted and are 0. Its number of entries was not counted. Return its index. */
fixture_fn uint32_t fixture_run(struct profile *p, uint64_t wall)
{
	uint32_t run = profile_run_add(p, PROFILE_RUN_PROBED);
	int i;

	for (i = 0; i < PROFILE_N_LOSSES; i++)
		p->runs[run].losses[i] = i == PROFILE_INFO_ENTRIES ? PROFILE_NOT_COUNTED : 0;
	p->runs[run].wall = wall;
	return run;
}

/* Return the location of ADDR, with NAME as its only frame. */
fixture_fn uint32_t fixture_location(struct profile *p, uint64_t addr, const char *name)
{
	uint32_t location = profile_location_add(p, addr, NULL);

	if (!p->locations[location].n_frames)
		profile_location_frame_add(p, location, &(struct profile_frame){ .name = name });
	return location;
}

/*
 * Create a recording of big-fork on one of the lab's kernels: RUNS runs with clone, wait4, and allocate_slab inside clone. Stacks
 * have shuffle_freelist inlined into allocate_slab. SLAB_TIME: ticks per call of allocate_slab.
 */
fixture_fn struct profile *fixture_big_fork(uint32_t runs, uint64_t slab_time)
{
	struct profile *p = profile_create();
	uint32_t i, clone, wait4, none, slab, stack, user, locations[4];

	p->clock = PROFILE_CLOCK_INSN;
	p->freq = 997;
	p->sample_period = 1003009;
	profile_arg_add(p, "build/workloads/big-fork");
	profile_arg_add(p, "--iterations=20");
	profile_env_set(p, PROFILE_ENV_RELEASE, "6.1.192");
	profile_env_set(p, PROFILE_ENV_BUILD_ID, "6f1c0ffee0ddba11deadbeef0123456789abcdef");
	profile_env_set(p, PROFILE_ENV_CMDLINE, "console=ttyS0 quiet kprotperf.clock=icount");
	profile_env_set(p, PROFILE_ENV_CONFIG, "CONFIG_SLUB=y\nCONFIG_KPROBES=y\n");
	profile_env_set(p, PROFILE_ENV_ARCH, "x86_64");
	profile_env_set(p, PROFILE_ENV_CPUS, "1");
	profile_env_set(p, PROFILE_ENV_TIME, "2026-01-01T00:00:10Z");
	fixture_calibrated(p);

	clone = profile_context_add(p, "clone");
	wait4 = profile_context_add(p, "wait4");
	none = profile_context_add(p, profile_context_name(PROFILE_CONTEXT_NONE));
	slab = fixture_function(p, "allocate_slab", 0x2a5d10);
	p->sites[slab].file = profile_intern(p, "mm/slub.c");
	p->sites[slab].line = 1945;

	locations[0] = profile_location_add(p, 0x2a5e4c, NULL);
	profile_location_frame_add(p, locations[0],
				   &(struct profile_frame){ .name = "shuffle_freelist",
							    .file = "mm/slub.c",
							    .line = 1889,
							    .inlined = true });
	profile_location_frame_add(p, locations[0],
				   &(struct profile_frame){ .name = "allocate_slab",
							    .file = "mm/slub.c",
							    .line = 1978 });
	locations[1] = fixture_location(p, 0x2a8001, "kmem_cache_alloc");
	locations[2] = fixture_location(p, 0x08b0f2, "copy_process");
	locations[3] = fixture_location(p, 0x08c1d7, "kernel_clone");
	stack = profile_stack_add(p, locations, 4);
	user = profile_stack_add(p, NULL, 0);

	for (i = 0; i < runs; i++) {
		uint32_t run = fixture_run(p, 320000000 + 1000 * i);
		struct profile_stats *s;

		p->runs[run].samples_expected = 320;
		p->runs[run].samples_received = 320;
		profile_report_add(p, run,
				   &(struct profile_report){ .name = "big-fork",
							     .iterations = 20,
							     .mean = 11.8e6 + i,
							     .p50 = 11.8e6,
							     .min = 11.7e6 });
		s = profile_cell(p, run, 0, clone);
		s->errors = 0;
		fixture_calls(s, 20, 11000000 + 230 * slab_time + i, 11200000 + 230 * slab_time);
		s = profile_cell(p, run, 0, wait4);
		s->errors = 1;
		fixture_calls(s, 20, 1500, 40000);
		fixture_calls(profile_cell(p, run, slab, clone), 2200, slab_time,
			      slab_time + slab_time / 8);
		profile_sample_add(
			p, &(struct profile_sample){
				   .run = run, .context = clone, .stack = stack, .count = 7 });
		profile_edge_add(
			p, &(struct profile_edge){
				   .run = run, .context = clone, .stack = stack, .calls = 5 });
		profile_sample_add(p, &(struct profile_sample){ .run = run,
								.context = none,
								.stack = user,
								.flags = PROFILE_SAMPLE_USER,
								.count = 3 });
	}
	return p;
}
