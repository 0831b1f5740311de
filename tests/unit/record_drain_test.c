// SPDX-License-Identifier: GPL-2.0-or-later
/* Add the BPF programs' counts to the profile. Sums below 0 are not clamped. */

/* drain.c is included because its functions with external linkage need a kernel. */
#include "test.h"
#include "record/collect/drain.c"

/* Fill C with two calls of 50 ticks each on the CPU. COST: ticks of excluded probes; CHILD: ticks in timed callees. */
static void fill(struct engine_cell *c, uint64_t cost, uint64_t child)
{
	memset(c, 0, sizeof(*c));
	c->calls = 2;
	c->wall = 1100;
	c->offcpu = 1000;
	c->excluded = c->offcpu + cost;
	c->child = child;
	c->max = 45;
	c->min_inv = ~(uint64_t)45;
	c->hist[hist_slot(45)] = 2;
}

TEST(times_are_less_probe_cost)
{
	struct engine_cell c;
	struct profile_stats s;

	fill(&c, 20, 30);
	profile_stats_init(&s);
	shard_add(&s, &c, 5, 0, false);
	assert_int_equal(s.calls, 2);
	assert_int_equal(s.wall, 1100);
	assert_int_equal(s.oncpu, 100);
	assert_int_equal(s.cost, 20 + 2 * 5);
	assert_true(s.self == 100 - 30 - 30);
	assert_true(s.min == 45 && s.max == 45 && s.n_buckets == 1);
	profile_stats_deinit(&s);
}

/* A sum is negative if the estimated cost of probes exceeds the time. */
TEST(sums_may_be_below_zero)
{
	struct engine_cell c;
	struct profile_stats s;

	profile_stats_init(&s);
	fill(&c, 50, 80);
	shard_add(&s, &c, 5, 0, false);
	assert_true(s.self == 100 - 60 - 80);
	/* The positive sum of another CPU's counters (shard) is added. */
	fill(&c, 0, 0);
	shard_add(&s, &c, 5, 0, false);
	assert_true(s.self == -40 + 90);
	fill(&c, 500, 0);
	shard_add(&s, &c, 5, 0, false);
	assert_true(s.self == 50 - 410);
	assert_int_equal(s.oncpu, 300);
	assert_int_equal(s.cost, 60 + 10 + 510);
	profile_stats_deinit(&s);
}

/* A probe cost besides that of the programs is subtracted from each call, also in the distribution. */
TEST(extra_probe_cost_is_subtracted_from_each_call)
{
	struct engine_cell c;
	struct profile_stats s;

	fill(&c, 20, 0);
	/* Two calls of 35 net: 100 on the CPU, less 20, less 2 x 5. */
	c.sq_lo = 34 * 34 + 36 * 36;
	c.max = 36;
	c.min_inv = ~(uint64_t)34;
	memset(c.hist, 0, sizeof(c.hist));
	c.hist[hist_slot(34)] = 1;
	c.hist[hist_slot(36)] = 1;
	profile_stats_init(&s);
	shard_add(&s, &c, 5, 10, false);
	assert_int_equal(s.cost, 20 + 2 * 5 + 2 * 10);
	assert_true(s.self == 70 - 20 && s.oncpu == 100);
	assert_true(s.min == 24 && s.max == 26 && s.sumsq == 24 * 24 + 26 * 26);
	assert_true(s.n_buckets == 2 && s.buckets[0].slot == hist_slot(25) &&
		    s.buckets[1].slot == hist_slot(27));
	profile_stats_deinit(&s);
	/* A call's time is at least 0. */
	profile_stats_init(&s);
	shard_add(&s, &c, 5, 100, false);
	assert_true(s.self == 70 - 200 && s.min == 0 && s.max == 0 && s.n_buckets == 1 &&
		    s.buckets[0].slot == 0 && s.buckets[0].count == 2);
	profile_stats_deinit(&s);
}

RUN_TESTS(NULL, NULL)
