// SPDX-License-Identifier: GPL-2.0-or-later
/* Test the kernel's share of the command's CPU time. */
#include <math.h>

#include "test.h"
#include "analyze/diff/diff.h"
#include "fixture.h"

static const struct analyze_options oncpu;

/* Create two runs of CPU ticks each, with 10 page faults of FAULT ticks each and one wait4 of 500 ticks. */
static struct profile *work(uint64_t cpu, uint64_t fault)
{
	struct profile *p = profile_create();
	uint32_t i,
		faults = profile_context_add(p, profile_context_name(PROFILE_CONTEXT_PAGE_FAULT));
	uint32_t wait4 = profile_context_add(p, "wait4");

	for (i = 0; i < 2; i++) {
		fixture_run(p, 2 * cpu);
		p->runs[i].cpu = cpu;
		fixture_calls(profile_cell(p, i, 0, faults), 10, fault, fault);
		fixture_calls(profile_cell(p, i, 0, wait4), 1, 500, 500);
	}
	return p;
}

static struct analyze_kernel_share share_of(const struct profile *p)
{
	struct analyze_kernel_share s;
	struct analyze_workload w;
	struct analyze_table t;

	analyze_table_init(&t, p, &oncpu);
	analyze_workload_init(&w, p, false);
	s = analyze_kernel_share_of(p, &t, &w);
	analyze_workload_deinit(&w);
	analyze_table_deinit(&t);
	return s;
}

TEST(test_share)
{
	struct profile *p = work(10000, 200);
	struct analyze_kernel_share s = share_of(p);
	uint32_t control;

	assert_true(s.kernel == 2500 && s.command == 10000 && s.share == 0.25);
	/* The command's CPU time is that of unprobed runs. */
	control = profile_run_add(p, PROFILE_RUN_CONTROL);
	p->runs[control].cpu = 5000;
	s = share_of(p);
	assert_true(s.command == 5000 && s.share == 0.5);
	/* Unprobed runs may take slightly less CPU time than the syscalls of the probed runs. */
	p->runs[control].cpu = 2480;
	assert_true(share_of(p).command == 2480);
	/* The share is unknown if syscalls take clearly more than the command, if all tasks were recorded, or without CPU time. */
	p->runs[control].cpu = 2000;
	assert_true(isnan(share_of(p).share) && isnan(share_of(p).command));
	p->runs[control].cpu = 5000;
	profile_env_set(p, PROFILE_ENV_TASKS, "all");
	assert_true(isnan(share_of(p).share));
	profile_destroy(p);
	p = work(PROFILE_NOT_COUNTED, 200);
	assert_true(isnan(share_of(p).share));
	profile_destroy(p);
	p = profile_create();
	assert_true(isnan(share_of(p).share));
	profile_destroy(p);
}

TEST(test_diff)
{
	struct profile *a = work(10000, 200), *b = work(10350, 235);
	struct analyze_diff d;

	assert_int_equal(analyze_diff_init(&d, a, b, &oncpu), 0);
	assert_true(d.kernel[0].share == 0.25 && d.kernel[1].command == 10350);
	analyze_diff_deinit(&d);
	profile_destroy(a);
	profile_destroy(b);
}

RUN_TESTS(NULL, NULL)
