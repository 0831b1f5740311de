// SPDX-License-Identifier: GPL-2.0-or-later
/* --max-overhead: choose the probes to detach. */
#include "test.h"
#include "record/cost/overhead.h"

#define ONCPU 1000000.0

TEST(little_enough_stays)
{
	struct record_overhead_probe probes[] = {
		{ .site = 1, .full = 300, .calls = 10 },
		{ .site = 2, .full = 300, .calls = 90 },
	};
	double cost;

	assert_int_equal(record_overhead_choose(probes, 2, 3, ONCPU, &cost), 0);
	assert_true(cost == 30000);
	/* The most expensive one is still first. */
	assert_int_equal(probes[0].site, 2);
	assert_int_equal(probes[0].cost, 27000);
}

TEST(the_busiest_goes)
{
	struct record_overhead_probe probes[] = {
		{ .site = 1, .full = 300, .calls = 10 },
		{ .site = 2, .full = 300, .calls = 91 },
	};
	double cost;

	assert_int_equal(record_overhead_choose(probes, 2, 3, ONCPU, &cost), 1);
	assert_int_equal(probes[0].site, 2);
	assert_int_equal(probes[1].site, 1);
}

/* Only calls since the last look count, times the cost of each. */
TEST(only_calls_since_the_last_look_count)
{
	struct record_overhead_probe probes[] = {
		{ .site = 1, .full = 300, .calls = 100000, .before = 99990 },
		{ .site = 2, .full = 1200, .calls = 200, .before = 100 },
		{ .site = 3, .full = 300, .calls = 200, .before = 0 },
	};
	double cost;

	assert_int_equal(record_overhead_choose(probes, 3, 10, ONCPU, &cost), 1);
	assert_true(cost == 3000 + 120000 + 60000);
	assert_int_equal(probes[0].site, 2);
	assert_int_equal(probes[1].site, 3);
	assert_int_equal(probes[2].site, 1);
}

/*
 * Detached probes take no time: with 600,000 of 1,000,000 in probes and the first 500,000 gone, 100,000 of 500,000 remain, 20
 * %.
 */
TEST(what_goes_takes_no_time_any_more)
{
	struct record_overhead_probe probes[] = {
		{ .site = 1, .full = 100, .calls = 5000 },
		{ .site = 2, .full = 100, .calls = 600 },
		{ .site = 3, .full = 100, .calls = 400 },
	};
	double cost;

	assert_int_equal(record_overhead_choose(probes, 3, 20, ONCPU, &cost), 1);
	assert_int_equal(record_overhead_choose(probes, 3, 19, ONCPU, &cost), 2);
	/* 40,000 of 440,000 */
	assert_int_equal(record_overhead_choose(probes, 3, 9.0, ONCPU, &cost), 3);
	assert_int_equal(record_overhead_choose(probes, 3, 9.2, ONCPU, &cost), 2);
}

/* A function that is not called costs nothing. */
TEST(what_is_not_called_stays)
{
	struct record_overhead_probe probes[] = {
		{ .site = 1, .full = 300, .calls = 7, .before = 7 },
		{ .site = 2, .full = 300, .calls = 5000 },
		{ .site = 3, .full = 300 },
	};
	double cost;

	assert_int_equal(record_overhead_choose(probes, 3, 0, ONCPU, &cost), 1);
	assert_int_equal(probes[0].site, 2);
	assert_int_equal(record_overhead_choose(probes, 0, 1, ONCPU, &cost), 0);
	assert_true(cost == 0);
}

static struct profile *profile_of(const enum profile_mechanism *mechs, uint32_t n)
{
	struct profile *p = profile_create();

	for (uint32_t i = 0; i < n; i++) {
		struct profile_site site = {
			.name = "f",
			.symbol = "f",
			.kind = PROFILE_SITE_FUNCTION,
			.mech = mechs[i],
			.addr = i,
		};

		profile_site_add(p, &site);
	}
	return p;
}

/* Detaching a part of a kprobe.multi link attaches the others again; an untouched link stays. */
TEST(others_of_a_link_are_attached_anew)
{
	static const enum profile_mechanism mechs[] = { PROFILE_MECH_FENTRY, PROFILE_MECH_MULTI,
							PROFILE_MECH_MULTI, PROFILE_MECH_KPROBE };
	struct record_overhead_probe probes[] = {
		{ .site = 2 },
		{ .site = 1 },
		{ .site = 3 },
		{ .site = 4 },
	};
	struct profile *p = profile_of(mechs, 4);
	uint32_t sites[4];

	assert_int_equal(record_overhead_sites(p, probes, 4, 1, sites), 1);
	assert_int_equal(sites[0], 2);
	assert_int_equal(sites[1], 3);
	assert_int_equal(record_overhead_sites(p, probes, 4, 3, sites), 0);
	assert_int_equal(sites[2], 3);
	probes[0].site = 4;
	probes[3].site = 2;
	assert_int_equal(record_overhead_sites(p, probes, 4, 2, sites), 0);
	assert_int_equal(sites[0], 4);
	assert_int_equal(sites[1], 1);
	profile_destroy(p);
}

RUN_TESTS(NULL, NULL)
