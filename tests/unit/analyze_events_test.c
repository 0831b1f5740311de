// SPDX-License-Identifier: GPL-2.0-or-later
/* Test events counted per call: rows, figures per call and per run, and the significance of differences. */
#include <math.h>

#include "test.h"
#include "analyze/figures/events.h"
#include "analyze/figures/table.h"
#include "fixture.h"

#define RUNS  4
#define CALLS 10

/* Create RUNS runs with clone, and the function f in clone and in mmap. clone counts MORE events more per call. */
static struct profile *counted(int64_t more)
{
	struct profile *p = profile_create();
	uint32_t clone = profile_context_add(p, "clone"), mmap = profile_context_add(p, "mmap");
	uint32_t misses = profile_counter_add(p, "cache-misses"), f;

	p->clock = PROFILE_CLOCK_INSN;
	fixture_calibrated(p);
	f = fixture_function(p, "f", p->n_sites);
	for (uint32_t i = 0; i < RUNS; i++) {
		uint32_t run = fixture_run(p, 1);
		const struct profile_counted rows[] = {
			{ run, 0, clone, misses, CALLS, CALLS * (100 + more) + i, CALLS * 90 },
			{ run, f, clone, misses, CALLS, CALLS * 10, CALLS * 10 },
			{ run, f, mmap, misses, 2 * CALLS, -CALLS, -CALLS },
		};

		for (size_t k = 0; k < sizeof(rows) / sizeof(*rows); k++)
			profile_counted_add(p, &rows[k]);
	}
	return p;
}

static const struct analyze_event_row *row(const struct analyze_events *e, const char *name,
					   const char *context)
{
	vec_each(const struct analyze_event_row, r, e, rows)
		if (!strcmp(r->name, name) && !analyze_context_compare(r->context, context))
			return r;
	fail_msg("no row of %s", name);
	return NULL;
}

TEST(test_one)
{
	struct profile *p = counted(0);
	const struct analyze_event_row *r;
	struct analyze_events e;

	analyze_events_init(&e, p, NULL, 0, false);
	assert_int_equal(e.n_rows, 4); /* clone; f in all contexts, in clone, and in mmap */
	r = row(&e, "clone", NULL);
	assert_string_equal(r->event, "cache-misses");
	assert_true(r->sides[0].calls == CALLS && r->sides[0].total == CALLS * 100 + 1.5);
	assert_true(fabs(r->sides[0].mean - 100.15) < 1e-9 && r->sides[0].self == 90);
	assert_true(isnan(r->sides[1].mean) && isnan(r->delta));
	r = row(&e, "f", "mmap");
	assert_true(r->sides[0].mean == -0.5 && !r->redundant);
	r = row(&e, "f", ANALYZE_ALL_CONTEXTS);
	assert_true(r->sides[0].calls == 3 * CALLS && r->sides[0].mean == 3 && !r->redundant);
	analyze_events_deinit(&e);
	profile_destroy(p);
}

/* Runs differ by up to 0.3 per call: a change by 2 is significant, and equal counts are not. */
TEST(test_two)
{
	struct profile *a = counted(0), *b = counted(2);
	const struct analyze_event_row *r;
	struct analyze_events e;

	analyze_events_init(&e, a, b, 1, false);
	r = row(&e, "clone", NULL);
	assert_true(fabs(r->delta - 2) < 1e-9);
	assert_true(r->change.ci.low > 1.5 && r->change.ci.high < 2.5);
	assert_int_equal(r->change.verdict, ANALYZE_VERDICT_SLOWER);
	r = row(&e, "f", "clone");
	assert_true(r->delta == 0);
	assert_int_not_equal(r->change.verdict, ANALYZE_VERDICT_SLOWER);
	analyze_events_deinit(&e);
	/* On a real clock, recordings that were not made in turns cannot be compared. */
	analyze_events_init(&e, a, b, 1, true);
	assert_int_equal(row(&e, "clone", NULL)->change.verdict, ANALYZE_VERDICT_UNCLEAR);
	analyze_events_deinit(&e);
	profile_destroy(a);
	profile_destroy(b);
}

/* Add to each run the times of counted(0)'s calls in clone: 10 calls, which call f once each. */
static void add_times(struct profile *p)
{
	p->sites[0].mech = PROFILE_MECH_TRACEPOINT;
	profile_cost_set(p, PROFILE_MECH_TRACEPOINT, PROFILE_COST_INNER, 40, 0);
	profile_cost_set(p, PROFILE_MECH_TRACEPOINT, PROFILE_COST_FULL, 90, 0);
	profile_cost_set(p, PROFILE_MECH_FENTRY, PROFILE_COST_INNER, 100, 0);
	profile_cost_set(p, PROFILE_MECH_FENTRY, PROFILE_COST_FULL, 300, 0);
	for (uint32_t run = 0; run < RUNS; run++)
		for (uint32_t site = 0; site < 2; site++) {
			struct profile_stats *s = profile_cell(p, run, site, 0);

			s->calls = CALLS;
			s->cost = site ? CALLS * 100 : CALLS * (40 + 300);
		}
}

/*
 * The cost in events of one probed call is uncertain: 2 in clone and 3 in f inside the call, 6 around f, which clone includes. The
 * number of calls nested in clone follows from the cost in ticks, which is exact here.
 */
TEST(test_calibration)
{
	struct profile *p[2] = { counted(0), counted(0) };
	const double mad = 1.482602218505602;
	double exact, with;
	struct analyze_events e;

	for (int i = 0; i < 2; i++)
		add_times(p[i]);
	analyze_events_init(&e, p[0], p[1], 1, false);
	exact = row(&e, "clone", NULL)->change.plus_minus;
	assert_true(row(&e, "clone", NULL)->change.moments[0].systematic == 0);
	analyze_events_deinit(&e);
	for (int i = 0; i < 2; i++) {
		profile_counter_cost_set(p[i], &(struct profile_counter_cost){
						       0, PROFILE_MECH_TRACEPOINT, 50, 2, 0, 0 });
		profile_counter_cost_set(p[i], &(struct profile_counter_cost){
						       0, PROFILE_MECH_FENTRY, 60, 3, 120, 6 });
	}
	analyze_events_init(&e, p[0], p[1], 1, false);
	assert_true(fabs(row(&e, "clone", NULL)->change.moments[0].systematic - (2 + 6) * mad) <
		    1e-6);
	assert_true(fabs(row(&e, "f", "clone")->change.moments[1].systematic - 3 * mad) < 1e-6);
	with = row(&e, "clone", NULL)->change.plus_minus;
	assert_true(exact < 0.5 && with > 1.95 * sqrt(2) * (2 + 6) * mad);
	analyze_events_deinit(&e);
	profile_destroy(p[0]);
	profile_destroy(p[1]);
}

/* Only one recording has the event and the contexts. */
TEST(test_one_side)
{
	struct profile *a = counted(0), *b = profile_create();
	struct analyze_events e;

	fixture_calibrated(b);
	fixture_run(b, 1);
	analyze_events_init(&e, a, b, 1, false);
	assert_int_equal(e.n_rows, 4);
	assert_true(isnan(e.rows[0].sides[1].calls) && isnan(e.rows[0].delta));
	assert_int_equal(e.rows[0].change.verdict, analyze_change_none.verdict);
	analyze_events_deinit(&e);
	profile_destroy(a);
	profile_destroy(b);
}

RUN_TESTS(NULL, NULL)
