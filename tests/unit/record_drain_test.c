// SPDX-License-Identifier: GPL-2.0-or-later
/* The kernel's counts into the profile's: what is added up is not cut off. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* Its parts are static: the rest of it wants a kernel. */
#include "record/drain.c"

/* Two calls of 50 ticks each, 5 of them the site's own probes'. */
static void fill(struct engine_cell *c, uint64_t cost, uint64_t child)
{
	memset(c, 0, sizeof(*c));
	c->calls = 2;
	c->wall = 1100;
	c->offcpu = 1000;
	c->aside = c->offcpu + cost;
	c->child = child;
	c->max = 45;
	c->min_inv = ~(uint64_t)45;
	c->hist[hist_slot(45)] = 2;
}

static void test_times(void **state)
{
	struct engine_cell c;
	struct profile_stats s;

	(void)state;
	fill(&c, 20, 30);
	profile_stats_init(&s);
	shard_add(&s, &c, 5);
	assert_int_equal(s.calls, 2);
	assert_int_equal(s.wall, 1100);
	assert_int_equal(s.oncpu, 100);
	assert_int_equal(s.cost, 20 + 2 * 5);
	assert_true(s.self == 100 - 30 - 30);
	assert_true(s.min == 45 && s.max == 45 && s.n_buckets == 1);
	profile_stats_deinit(&s);
}

/* Where more is thought to have been spent on probes than there was, the sums say so. */
static void test_below_zero(void **state)
{
	struct engine_cell c;
	struct profile_stats s;

	(void)state;
	profile_stats_init(&s);
	fill(&c, 50, 80);
	shard_add(&s, &c, 5);
	assert_true(s.self == 100 - 60 - 80);
	/* Another CPU's part makes up for some of it. */
	fill(&c, 0, 0);
	shard_add(&s, &c, 5);
	assert_true(s.self == -40 + 90);
	fill(&c, 500, 0);
	shard_add(&s, &c, 5);
	assert_true(s.self == 50 - 410);
	assert_int_equal(s.oncpu, 300);
	assert_int_equal(s.cost, 60 + 10 + 510);
	profile_stats_deinit(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_times),
		cmocka_unit_test(test_below_zero),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
