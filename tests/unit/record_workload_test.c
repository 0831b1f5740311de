// SPDX-License-Identifier: GPL-2.0-or-later
/* What record does without BPF: finding and running a command, hearing it, naming contexts. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include <linux/types.h>

#include "kprotperf/engine.h"
#include "profile/profile.h"
#include "record/collect/syscalls.h"
#include "record/workload.h"

static const struct record_workload_hooks none;

/* Runs SCRIPT in a shell as the profile's run 0. */
static struct profile *run_script(const char *script)
{
	char *const argv[] = { "sh", "-c", (char *)script, NULL };
	struct profile *p = profile_create();
	uint32_t run = profile_run_add(p, PROFILE_RUN_CONTROL);

	assert_int_equal(record_workload_run(p, run, "/bin/sh", argv, &none), 0);
	return p;
}

static void finds_programs(void **state)
{
	char *path;

	(void)state;
	assert_int_equal(record_workload_find("sh", &path), 0);
	assert_int_equal(access(path, X_OK), 0);
	free(path);
	assert_int_equal(record_workload_find("/bin/sh", &path), 0);
	assert_string_equal(path, "/bin/sh");
	free(path);
	assert_int_equal(record_workload_find("/no/such/program", &path), WORKLOAD_NOT_FOUND);
	assert_int_equal(record_workload_find("no-such-program", &path), WORKLOAD_NOT_FOUND);
	assert_int_equal(record_workload_find("", &path), WORKLOAD_NOT_FOUND);
	assert_int_equal(record_workload_find("/etc/passwd", &path), WORKLOAD_NOT_EXECUTABLE);
	assert_int_equal(record_workload_find("/etc", &path), WORKLOAD_NOT_EXECUTABLE);
	assert_null(path);
}

static void passes_status_on(void **state)
{
	struct profile *p;

	(void)state;
	p = run_script("exit 3");
	assert_int_equal(p->runs[0].status, 3);
	profile_destroy(p);
	p = run_script("kill -SEGV $$");
	assert_int_equal(p->runs[0].status, 128 + 11);
	profile_destroy(p);
}

static void hears_reports(void **state)
{
	struct profile *p;

	(void)state;
	p = run_script(
		"echo 'a iterations=3 mean_ns=5.5 p50_ns=4 min_ns=1 other=x' >&$KPROTPERF_REPORT_FD;"
		"echo 'b iterations=7 mean_ns=9' >&$KPROTPERF_REPORT_FD;"
		"echo 'no figures at all' >&$KPROTPERF_REPORT_FD;"
		"echo >&$KPROTPERF_REPORT_FD");
	assert_int_equal(p->runs[0].n_reports, 2);
	assert_string_equal(p->runs[0].reports[0].name, "a");
	assert_int_equal(p->runs[0].reports[0].iterations, 3);
	assert_true(p->runs[0].reports[0].mean == 5.5);
	assert_true(p->runs[0].reports[0].p50 == 4);
	assert_true(p->runs[0].reports[0].min == 1);
	assert_true(isnan(p->runs[0].reports[1].p50));
	profile_destroy(p);
}

static void is_not_held_up_by_reports(void **state)
{
	struct profile *p;

	(void)state;
	/* More than a pipe would take. */
	p = run_script("yes 'a iterations=1 mean_ns=1' | head -n 20000 >&$KPROTPERF_REPORT_FD");
	assert_int_equal(p->runs[0].status, 0);
	assert_in_range(p->runs[0].n_reports, 1, 64);
	profile_destroy(p);
}

static int refuse(void *arg)
{
	(void)arg;
	return -1; /* EPERM */
}

static void says_when_it_cannot_start(void **state)
{
	static const struct record_workload_hooks refusing = { .prepare = refuse };
	char *const argv[] = { "x", NULL };
	struct profile *p = profile_create();
	uint32_t run = profile_run_add(p, PROFILE_RUN_CONTROL);

	(void)state;
	assert_int_equal(record_workload_run(p, run, "/no/such/program", argv, &none), -2);
	assert_int_equal(record_workload_run(p, run, "/bin/true", argv, &refusing), -1);
	profile_destroy(p);
}

static void count(void *arg)
{
	++*(int *)arg;
}

static void looks_while_it_waits(void **state)
{
	int looks = 0;
	const struct record_workload_hooks hooks = { .look = count, .look_ms = 20, .arg = &looks };
	char *const argv[] = { "sh", "-c", "sleep 0.5; exit 3", NULL };
	struct profile *p = profile_create();
	uint32_t run = profile_run_add(p, PROFILE_RUN_CONTROL);

	(void)state;
	assert_int_equal(record_workload_run(p, run, "/bin/sh", argv, &hooks), 0);
	assert_int_equal(p->runs[run].status, 3);
	/* 24 on an idle machine. */
	assert_in_range(looks, 2, 25);
	assert_true(p->runs[run].wall >= 500000000);
	profile_destroy(p);
}

static void check_name(uint32_t ctx, const char *expected)
{
	char *name = record_context_name(ctx);

	assert_string_equal(name, expected);
	free(name);
}

static void names_contexts(void **state)
{
	(void)state;
	check_name(56, "clone");
	check_name(435, "clone3");
	check_name(ENGINE_CTX_COMPAT + 120, "compat:clone");
	check_name(ENGINE_SYSCALLS - 1, "syscall_511");
	check_name(ENGINE_CTX_NONE, profile_context_name(PROFILE_CONTEXT_NONE));
	check_name(ENGINE_CTX_PAGE_FAULT, profile_context_name(PROFILE_CONTEXT_PAGE_FAULT));
	check_name(ENGINE_CTX_IRQ, profile_context_name(PROFILE_CONTEXT_IRQ));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_programs),
		cmocka_unit_test(passes_status_on),
		cmocka_unit_test(hears_reports),
		cmocka_unit_test(is_not_held_up_by_reports),
		cmocka_unit_test(says_when_it_cannot_start),
		cmocka_unit_test(looks_while_it_waits),
		cmocka_unit_test(names_contexts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
