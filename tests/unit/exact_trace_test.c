// SPDX-License-Identifier: GPL-2.0-or-later
/* Turn one call's sequence of blocks into calls, lines and loops. Align two such traces up to their first difference. */
#include "test.h"
#include "analyze/code/trace.h"
#include "exact/code.h"

enum {
	OUTER,
	INNER,
	N_FUNCTIONS
};

/* Return the location of line LINE of the function. LINE 0: the function's entry. */
static uint32_t place(struct profile *p, int function, uint32_t line)
{
	static const char *const names[] = { "outer", "inner.isra.0" };
	const struct profile_frame frame = { .name = names[function], .file = "a.c", .line = line };
	uint32_t at = profile_location_add(p, 0x1000u * (function + 1u) + line, NULL);

	if (!p->locations[at].n_frames)
		profile_location_frame_add(p, at, &frame);
	return at;
}

static void step(struct exact_trace *t, struct profile *p, uint32_t depth, int function,
		 uint32_t line)
{
	exact_trace_step(t, depth, place(p, function, 0), place(p, function, line), 3);
}

/* Create a trace: outer executes line 1, TURNS times (line 2, inner, line 3), line EXTRA unless 0, and line 4. */
static struct profile *profile_with(int turns, uint32_t extra)
{
	struct profile *p = profile_create();
	struct exact_trace t = { 0 };

	profile_run_add(p, PROFILE_RUN_PROBED);
	step(&t, p, 0, OUTER, 1);
	for (int i = 0; i < turns; i++) {
		step(&t, p, 0, OUTER, 2);
		step(&t, p, 1, INNER, 7);
		step(&t, p, 1, INNER, 8);
		step(&t, p, 0, OUTER, 3);
	}
	if (extra)
		step(&t, p, 0, OUTER, extra);
	step(&t, p, 0, OUTER, 4);
	exact_trace_finish(&t, p);
	return p;
}

TEST(repeated_calls_are_folded)
{
	struct profile *p = profile_with(6000, 0);
	struct analyze_trace t;

	analyze_trace_init(&t, p);
	assert_int_equal(t.n_lines, 9);
	assert_string_equal(t.lines[0].name, "outer");
	assert_true(t.lines[0].insns == 2 * 3 + 6000 * 12);
	assert_int_equal(t.lines[2].kind, PROFILE_TRACE_LOOP);
	assert_true(t.lines[2].times == 6000 && t.lines[2].insns == 6000 * 12);
	assert_int_equal(t.lines[4].kind, PROFILE_TRACE_CALL);
	assert_true(t.lines[4].depth == 2 && t.lines[4].insns == 6);
	assert_true(t.lines[8].depth == 1 && t.lines[8].line == 4);
	analyze_trace_deinit(&t);
	profile_destroy(p);
}

/* Return the pair at which the two traces begin to differ, or NULL if they are equal. */
static const struct analyze_trace_pair *first_of(const struct analyze_trace_diff *d)
{
	for (uint32_t i = 0; i < d->n_pairs; i++)
		if (d->pairs[i].first)
			return &d->pairs[i];
	return NULL;
}

TEST(traces_are_compared_line_by_line)
{
	struct profile *few = profile_with(3, 0), *many = profile_with(5, 9);
	struct analyze_trace_diff d;
	const struct analyze_trace_pair *first;
	uint32_t extra = 0;

	analyze_trace_diff_init(&d, few, few);
	assert_int_equal(d.n_pairs, 1);
	assert_int_equal(d.pairs[0].change, ANALYZE_TRACE_SAME);
	assert_null(first_of(&d));
	analyze_trace_diff_deinit(&d);

	analyze_trace_diff_init(&d, few, many);
	first = first_of(&d);
	assert_non_null(first);
	assert_true(first->lines[0]->times == 3 && first->lines[1]->times == 5);
	assert_true(first->delta == 2 * 12);
	for (uint32_t i = 0; i < d.n_pairs; i++)
		if (d.pairs[i].change == ANALYZE_TRACE_HARDENED_ONLY) {
			assert_true(d.pairs[i].lines[1]->line == 9);
			extra++;
		}
	assert_int_equal(extra, 1);
	analyze_trace_diff_deinit(&d);
	profile_destroy(few);
	profile_destroy(many);
}

RUN_TESTS(NULL, NULL)
