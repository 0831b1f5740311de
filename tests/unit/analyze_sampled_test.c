// SPDX-License-Identifier: GPL-2.0-or-later
/* Compare samples by an event, by function and with repetitions. They are not used as time. */
#include <math.h>

#include "test.h"
#include "analyze/diff/diff.h"
#include "analyze/inline/ranges.h"
#include "fixture.h"

#define RUNS 4

static void hit(struct profile *p, uint32_t run, const char *context, uint32_t stack,
		uint32_t flags, uint64_t count)
{
	profile_sample_add(p, &(struct profile_sample){ .run = run,
							.context = profile_context_add(p, context),
							.stack = stack,
							.flags = flags,
							.count = count });
}

/* In each of RUNS runs f has 40 + MORE samples plus the run's number, and user space one. EVENT: NULL for the clock. */
static struct profile *sampled(const char *event, uint64_t period, uint64_t more)
{
	struct profile *p = profile_create();
	uint32_t at = profile_location_add(p, 0x1000, NULL), stack, user;

	profile_location_frame_add(p, at,
				   &(struct profile_frame){ .name = "body", .inlined = true });
	profile_location_frame_add(p, at, &(struct profile_frame){ .name = "f" });
	stack = profile_stack_add(p, &at, 1);
	user = profile_stack_add(p, NULL, 0);
	p->clock = PROFILE_CLOCK_INSN;
	fixture_calibrated(p);
	if (event)
		profile_sample_event_set(p, event, period);
	else
		p->sample_period = period;
	for (uint32_t i = 0; i < RUNS; i++) {
		uint32_t run = fixture_run(p, 1);

		hit(p, run, "clone", stack, 0, 40 + i + more);
		hit(p, run, "[none]", user, PROFILE_SAMPLE_USER, 1);
	}
	return p;
}

static void compare(struct analyze_sampled_events *s, const char *event, uint64_t period)
{
	struct profile *a = sampled("cache-misses", period, 0), *b = sampled(event, period, 10);

	analyze_sampled_events_init(s, a, b, 1, false);
	if (event && !strcmp(event, "cache-misses")) {
		assert_int_equal(s->n_rows, 3);
		assert_int_equal(s->rows[0].leaf.n_frames, 0); /* all functions */
		assert_true(s->rows[0].totals[0] == 42.5 * (double)period);
		assert_string_equal(s->rows[1].leaf.frames[0].name, "f");
		assert_true(s->rows[1].totals[0] == 41.5 * (double)period);
		assert_true(s->rows[1].delta == 10 * (double)period);
		assert_string_equal(s->rows[2].leaf.frames[0].name, "[user]");
		assert_true(s->rows[2].delta == 0);
	}
	profile_destroy(a);
	profile_destroy(b);
}

/* With every event sampled, only the difference between runs counts. */
TEST(test_each)
{
	struct analyze_sampled_events s;

	compare(&s, "cache-misses", 1);
	assert_true(s.rows[1].change.plus_minus > 1.5 && s.rows[1].change.plus_minus < 3);
	assert_int_equal(s.rows[1].change.verdict, ANALYZE_VERDICT_SLOWER);
	analyze_sampled_events_deinit(&s);
}

/* With a period of 100, samples add their own error: 166 and 206 differ by 40 +- 1.96 sqrt(372), in 4 runs. */
TEST(test_some)
{
	struct analyze_sampled_events s;

	compare(&s, "cache-misses", 100);
	assert_true(fabs(s.rows[1].change.plus_minus - 100 * 1.96 * sqrt(372) / 4) < 30);
	analyze_sampled_events_deinit(&s);
}

TEST(test_unlike)
{
	struct analyze_sampled_events s;

	compare(&s, "page-faults", 100);
	assert_true(!s.event && !s.n_rows);
	analyze_sampled_events_deinit(&s);
	compare(&s, NULL, 100);
	assert_true(!s.event && !s.n_rows);
	analyze_sampled_events_deinit(&s);
}

/* Samples by an event do not estimate a body's time. */
TEST(test_no_time)
{
	const struct analyze_options options = { .time = ANALYZE_TIME_ONCPU };
	struct profile *clock = sampled(NULL, 100, 0), *event = sampled("cache-misses", 100, 0);
	struct analyze_ranges ranges;

	analyze_ranges_init(&ranges, clock, &options);
	assert_true(ranges.n_rows > 0);
	analyze_ranges_deinit(&ranges);
	analyze_ranges_init(&ranges, event, &options);
	assert_int_equal(ranges.n_rows, 0);
	analyze_ranges_deinit(&ranges);
	profile_destroy(clock);
	profile_destroy(event);
}

RUN_TESTS(NULL, NULL)
