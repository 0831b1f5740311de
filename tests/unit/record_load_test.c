// SPDX-License-Identifier: GPL-2.0-or-later
/* Measure other load, temperatures and frequencies of CPUs, from a folder like the kernel's. */
#include <linux/perf_event.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "test.h"
#include "base/alloc.h"
#include "record/collect/environment.h"

#define MSR  "sys/bus/event_source/devices/msr"
#define HEAT "sys/devices/system/cpu/cpu0/thermal_throttle"

static char root[] = "/tmp/kprotperf-load-XXXXXX";

static void put(const char *name, const char *text)
{
	scoped_free char *command = alloc_printf(
		"mkdir -p $(dirname '%s/%s') && echo '%s' > '%s/%s'", root, name, text, root, name);

	assert_int_equal(system(command), 0);
}

/* Return the profile of a run between two states of the folder. */
static struct profile *run_between(void (*before)(void), void (*after)(void))
{
	struct profile *p = profile_create();
	struct record_meters *m;

	profile_run_add(p, PROFILE_RUN_PROBED);
	before();
	m = record_meters_create(root);
	record_meters_begin(m);
	after();
	record_meters_store(m, p, 0);
	record_meters_destroy(m);
	return p;
}

static void nothing(void)
{
}

TEST(test_not_there)
{
	static const enum profile_loss kinds[] = { PROFILE_INFO_WAITED, PROFILE_INFO_STOLEN,
						   PROFILE_INFO_THROTTLED, PROFILE_INFO_APERF,
						   PROFILE_INFO_MPERF };
	struct profile *p = run_between(nothing, nothing);

	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		assert_true(p->runs[0].losses[kinds[i]] == PROFILE_NOT_COUNTED);
	profile_destroy(p);
}

static void cool(void)
{
	put("proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=100");
	put("proc/stat", "cpu  1 2 3 4 5 6 7 10 0 0");
	put(HEAT "/core_throttle_count", "5");
	put(HEAT "/package_throttle_count", "7");
}

static void hot(void)
{
	put("proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=350");
	put("proc/stat", "cpu  1 2 3 4 5 6 7 13 0 0");
	put(HEAT "/core_throttle_count", "6");
	put(HEAT "/package_throttle_count", "9");
}

TEST(test_heat)
{
	struct profile *p = run_between(cool, hot);

	assert_int_equal(p->runs[0].losses[PROFILE_INFO_WAITED], 250000);
	assert_int_equal(p->runs[0].losses[PROFILE_INFO_STOLEN],
			 3 * (1000000000 / sysconf(_SC_CLK_TCK)));
	assert_int_equal(p->runs[0].losses[PROFILE_INFO_THROTTLED], 3);
	profile_destroy(p);
}

/* Use a clock of each CPU, and page faults, instead of a processor's counters, which few virtual machines have. */
static void clocks(void)
{
	put(MSR "/type", "1");
	put(MSR "/events/aperf", "event=0x00");
	put(MSR "/events/mperf", "event=0x02");
}

static void fault(void)
{
	for (int i = 0; i < 100; i++) {
		char *page = aligned_alloc(1 << 20, 1 << 20);

		*(volatile char *)page = 1;
		free(page);
	}
}

TEST(test_frequency)
{
	struct perf_event_attr attr = { .size = sizeof(attr), .type = PERF_TYPE_SOFTWARE };
	int fd = syscall(SYS_perf_event_open, &attr, -1, 0, -1, 0);
	struct profile *p;

	if (fd < 0)
		skip(); /* needs the right to count a CPU's events */
	close(fd);
	p = run_between(clocks, fault);
	assert_true(p->runs[0].losses[PROFILE_INFO_APERF] != PROFILE_NOT_COUNTED);
	assert_true(p->runs[0].losses[PROFILE_INFO_APERF] > 0);
	assert_true(p->runs[0].losses[PROFILE_INFO_MPERF] != PROFILE_NOT_COUNTED);
	assert_true(p->runs[0].losses[PROFILE_INFO_MPERF] > 0);
	profile_destroy(p);
}

static int make_root(void **state)
{
	(void)state;
	return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state)
{
	scoped_free char *command = alloc_printf("rm -r '%s'", root);

	(void)state;
	return system(command);
}

RUN_TESTS(make_root, remove_root)
