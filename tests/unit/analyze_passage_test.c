// SPDX-License-Identifier: GPL-2.0-or-later
/* Follow the change of a syscall through its callees, outermost first. Recursion counts once. */
#include <math.h>

#include "test.h"
#include "analyze/diff/passage.h"
#include "fixture.h"

/* Add COUNT instructions in CONTEXT at the end of the calls PATH: one letter per function, outermost first. */
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

/* In the syscall X, a calls b or d; b calls itself, and c, which costs DEAR. */
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

TEST(test_steps)
{
	struct profile *a = side(100, true), *b = side(1100, true);
	struct analyze_conclusion c = { .what = "X",
					.where = ANALYZE_WHERE_FUNCTION,
					.function = "c" };
	struct analyze_passage passage;

	assert_int_equal(analyze_passage_init(&passage, a, b, &c), 0);
	assert_int_equal(passage.n_steps, 3);
	assert_string_equal(passage.steps[0].name, "a");
	assert_true(passage.steps[0].delta.value == 1100);
	assert_true(passage.steps[0].share == 1);
	assert_string_equal(passage.steps[1].name, "b");
	assert_true(passage.steps[1].totals[0] == 100);
	assert_true(passage.steps[1].totals[1] == 1100);
	assert_string_equal(passage.steps[2].name, "c");
	analyze_passage_deinit(&passage);
	profile_destroy(a);
	profile_destroy(b);
}

TEST(test_nothing)
{
	struct profile *a = side(100, true), *b = side(1100, false), *same = side(100, true);
	const struct analyze_conclusion c = { .what = "X" }, none = {};
	struct analyze_passage passage;

	assert_int_equal(analyze_passage_init(&passage, a, b, &c), 0);
	assert_int_equal(passage.n_steps, 0);
	analyze_passage_deinit(&passage);
	assert_int_equal(analyze_passage_init(&passage, a, same, &c), 0);
	assert_int_equal(passage.n_steps, 0);
	analyze_passage_deinit(&passage);
	assert_int_equal(analyze_passage_init(&passage, a, same, &none), 0);
	assert_int_equal(passage.n_steps, 0);
	analyze_passage_deinit(&passage);
	profile_destroy(a);
	profile_destroy(b);
	profile_destroy(same);
}

/* Samples of X are scaled to the time of its calls; a change that samples cannot distinguish from 0 is not a step. */
TEST(test_samples)
{
	struct profile *a = side(100, false), *b = side(1100, false);
	struct analyze_conclusion c = { .what = "X",
					.where = ANALYZE_WHERE_NOT_RECORDED,
					.totals = { 6200, 17200 } };
	struct analyze_passage passage;

	add(b, "Y", "acb", 1000000);
	profile_sample_add(b, &(struct profile_sample){ .context = profile_context_add(b, "X"),
							.stack = profile_stack_add(b, NULL, 0),
							.flags = PROFILE_SAMPLE_PROBE,
							.count = 5000 });
	assert_int_equal(analyze_passage_init(&passage, a, b, &c), 0);
	assert_int_equal(passage.n_steps, 3);
	assert_string_equal(passage.steps[2].name, "c");
	assert_true(fabs(passage.steps[2].delta.value - 10000) < 1e-6);
	assert_true(passage.steps[2].delta.low > 9000 && passage.steps[2].delta.low < 10000);
	assert_true(passage.steps[2].delta.high > 10000 && passage.steps[2].delta.high < 11000);
	analyze_passage_lead(&passage, &c);
	assert_true(c.sampled);
	assert_string_equal(c.function, "c");
	assert_string_equal(c.to_time, "c");
	assert_string_equal(c.by_way[1], "b");
	assert_true(fabs(c.function_share - 10.0 / 11) < 1e-6);
	analyze_passage_deinit(&passage);

	/* No function is named for an unclear change of X. */
	c = (struct analyze_conclusion){ .what = "X",
					 .totals = { 6200, 17200 },
					 .change.verdict = ANALYZE_VERDICT_UNCLEAR };
	assert_int_equal(analyze_passage_init(&passage, a, b, &c), 0);
	analyze_passage_lead(&passage, &c);
	assert_null(c.function);
	analyze_passage_deinit(&passage);
	profile_destroy(a);
	profile_destroy(b);
}

/* Three of a hundred samples are too few to name a function, although they are all of the change. */
TEST(test_few_samples)
{
	struct profile *p[2];
	struct analyze_conclusion c = { .what = "X", .totals = { 100, 103 } };
	struct analyze_passage passage;

	for (int i = 0; i < 2; i++) {
		p[i] = profile_create();
		fixture_run(p[i], 1);
		add(p[i], "X", "a", 100);
	}
	add(p[1], "X", "ab", 3);
	assert_int_equal(analyze_passage_init(&passage, p[0], p[1], &c), 0);
	analyze_passage_lead(&passage, &c);
	assert_int_equal(passage.n_steps, 0);
	assert_null(c.function);
	analyze_passage_deinit(&passage);
	profile_destroy(p[0]);
	profile_destroy(p[1]);
}

RUN_TESTS(NULL, NULL)
