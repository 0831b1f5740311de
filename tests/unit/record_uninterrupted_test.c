// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <linux/types.h>

#include "record/cost/cold.h"

#define OWN    500
#define PROBES 9000 /* a call, in ticks */
#define INNER  1000 /* of these not excluded but taken off when read */

/* CALLS of which each takes OWN, and what its probes take; ASIDE of it was excluded. */
static struct engine_cell cell_of(uint64_t calls, uint64_t excluded)
{
	return (struct engine_cell){
		.calls = calls,
		.wall = calls * (OWN + PROBES),
		.excluded = calls * excluded,
		.uninterrupted = calls,
		.uninterrupted_self = calls * (OWN + PROBES - excluded),
		.uninterrupted_excluded = calls * excluded,
	};
}

static void test_exact_costs_leave_nothing(void **state)
{
	struct engine_cell cell = cell_of(1000, PROBES - INNER);

	(void)state;
	assert_int_equal(record_uninterrupted_excess(&cell, 1, INNER, 0), 0);
}

/* Set excluded was a share of interrupts, of which none came: the calls read too low by that. */
static void test_no_interrupt_came(void **state)
{
	struct engine_cell cell = cell_of(1000, (PROBES - INNER) * 101 / 100);
	int64_t excess = record_uninterrupted_excess(&cell, 1, INNER * 101 / 100, 0.01);

	(void)state;
	assert_in_range(-excess, 1000 * PROBES / 100 - 1, 1000 * PROBES / 100 + 1);
}

/* Ten of a thousand calls were interrupted: of what that took, the calls' own part stays. */
static void test_interrupts_are_shared(void **state)
{
	struct engine_cell cells[2] = { cell_of(990, PROBES - INNER), cell_of(10, PROBES - INNER) };
	uint64_t interrupts = 10 * 19000;
	int64_t stays = (int64_t)interrupts * OWN / (OWN + PROBES), excess;

	(void)state;
	cells[1].wall += interrupts;
	cells[1].uninterrupted = cells[1].uninterrupted_self = cells[1].uninterrupted_excluded = 0;
	excess = record_uninterrupted_excess(cells, 2, INNER, 0);
	assert_in_range((int64_t)interrupts - excess, stays - 1, stays + 1);
}

/* What a call takes cannot be told of few. */
static void test_few_quiet_calls(void **state)
{
	struct engine_cell cell = cell_of(1000, PROBES - INNER);

	(void)state;
	cell.wall += 1000000;
	cell.uninterrupted = 400;
	assert_int_equal(record_uninterrupted_excess(&cell, 1, INNER, 0.01), 0);
	cell.uninterrupted = 0;
	assert_int_equal(record_uninterrupted_excess(&cell, 1, INNER, 0.01), 0);
}

/* One call in a hundred takes so long that it is always interrupted: that is its own time. */
static void test_slow_path_is_not_quiet(void **state)
{
	struct engine_cell cell = cell_of(1000, PROBES - INNER);

	(void)state;
	cell.calls += 10;
	cell.wall += 10 * (uint64_t)(OWN + PROBES + 5000000);
	cell.excluded += 10 * (PROBES - INNER);
	assert_int_equal(record_uninterrupted_excess(&cell, 1, INNER, 0.001), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_exact_costs_leave_nothing),
		cmocka_unit_test(test_no_interrupt_came),
		cmocka_unit_test(test_interrupts_are_shared),
		cmocka_unit_test(test_few_quiet_calls),
		cmocka_unit_test(test_slow_path_is_not_quiet),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
