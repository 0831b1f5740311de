// SPDX-License-Identifier: GPL-2.0-or-later
/* BPF programs take each cell at most once, however often they ask for more than there are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <linux/types.h>

#include "kprotperf/engine.h"

#define MAX 3

static void test_each_once(void **state)
{
	__u32 taken = 0;

	(void)state;
	for (__u32 cell = 1; cell <= MAX; cell++)
		assert_int_equal(engine_cell_take(&taken, MAX), cell);
	assert_int_equal(engine_cell_take(&taken, MAX), 0);
	assert_int_equal(taken, MAX);
}

/* Failed requests are not counted: 2^32 of them would wrap around. */
static void test_no_wrap(void **state)
{
	__u32 taken = UINT32_MAX - 1;

	(void)state;
	for (int i = 0; i < 8; i++)
		assert_int_equal(engine_cell_take(&taken, MAX), 0);
	assert_int_equal(taken, UINT32_MAX - 1);
}

static void test_give_back(void **state)
{
	__u32 taken = 0, first = engine_cell_take(&taken, MAX), second;

	(void)state;
	engine_cell_give_back(&taken, first);
	assert_int_equal(engine_cell_take(&taken, MAX), first);
	second = engine_cell_take(&taken, MAX);
	/* The first cell is not the last one taken, so it is not taken again. */
	engine_cell_give_back(&taken, first);
	assert_int_equal(engine_cell_take(&taken, MAX), second + 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_once),
		cmocka_unit_test(test_no_wrap),
		cmocka_unit_test(test_give_back),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
