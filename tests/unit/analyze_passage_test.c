// SPDX-License-Identifier: GPL-2.0-or-later
/* Follow the change of a syscall through its callees, outermost first. Recursion counts once. */
#include <math.h>

#include "test.h"
#include "analyze/diff/passage.h"
#include "fixture.h"

static const double unknown[] = { NAN, NAN }; /* of exact recordings, which count */

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
	struct analyze_passage passage;

	assert_int_equal(analyze_passage_init(&passage, a, b, "X", unknown), 0);
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
	struct analyze_passage passage;

	assert_int_equal(analyze_passage_init(&passage, a, b, "X", unknown), 0);
	assert_int_equal(passage.n_steps, 0);
	assert_null(analyze_passage_end(&passage).step);
	analyze_passage_deinit(&passage);
	assert_int_equal(analyze_passage_init(&passage, a, same, "X", unknown), 0);
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
	const double totals[] = { 6200, 17200 };
	struct analyze_passage_end end;
	struct analyze_passage passage;

	add(b, "Y", "acb", 1000000);
	profile_sample_add(b, &(struct profile_sample){ .context = profile_context_add(b, "X"),
							.stack = profile_stack_add(b, NULL, 0),
							.flags = PROFILE_SAMPLE_PROBE,
							.count = 5000 });
	assert_int_equal(analyze_passage_init(&passage, a, b, "X", totals), 0);
	assert_int_equal(passage.n_steps, 3);
	assert_string_equal(passage.steps[2].name, "c");
	assert_true(fabs(passage.steps[2].delta.value - 10000) < 1e-6);
	assert_true(passage.steps[2].delta.low > 9000 && passage.steps[2].delta.low < 10000);
	assert_true(passage.steps[2].delta.high > 10000 && passage.steps[2].delta.high < 11000);
	end = analyze_passage_end(&passage);
	assert_string_equal(end.step->name, "c");
	assert_string_equal(end.to_time, "c");
	assert_string_equal(end.by_way[1], "b");
	assert_true(fabs(end.step->share - 10.0 / 11) < 1e-6);
	assert_true(end.error > 0 && end.error < 0.1);
	analyze_passage_deinit(&passage);
	profile_destroy(a);
	profile_destroy(b);
}

/* Three of a hundred samples are too few to name a function, although they are all of the change. */
TEST(test_few_samples)
{
	struct profile *p[2];
	const double totals[] = { 100, 103 };
	struct analyze_passage passage;

	for (int i = 0; i < 2; i++) {
		p[i] = profile_create();
		fixture_run(p[i], 1);
		add(p[i], "X", "a", 100);
	}
	add(p[1], "X", "ab", 3);
	assert_int_equal(analyze_passage_init(&passage, p[0], p[1], "X", totals), 0);
	assert_int_equal(passage.n_steps, 0);
	assert_null(analyze_passage_end(&passage).step);
	analyze_passage_deinit(&passage);
	profile_destroy(p[0]);
	profile_destroy(p[1]);
}

RUN_TESTS(NULL, NULL)
