// SPDX-License-Identifier: GPL-2.0-or-later
/* Get the cost of probes from readings without and with them. */
#include <errno.h>

#include "test.h"
#include "record/cost/cost.h"
#include "record/engine/engine.h"

/* Return a series of VALUE. In every tenth round an interrupt adds 5,000; every fourth round is longer by OFF. */
static struct record_series series_of(uint64_t value, uint64_t off)
{
	struct record_series s;

	for (uint32_t i = 0; i < RECORD_ROUNDS; i++)
		s.values[i] = value + (i % 10 == 5 ? 5000 : 0) + (i % 4 == 3 ? off : 0);
	return s;
}

static struct record_series constant(uint64_t value)
{
	return series_of(value, 0);
}

TEST(median_and_deviation)
{
	struct record_series s;

	for (uint32_t i = 0; i < RECORD_ROUNDS; i++)
		s.values[i] = (i * 37) % RECORD_ROUNDS; /* each number once */
	assert_int_equal(record_series_median(&s), RECORD_ROUNDS / 2);
	assert_int_equal(record_series_deviation(&s, RECORD_ROUNDS / 2), (RECORD_ROUNDS + 1) / 4);
	assert_int_equal(record_series_deviation(&s, 0), RECORD_ROUNDS / 2);
	s = constant(7);
	assert_int_equal(record_series_median(&s), 7);
	assert_int_equal(record_series_deviation(&s, 7), 0);
}

TEST(inner_and_full)
{
	struct record_series base = constant(1000), with = constant(1332), inner = constant(101);
	struct engine_cost cost = {};

	record_cost_solve(&cost, &base, &with, &inner, 3);
	assert_true(cost.known);
	assert_int_equal(cost.full, 332);
	assert_int_equal(cost.inner, 98);
	assert_int_equal(cost.full_spread, 0);
	assert_int_equal(cost.inner_spread, 0);
	assert_int_equal(cost.nested, 0);
}

/* The spread of a difference is the sum of both series' spreads. */
TEST(spreads_add_up)
{
	struct record_series base, with, inner = constant(100);
	struct engine_cost cost = {};

	for (uint32_t i = 0; i < RECORD_ROUNDS; i++) {
		base.values[i] = 1000 + (i % 3 - 1) * 4; /* 996, 1000, 1004 */
		with.values[i] = 2000 + (i % 3 - 1) * 6;
	}
	record_cost_solve(&cost, &base, &with, &inner, 0);
	assert_int_equal(cost.full, 1000);
	assert_int_equal(cost.full_spread, 4 + 6);
}

/* A coarse clock may give a negative difference. The cost is 0 then. */
TEST(no_cost_is_negative)
{
	struct record_series base = constant(1000), with = constant(990), inner = constant(2);
	struct engine_cost cost = {}, less = { .full = 1, .inner = 1 }, many = {};

	record_cost_solve(&cost, &base, &with, &inner, 3);
	assert_int_equal(cost.full, 0);
	assert_int_equal(cost.inner, 0);
	assert_true(cost.known);
	record_cost_solve_nested(&less, &many, 1);
	assert_int_equal(less.nested, 0);
}

TEST(arguments_are_passed_on_at_a_cost)
{
	struct engine_cost cost = { .full = 300, .inner = 100, .full_args = 20, .inner_args = 10 };

	assert_int_equal(record_cost_full(&cost, 1), 300);
	assert_int_equal(record_cost_full(&cost, 6), 320);
	assert_int_equal(record_cost_full(&cost, 4), 312);
	assert_int_equal(record_cost_inner(&cost, 4), 106);
	assert_int_equal(record_cost_full(&cost, 0), 296);
	cost = (struct engine_cost){ .full = 1, .full_args = 20 };
	assert_int_equal(record_cost_full(&cost, 0), 0);
}

TEST(nested_is_what_goes_beyond_a_call)
{
	struct engine_cost cost = { .full = 300, .full_args = 20 }, outer = { .full = 345 };

	record_cost_solve_nested(&cost, &outer, 4);
	assert_int_equal(cost.nested, 345 - 312);
}

/* Seven calls per round; one of them encloses the others. */
TEST(many_calls_share_what_they_take)
{
	uint64_t n = 7 * RECORD_ROUNDS;
	struct record_series base = constant(1000), with = constant(1000 + 7 * 400 + 30);
	struct engine_cost cost = { .nested = 30 };

	record_cost_solve_multi(&cost, &base, &with, n);
	assert_int_equal(cost.full, 400);
	assert_true(cost.known);
	/* Rounded: 2,803 / 7 = 400.43, 2,804 / 7 = 400.57 */
	with = constant(1000 + 2803 + 30);
	record_cost_solve_multi(&cost, &base, &with, n);
	assert_int_equal(cost.full, 400);
	with = constant(1000 + 2804 + 30);
	record_cost_solve_multi(&cost, &base, &with, n);
	assert_int_equal(cost.full, 401);
}

/* The trampoline costs 60, each handler 200, and the kernel's work for each return after all handlers 25. */
TEST(the_trampoline_is_shared)
{
	struct record_timed none = { 1000, 100 }, one = { 1000 + 60 + 200 + 25, 425 };
	struct record_timed two = { 1000 + 60 + 2 * (200 + 25), 450 };
	struct engine_cost cost = {};

	assert_int_equal(record_cost_solve_trampoline(&cost, &none, &one, &two), 0);
	assert_int_equal(cost.trampoline, 60);
	assert_int_equal(cost.after_handlers, 25);
}

TEST(a_coarse_clock_tells_nothing_of_it)
{
	struct record_timed none = { 1000, 100 }, one = { 1200, 425 }, two = { 1400, 425 };
	struct record_timed earlier = { 1300, 424 };
	struct engine_cost cost = {};

	assert_int_equal(record_cost_solve_trampoline(&cost, &none, &one, &two), -ERANGE);
	assert_int_equal(record_cost_solve_trampoline(&cost, &none, &one, &earlier), -ERANGE);
	assert_int_equal(cost.trampoline, 0);
	assert_int_equal(cost.after_handlers, 0);
}

TEST(interrupts_hit_probes_too)
{
	struct engine_cost cost = { .inner = 100, .full = 330, .nested = 50 };

	record_cost_add_interrupts(&cost, 0.01);
	assert_int_equal(cost.inner, 101);
	assert_int_equal(cost.full, 333);
	assert_int_equal(cost.nested, 50);
	record_cost_add_interrupts(&cost, 0);
	assert_int_equal(cost.full, 333);
}

TEST(errors_add_up)
{
	/* A workload's loop differs from calibration's by 4 % of 1,000. Spread of two calibrations: 1.4142 x 1.4826 x 30. */
	assert_int_equal(record_cost_error(0, 0, 1000, 1000, 1000), 40);
	assert_int_equal(record_cost_error(30, 0, 1000, 1000, 1000), 50);
	assert_int_equal(record_cost_error(0, 0, 1000, 1063, 1000), 51); /* 1,062.9 gives 50 */
	/* A fifth of the 150 that cold caches added is uncertain. */
	assert_int_equal(record_cost_error(0, 0, 1000, 1000, 1150), 50);
}

/* Each repeat's series is constant, but the series' medians differ. */
TEST(deviations_are_those_between_moments)
{
	const uint64_t medians[RECORD_REPEATS] = { 100, 130, 107, 90, 102 };
	struct record_series s = record_series_of(medians);

	assert_int_equal(record_series_median(&s), 102);
	assert_int_equal(record_series_deviation(&s, 102), 5); /* median of 0, 2, 5, 12, 28 */
}

/* A clock with a step of 10 ns gives the same reading each time. */
TEST(a_step_is_an_error)
{
	assert_int_equal(record_cost_error(0, 10, 100, 100, 100), 6); /* sqrt(16 + 12.96) = 5.4 */
	assert_int_equal(record_cost_error(0, 100, 0, 0, 0), 36);
}

/* The limit is two standard deviations of a difference, 2 x 1.4142 x 1.4826 x 4 %: 16.8 %. */
TEST(drift_is_what_readings_do_not_explain)
{
	assert_false(record_cost_disagrees(0, 1000, 1167));
	assert_true(record_cost_disagrees(0, 1000, 1169));
	assert_true(record_cost_disagrees(0, 1000, 831));
	assert_false(record_cost_disagrees(100, 1000, 1169));
	assert_false(record_cost_disagrees(0, 0, 0));
}

static int fails_in_the_third_series(void *arg)
{
	return ++*(uint32_t *)arg == 2 * RECORD_ROUNDS + 1 ? -EIO : 0;
}

TEST(repeats_end_with_an_error)
{
	uint32_t n = 0;
	const struct record_call call = { fails_in_the_third_series, &n };

	assert_int_equal(record_measure_repeated(NULL, true, &call, NULL, 0), -EIO);
	assert_int_equal(n, 2 * RECORD_ROUNDS + 1);
}

/* Between warm and cold caches, costs are linear in the closing time. In colder caches, inner costs grow with its square root. */
TEST(coldness_is_read_off_closings)
{
	const struct engine_cost cost = { .inner = 40,
					  .full = 100,
					  .nested = 9,
					  .closing = 50,
					  .cold_closing = 150,
					  .cold_inner = 240,
					  .cold_full = 700 };
	struct engine_cost flat = cost;
	struct engine_cell shards[2] = { { .closings = 5, .closing_time = 250 },
					 { .closings = 5, .closing_time = 750 } };
	struct record_cold_costs sums = {};

	assert_true(record_coldness(shards, 2, &cost) == 0.5);
	assert_true(record_cold_add(&sums, &cost, 10, 0, 0.5) == 100);
	assert_true(sums.calls == 10 && sums.inner == 1400 && sums.full == 4000);
	/* Timed callees add NESTED to a call's full cost. */
	assert_true(record_cold_add(&sums, &cost, 10, 3, 4) == 400);
	assert_true(sums.calls == 20 && sums.inner == 1400 + 4400 &&
		    sums.full == 4000 + 25000 + 27);
	/* The coldness is 0 if calls are as warm as in calibration, if closings are few, or if both closing costs are similar. */
	assert_true(record_coldness(shards, 1, &cost) == 0);
	shards[0].closings = 10;
	assert_true(record_coldness(shards, 1, &cost) == 0);
	shards[1].closing_time = 4000;
	flat.cold_closing = 60;
	assert_true(record_coldness(shards, 2, &cost) > 1 &&
		    record_coldness(shards, 2, &flat) == 0);
}

/* A walk changes the first byte of each cache line of its memory. */
TEST(a_walk_touches_it_all)
{
	struct record_walk w, none = {};

	record_walk_init(&w);
	assert_non_null(w.memory);
	assert_true(w.size >= 512 << 10);
	record_walk(&w);
	assert_true(w.memory[0] == 2 && w.memory[1] == 1 && w.memory[w.size - 64] == 2);
	record_walk(&none);
	record_walk_deinit(&w);
	assert_null(w.memory);
}

RUN_TESTS(NULL, NULL)
