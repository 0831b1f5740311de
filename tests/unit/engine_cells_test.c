// SPDX-License-Identifier: GPL-2.0-or-later
/* How the BPF programs take cells: never one twice, however often there is none. */
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

/* Misses are not counted: 2^32 of them would begin anew. */
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
	/* It is not the last: what is taken since is another's. */
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
