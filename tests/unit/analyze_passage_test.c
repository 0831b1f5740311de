// SPDX-License-Identifier: GPL-2.0-or-later
/* What the change of a syscall passes through: exact recordings only, recursion once, outermost first. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "analyze/diff/passage.h"
#include "fixture.h"

/* COUNT instructions in CONTEXT, at the end of the calls PATH: a letter is a function, outermost first. */
static void add(struct profile *p, const char *context, const char *path, uint64_t count)
{
	uint32_t locations[16], n = (uint32_t)strlen(path);

	for (uint32_t i = 0; i < n; i++) {
		const char name[] = { path[i], '\0' };

		locations[n - 1 - i] = fixture_location(p, (uint64_t)path[i], name);
	}
	profile_sample_add(p, &(struct profile_sample){
				      .context = profile_context_add(p, context),
				      .stack = profile_stack_add(p, locations, n),
				      .count = count,
			      });
}

/* In the syscall X: a calls b or d, b calls itself, and c, which is what becomes dearer. */
static struct profile *side(uint64_t dear, bool exact)
{
	struct profile *p = profile_create();

	fixture_run(p, 1);
	if (exact)
		profile_env_set(p, PROFILE_ENV_ENGINE, PROFILE_ENGINE_EXACT);
	add(p, "X", "a", 10);
	add(p, "X", "abbc", dear);
	add(p, "X", "ad", dear / 10);
	add(p, "X", "ae", 500);
	add(p, "Y", "c", 7 * dear);
	return p;
}

static void test_steps(void **state)
{
	struct profile *a = side(100, true), *b = side(1100, true);
	struct analyze_conclusion c = { .where = ANALYZE_WHERE_FUNCTION, .function = "c" };
	struct analyze_passage passage;

	(void)state;
	assert_int_equal(analyze_passage_init(&passage, a, b, "X"), 0);
	assert_int_equal(passage.n_steps, 3);
	assert_string_equal(passage.steps[0].name, "a");
	assert_true(passage.steps[0].delta == 1100);
	assert_true(passage.steps[0].share == 1);
	assert_string_equal(passage.steps[1].name, "b");
	assert_true(passage.steps[1].totals[0] == 100);
	assert_true(passage.steps[1].totals[1] == 1100);
	assert_string_equal(passage.steps[2].name, "c");
	analyze_passage_lead(&passage, &c);
	assert_string_equal(c.by_way[0], "a");
	assert_string_equal(c.by_way[1], "b");
	assert_null(c.by_way[2]);
	analyze_passage_deinit(&passage);
	profile_destroy(a);
	profile_destroy(b);
}

static void test_nothing(void **state)
{
	struct profile *a = side(100, true), *b = side(1100, false), *same = side(100, true);
	struct analyze_passage passage;

	(void)state;
	assert_int_equal(analyze_passage_init(&passage, a, b, "X"), 0);
	assert_int_equal(passage.n_steps, 0);
	analyze_passage_deinit(&passage);
	assert_int_equal(analyze_passage_init(&passage, a, same, "X"), 0);
	assert_int_equal(passage.n_steps, 0);
	analyze_passage_deinit(&passage);
	assert_int_equal(analyze_passage_init(&passage, a, same, NULL), 0);
	assert_int_equal(passage.n_steps, 0);
	analyze_passage_deinit(&passage);
	profile_destroy(a);
	profile_destroy(b);
	profile_destroy(same);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_steps),
		cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
