// SPDX-License-Identifier: GPL-2.0-or-later
/* BPF programs take each cell (a set of counters) at most once, even if requests exceed the number of cells. */
#include <linux/types.h>

#include "test.h"
#include "kprotperf/engine.h"

#define MAX 3

TEST(each_cell_is_given_once)
{
	__u32 taken = 0;

	for (__u32 cell = 1; cell <= MAX; cell++)
		assert_int_equal(engine_cell_take(&taken, MAX), cell);
	assert_int_equal(engine_cell_take(&taken, MAX), 0);
	assert_int_equal(taken, MAX);
}

/* Failed requests are not counted: 2^32 of them would wrap around. */
TEST(failed_requests_are_not_counted)
{
	__u32 taken = UINT32_MAX - 1;

	for (int i = 0; i < 8; i++)
		assert_int_equal(engine_cell_take(&taken, MAX), 0);
	assert_int_equal(taken, UINT32_MAX - 1);
}

TEST(cells_that_are_given_back_are_given_again)
{
	__u32 taken = 0, first = engine_cell_take(&taken, MAX), second;

	engine_cell_give_back(&taken, first);
	assert_int_equal(engine_cell_take(&taken, MAX), first);
	second = engine_cell_take(&taken, MAX);
	/* Only the cell that was taken last can be taken again. */
	engine_cell_give_back(&taken, first);
	assert_int_equal(engine_cell_take(&taken, MAX), second + 1);
}

RUN_TESTS(NULL, NULL)
