// SPDX-License-Identifier: GPL-2.0-or-later
/* Names of events, compared with perf's documentation and perf_event_open(2). */
#include <linux/perf_event.h>

#include "test.h"
#include "record/engine/counters.h"

static void is(const char *name, uint32_t type, uint64_t config)
{
	struct record_event event;

	assert_true(record_event_find(name, &event));
	assert_string_equal(event.name, name);
	assert_int_equal(event.type, type);
	assert_int_equal(event.config, config);
}

TEST(names_are_those_of_perf)
{
	is("cycles", PERF_TYPE_HARDWARE, 0);
	is("instructions", PERF_TYPE_HARDWARE, 1);
	is("cache-misses", PERF_TYPE_HARDWARE, 3);
	is("branch-misses", PERF_TYPE_HARDWARE, 5);
	is("page-faults", PERF_TYPE_SOFTWARE, 2);
	is("context-switches", PERF_TYPE_SOFTWARE, 3);
	is("task-clock", PERF_TYPE_SOFTWARE, 1);
	is("cgroup-switches", PERF_TYPE_SOFTWARE, 11);
	is("stalled-cycles-backend", PERF_TYPE_HARDWARE, 8);
	is("idle-cycles-backend", PERF_TYPE_HARDWARE, 8);
	is("idle-cycles-frontend", PERF_TYPE_HARDWARE, 7);
	/* A cache event has the cache's number in the first byte, the access in the second, misses in the third. */
	is("dTLB-load-misses", PERF_TYPE_HW_CACHE, 3 | 0 << 8 | 1 << 16);
	is("L1-dcache-stores", PERF_TYPE_HW_CACHE, 0 | 1 << 8);
	is("LLC-prefetch-misses", PERF_TYPE_HW_CACHE, 2 | 2 << 8 | 1 << 16);
	is("r1a8", PERF_TYPE_RAW, 0x1a8);
}

TEST(unknown_names_are_refused)
{
	static const char *const names[] = {
		"",         "cycle",
		"r",        "rxyz",
		"r1a8:u",   "r11112222333344445",
		"dTLB-",    "dTLB-load-misses2",
		"L3-loads",
	};
	struct record_event event;

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		assert_false(record_event_find(names[i], &event));
}

TEST(instructions_are_known_on_each_clock)
{
	struct record_event event;

	assert_true(record_event_find("instructions", &event));
	assert_true(record_event_is_instructions(&event, false));
	assert_true(record_event_find("cpu-clock", &event));
	assert_true(record_event_is_instructions(&event, true));
	assert_false(record_event_is_instructions(&event, false));
	assert_true(record_event_find("branches", &event));
	assert_false(record_event_is_instructions(&event, true));
}

RUN_TESTS(NULL, NULL)
