/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Unit tests with cmocka. A file consists of tests, TEST(NAME) { ... }, and of RUN_TESTS() at its end, which runs the tests in the
 * file's order. NAME says what must hold.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct CMUnitTest tests_of_file[64] __attribute__((unused));

/* Define a test. SET_UP runs before it, and TEAR_DOWN after it; either may be NULL. */
#define TEST_WITH(name, set_up, tear_down)                                                       \
	static void name(void **state);                                                          \
	static void __attribute__((constructor)) add_##name(void)                                \
	{                                                                                        \
		tests_of_file[__COUNTER__] = (struct CMUnitTest)cmocka_unit_test_setup_teardown( \
			name, set_up, tear_down);                                                \
	}                                                                                        \
	static void name(void **state __attribute__((unused)))

#define TEST(name) TEST_WITH(name, NULL, NULL)

/* Run the tests between SET_UP and TEAR_DOWN, which may be NULL, and print TAP. */
#define RUN_TESTS(set_up, tear_down)                                                    \
	int main(void)                                                                  \
	{                                                                               \
		const size_t n_tests = __COUNTER__;                                     \
                                                                                        \
		cmocka_set_message_output(CM_OUTPUT_TAP);                               \
		return _cmocka_run_group_tests("tests", tests_of_file, n_tests, set_up, \
					       tear_down);                              \
	}
