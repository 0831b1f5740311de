// SPDX-License-Identifier: GPL-2.0-or-later
/* Describe in words how the misses of two recordings differ. */
#include <math.h>

#include "test.h"
#include "view/misses.h"

#define N 4

/* Return the text on N syscalls with misses of 1,000 and 1,100 cycles. P is the first syscall's p; the others have 0.5. */
static char *change(double p, double plus_minus)
{
	static const char *const names[N] = { "read", "write", "close", "openat" };
	struct analyze_misses_row rows[N];
	struct analyze_misses m = { .model = "tiny", .rows = rows, .n_rows = N };

	for (int i = 0; i < N; i++)
		rows[i] = (struct analyze_misses_row){
			.context = names[i],
			.function = "*",
			.sides = { { .data = 1000, .instructions = 9 }, { .data = 1100 } },
			.delta.data = 100,
			.plus_minus = plus_minus,
			.p = isnan(p) || !i ? p : 0.5,
		};
	return view_misses_change(&m);
}

static void check(char *text, const char *expected)
{
	assert_int_equal(strncmp(text, expected, strlen(expected)), 0);
	free(text);
}

/* With four syscalls, one change that is little larger than its interval may be chance. */
TEST(test_chance)
{
	check(change(0.001, 20),
	      "Data misses in model tiny: read has +100 estimated cycles of misses");
	check(change(0.03, 95), "Data misses in model tiny: no significant change");
}

TEST(test_one_run)
{
	char *text = change(NAN, NAN);

	assert_non_null(strstr(text, "read has +100"));
	assert_non_null(strstr(text, "may be chance"));
	free(text);
}

RUN_TESTS(NULL, NULL)
