// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Find the code that makes the difference between two exact recordings: its own instructions, its callees in one recording only,
 * or the number of its calls. No other code is named, parts add up, and lines are found.
 */
#include <math.h>
#include <unistd.h>

#include "test.h"
#include "analyze/why/why.h"
#include "base/alloc.h"
#include "fixture.h"
#include "view/why.h"

/* Return the location of the function LETTER at LINE. */
static uint32_t location(struct profile *p, char letter, uint32_t line)
{
	const char name[] = { letter, '\0' };
	uint32_t l = profile_location_add(p, (uint64_t)letter << 16 | line, NULL);
	const struct profile_frame frame = { .name = name, .file = "f.c", .line = line };

	if (!p->locations[l].n_frames)
		profile_location_frame_add(p, l, &frame);
	return l;
}

static uint32_t stack(struct profile *p, const char *path, uint32_t line)
{
	uint32_t locations[16], n = (uint32_t)strlen(path);

	for (uint32_t i = 0; i < n; i++)
		locations[n - 1 - i] = location(p, path[i], i + 1 < n ? 1 : line);
	return profile_stack_add(p, locations, n);
}

/* The context to which calls and instructions are added. */
static const char *now_in = "X";

/* Add COUNT instructions of LINE with the call stack PATH: one letter per function, outermost first. */
static void insns_at(struct profile *p, uint32_t run, const char *path, uint32_t line,
		     uint64_t count)
{
	const struct profile_sample sample = { .run = run,
					       .context = profile_context_add(p, now_in),
					       .stack = stack(p, path, line),
					       .count = count };

	profile_sample_add(p, &sample);
}

/* Add N calls of PATH's last function, which execute INSNS each. */
static void calls(struct profile *p, uint32_t run, const char *path, uint64_t n, uint64_t insns)
{
	const struct profile_edge edge = { .run = run,
					   .context = profile_context_add(p, now_in),
					   .stack = stack(p, path, 1),
					   .calls = n };

	profile_edge_add(p, &edge);
	insns_at(p, run, path, 1, n * insns);
}

static struct profile *exact(uint32_t runs)
{
	struct profile *p = profile_create();

	for (uint32_t i = 0; i < runs; i++)
		fixture_run(p, i);
	profile_env_set(p, PROFILE_ENV_ENGINE, PROFILE_ENGINE_EXACT);
	p->clock = PROFILE_CLOCK_INSN;
	for (uint32_t i = 0; i < runs; i++)
		profile_cell(p, i, 0, profile_context_add(p, "X"))->calls = 10;
	return p;
}

/* In 10 calls, X calls a. a calls b CALLS_OF_B times, and b calls c. */
static struct profile *side(uint64_t calls_of_b, uint64_t self_of_c)
{
	struct profile *p = exact(1);

	calls(p, 0, "a", 10, 100);
	calls(p, 0, "ab", calls_of_b, 50);
	calls(p, 0, "abc", calls_of_b, self_of_c);
	return p;
}

struct answer {
	struct profile *a, *b;
	struct why why;
	char *text;
};

static void answer_init(struct answer *x, struct profile *a, struct profile *b)
{
	x->a = a;
	x->b = b;
	why_init(&x->why, a, b);
	x->text = view_why(&x->why, &x->why.contexts[0]);
}

static void answer_deinit(struct answer *x)
{
	free(x->text);
	why_deinit(&x->why);
	profile_destroy(x->a);
	profile_destroy(x->b);
}

static const struct why_causes *causes(const struct answer *x)
{
	return &x->why.contexts[0].causes;
}

/* Check that the first cause is NAME, and its first part PART of KIND. All causes must add up to the context's change. */
static void assert_cause(const struct answer *x, const char *name, enum why_kind kind,
			 const char *part, double delta)
{
	const struct why_causes *c = causes(x);
	double sum = 0;

	assert_string_equal(c->items[0].name, name);
	assert_int_equal(c->parts[c->items[0].first_part].kind, kind);
	assert_string_equal(c->parts[c->items[0].first_part].name, part);
	assert_true(c->parts[c->items[0].first_part].delta == delta);
	for (uint32_t i = 0; i < c->n_items; i++)
		sum += c->items[i].delta;
	assert_true(fabs(sum + c->by_calls - x->why.contexts[0].delta) < 1e-6);
}

static void assert_says(const struct answer *x, const char *what)
{
	if (!strstr(x->text, what))
		fail_msg("\"%s\" is not in: %s", what, x->text);
}

TEST(test_itself)
{
	struct answer x;

	answer_init(&x, side(20, 30), side(20, 40));
	assert_cause(&x, "c", WHY_SELF, "c", 200);
	assert_int_equal(causes(&x)->n_items, 1);
	assert_says(&x, "X is 7.69 % slower (+20 instructions per call");
	assert_says(&x, "100 % of it is in c (via a and b)");
	answer_deinit(&x);
}

/* A stack of inlined functions without the function around them; the outer one has the context's name. */
TEST(test_no_function)
{
	const struct profile_frame frames[] = { { .name = "y", .inlined = true },
						{ .name = "X", .inlined = true } };
	struct profile *sides[] = { exact(1), exact(1) };
	uint32_t locations[2], stack;
	struct answer x;

	for (uint32_t i = 0; i < 2; i++) {
		locations[i] = profile_location_add(sides[1], 0x7777 + i, NULL);
		profile_location_frame_add(sides[1], locations[i], &frames[i]);
	}
	stack = profile_stack_add(sides[1], locations, 2);
	profile_sample_add(sides[1], &(struct profile_sample){ .stack = stack, .count = 1000 });
	profile_edge_add(sides[1], &(struct profile_edge){ .stack = stack, .calls = 10 });
	answer_init(&x, sides[0], sides[1]);
	assert_says(&x, "X, which executes y (inlined");
	answer_deinit(&x);
}

/* Another task, which X may wake, changes more than X does. It is reported after X. */
static void check_other_task(const char *name)
{
	struct profile *sides[] = { side(20, 30), side(20, 40) };
	struct answer x;

	for (int i = 0; i < 2; i++) {
		struct profile_sample sample = { .count = i ? 5000 : 1000 };

		sample.context = profile_context_add(sides[i], name);
		sample.stack = stack(sides[i], "t", 1);
		profile_sample_add(sides[i], &sample);
	}
	answer_init(&x, sides[0], sides[1]);
	assert_string_equal(x.why.contexts[1].name, name);
	assert_int_equal(x.why.contexts[1].sureness, x.why.contexts[0].sureness);
	assert_says(&x, "X is 7.69 % slower");
	answer_deinit(&x);
}

TEST(test_other_tasks)
{
	check_other_task("[other tasks]");
	check_other_task("[rcu_gp_kthread]");
}

/* b and c execute more because a calls them more often. */
TEST(test_more_often)
{
	struct answer x;

	answer_init(&x, side(20, 30), side(60, 30));
	assert_cause(&x, "a", WHY_OFTEN, "b", 3200);
	assert_int_equal(causes(&x)->n_items, 1);
	assert_says(&x, "calls b (f.c:1) 60 times per run instead of 20");
	answer_deinit(&x);
}

TEST(test_context_on_one_side)
{
	struct answer x;

	answer_init(&x, exact(1), side(20, 30));
	assert_says(&x, "X is called on the hardened side only, 10 times per run (+2,600 "
			"instructions per run, ");
	answer_deinit(&x);
	answer_init(&x, side(20, 30), exact(1));
	assert_says(&x, "X is called on the baseline side only, 10 times per run (-2,600 ");
	answer_deinit(&x);
}

/* X is called more often, and does less per call: no cause is larger than its code's instructions. */
TEST(test_context_more)
{
	struct profile *a = exact(1), *b = exact(1);
	struct answer x;

	calls(a, 0, "a", 10, 100);
	calls(a, 0, "ab", 10, 5000);
	profile_cell(b, 0, 0, profile_context_add(b, "X"))->calls = 120;
	calls(b, 0, "a", 120, 100);
	calls(b, 0, "ab", 12, 5000);
	answer_init(&x, a, b);
	assert_cause(&x, "a", WHY_OFTEN, "b", -45000);
	assert_says(
		&x,
		"X is called 120 times per run instead of 10 (+21,000 instructions per run, "
		"+41.2 % of the command's instructions), and is 88.2 % faster per call.\n  100 % of "
		"the change per call is in a, which calls b (f.c:1) 0.1 times per call instead "
		"of 1: -4,500 instructions per call.");
	answer_deinit(&x);
}

/* X is called less often, and does more per call. */
TEST(test_context_less)
{
	struct profile *a = exact(1), *b = exact(1);
	struct answer x;

	profile_cell(a, 0, 0, profile_context_add(a, "X"))->calls = 120;
	calls(a, 0, "a", 120, 100);
	calls(b, 0, "a", 10, 100);
	calls(b, 0, "ab", 10, 500);
	answer_init(&x, a, b);
	assert_cause(&x, "a", WHY_NEW, "b", 5000);
	assert_says(
		&x,
		"X is called 10 times per run instead of 120 (-6,000 instructions per run, "
		"-50.0 % of the command's instructions), and is 500.0 % slower per call.\n  100 % "
		"of the change per call is in a, which calls b (f.c:1) on the hardened side "
		"only: +500 instructions per call.");
	answer_deinit(&x);
}

/* X is called twice as often and takes the same per call, so no cause is named. */
TEST(test_context_twice)
{
	struct profile *b = exact(1);
	struct answer x;

	profile_cell(b, 0, 0, profile_context_add(b, "X"))->calls = 20;
	calls(b, 0, "a", 20, 100);
	calls(b, 0, "ab", 40, 50);
	calls(b, 0, "abc", 40, 30);
	answer_init(&x, side(20, 30), b);
	assert_says(&x, "X is called 20 times per run instead of 10 (+2,600 instructions per run, "
			"+100.0 % of the command's instructions).");
	assert_null(strchr(x.text, '\n'));
	answer_deinit(&x);
	/* One more instruction is not a cause either. */
	b = exact(1);
	profile_cell(b, 0, 0, profile_context_add(b, "X"))->calls = 20;
	calls(b, 0, "a", 20, 100);
	calls(b, 0, "ab", 40, 50);
	insns_at(b, 0, "ab", 1, 1);
	calls(b, 0, "abc", 40, 30);
	answer_init(&x, side(20, 30), b);
	assert_says(&x, "+100.0 % of the command's instructions).");
	assert_null(strchr(x.text, '\n'));
	answer_deinit(&x);
}

TEST(test_new_and_gone)
{
	struct profile *a = side(20, 30), *b = side(20, 30);
	struct answer x;

	calls(a, 0, "ab", 0, 0);
	calls(b, 0, "abn", 20, 5);
	calls(b, 0, "abnm", 20, 45);
	answer_init(&x, a, b);
	assert_cause(&x, "b", WHY_NEW, "n", 1000);
	assert_says(
		&x,
		"calls n (f.c:1) on the hardened side only: +1,000 instructions per run, nearly all of that in m");
	answer_deinit(&x);

	a = side(20, 30);
	calls(a, 0, "abn", 20, 50);
	answer_init(&x, a, side(20, 30));
	assert_cause(&x, "b", WHY_GONE, "n", -1000);
	assert_says(&x, "no longer calls n (f.c:1): -");
	answer_deinit(&x);

	/* Both recordings also call n by another path through b. */
	a = side(20, 30);
	b = side(20, 30);
	for (int i = 0; i < 2; i++) {
		calls(i ? b : a, 0, "db", 3, 5);
		calls(i ? b : a, 0, "dbn", 6, 5);
	}
	calls(b, 0, "abn", 20, 50);
	answer_init(&x, a, b);
	assert_says(&x, "calls n (f.c:1) on this path on the hardened side only: +1,000 ");
	answer_deinit(&x);

	a = side(20, 30);
	b = side(20, 30);
	calls(a, 0, "abn", 20, 50);
	calls(b, 0, "abm", 20, 5);
	answer_init(&x, a, b);
	assert_says(&x, "no longer calls n (f.c:1), but m: -1,000 ");
	answer_deinit(&x);
}

/* The hardened kernel has a new function between b and its callee c: the new function's own work is the change, c's is not. */
TEST(test_layer_between)
{
	struct profile *b = exact(1);
	struct answer x;

	calls(b, 0, "a", 10, 100);
	calls(b, 0, "ab", 20, 50);
	calls(b, 0, "abn", 20, 7);
	calls(b, 0, "abnc", 20, 30);
	answer_init(&x, side(20, 30), b);
	assert_cause(&x, "b", WHY_NEW, "n", 140);
	assert_int_equal(causes(&x)->n_items, 1);
	answer_deinit(&x);
}

/* Two new layers, one below the other: callees moved below the first are found below the second. */
TEST(test_layers_between)
{
	struct profile *a = exact(1), *b = exact(1);
	struct answer x;

	calls(a, 0, "a", 10, 100);
	calls(a, 0, "ac", 20, 50);
	calls(a, 0, "acd", 20, 30);
	calls(b, 0, "a", 10, 100);
	calls(b, 0, "an", 20, 7);
	calls(b, 0, "anc", 20, 50);
	calls(b, 0, "ancm", 20, 5);
	calls(b, 0, "ancmd", 20, 30);
	answer_init(&x, a, b);
	assert_cause(&x, "a", WHY_NEW, "n", 140);
	assert_int_equal(causes(&x)->n_items, 2);
	assert_string_equal(causes(&x)->items[1].name, "c");
	answer_deinit(&x);
}

static void insns_of(struct profile *p, uint32_t *locations, uint32_t n, uint64_t count)
{
	profile_sample_add(p, &(struct profile_sample){ .context = profile_context_add(p, "X"),
							.stack = profile_stack_add(p, locations, n),
							.count = count });
}

/* Add N calls of b from LINE of a, with INSNS each. INLINED: b is inlined into a, and its callee c executes the instructions. */
static void calls_from(struct profile *p, uint32_t line, uint64_t n, uint64_t insns, bool inlined)
{
	const struct profile_frame body = { .name = "b", .line = 1, .inlined = true };
	uint32_t c = location(p, 'c', 1), a = location(p, 'a', line), b = location(p, 'b', 1);
	uint32_t at = profile_location_add(p, (uint64_t)'b' << 16 | line, NULL);
	struct profile_edge edge = { .context = profile_context_add(p, "X"), .calls = n };
	uint32_t called[] = { b, a };

	if (inlined) {
		profile_location_frame_add(p, at, &body);
		profile_location_frame_add(p, at, p->locations[a].frames);
		edge.stack = profile_stack_add(p, &at, 1);
		profile_executions_add(p, &edge);
		called[0] = c;
		called[1] = at;
	}
	edge.stack = profile_stack_add(p, called, 2);
	profile_edge_add(p, &edge);
	insns_of(p, called, 2, n * insns);
}

/* The baseline calls c through b once, the hardened kernel calls c from a in each call: another path to c, not a layer. */
static void check_path_between(bool inlined)
{
	struct profile *p[] = { exact(1), exact(1) };
	struct answer x;

	for (int i = 0; i < 2; i++)
		calls(p[i], 0, "a", 10, 100);
	if (inlined) {
		calls_from(p[0], 10, 1, 30, true);
	} else {
		calls(p[0], 0, "ab", 1, 7);
		calls(p[0], 0, "abc", 1, 30);
	}
	calls(p[1], 0, "ac", 10, 30);
	answer_init(&x, p[0], p[1]);
	assert_cause(&x, "a", WHY_NEW, "c", 300);
	assert_says(&x, "calls c (f.c:1) on the hardened side only");
	answer_deinit(&x);
}

TEST(test_path_between)
{
	check_path_between(false);
	check_path_between(true);
}

/* If only one kernel makes calls from a line, these count with their own cost, whatever calls from other lines cost. */
static void check_other_place(bool inlined, bool gone, uint64_t insns, const char *says)
{
	struct profile *p[] = { exact(1), exact(1) };
	double delta = (gone ? -300.0 : 300.0) * (double)insns;
	struct answer x;

	for (int i = 0; i < 2; i++) {
		uint32_t moved = i == gone ? 0 : 2; /* the patch shifts line numbers */

		calls(p[i], 0, "a", 10, 100);
		calls_from(p[i], 10 + moved, 20, 50, inlined);
		calls_from(p[i], 11 + moved, 20, 70, inlined);
	}
	calls_from(p[!gone], 9, 300, insns, inlined);
	answer_init(&x, p[0], p[1]);
	assert_cause(&x, "a", WHY_OFTEN, "b", delta);
	assert_int_equal(causes(&x)->n_items, 1);
	assert_says(&x, says);
	answer_deinit(&x);
}

TEST(test_other_place)
{
	check_other_place(false, false, 30,
			  "which calls b 340 times per run instead of 40, also at f.c:9: +9,000 ");
	check_other_place(false, false, 90,
			  "which calls b 340 times per run instead of 40, also at f.c:9: +27,000 ");
	check_other_place(
		false, true, 30,
		"which calls b 40 times per run instead of 340, no longer at f.c:9: -9,000 ");
	check_other_place(
		true, false, 30,
		"which executes b (inlined) 340 times per run instead of 40, also at f.c:9: +9,000 ");
}

/*
 * a calls b more often, with less work per call, so b and c are no causes. c is a cause only if its total is outside the range from
 * the baseline's total to that total times the ratio of b's calls.
 */
TEST(test_pieces)
{
	struct answer x;

	for (int i = 0; i < 3; i++) {
		struct profile *a = side(10, 0), *b = side(40, 0);
		const uint64_t insns[] = { 8000, 50000, 1000 };
		const double of_c[] = { 0, 18000, -7000 }, of_a[] = { 1500, 25500, 1500 };

		insns_at(a, 0, "abc", 1, 8000);
		insns_at(b, 0, "abc", 1, insns[i]);
		answer_init(&x, a, b);
		assert_int_equal(causes(&x)->n_items, 1 + (of_c[i] != 0));
		vec_each(const struct why_cause, cause, causes(&x), items)
			assert_true(cause->delta == (*cause->name == 'a' ? of_a : of_c)[i]);
		answer_deinit(&x);
	}
}

/* Two lines call b, each twice as often in the hardened kernel. All calls of b change equally, so the text names no line. */
TEST(test_same_places)
{
	struct profile *p[] = { exact(1), exact(1) };
	struct answer x;

	for (uint64_t i = 0; i < 2; i++) {
		calls(p[i], 0, "a", 10, 100);
		calls_from(p[i], 10, 20 << i, 50, false);
		calls_from(p[i], 11, 40 << i, 70, false);
	}
	answer_init(&x, p[0], p[1]);
	assert_cause(&x, "a", WHY_OFTEN, "b", 3800);
	assert_int_equal(causes(&x)->n_items, 1);
	assert_null(strstr(x.text, " at f.c:1"));
	answer_deinit(&x);
}

/* Code that compilers add to all functions is reported as spread, not for one function. */
TEST(test_spread)
{
	struct profile *a = exact(2), *b = exact(2);
	struct answer x;

	for (uint32_t run = 0; run < 2; run++) {
		for (const char *f = "abcdefgh"; *f; f++) {
			const char path[] = { *f, '\0' }, callee[] = { *f, 't', '\0' };

			calls(a, run, path, 10, 100);
			calls(b, run, path, 10, 100);
			calls(b, run, callee, 10, 3);
		}
	}
	answer_init(&x, a, b);
	assert_says(&x, "100 % of it is spread over 8 functions, which call t on the hardened side "
			"only: +240 instructions per run; the largest part, 12 %, is in ");
	answer_deinit(&x);
}

/* If two functions share a difference that is small compared with their other differences, it is not reported as spread. */
TEST(test_no_spread)
{
	struct profile *a = exact(1), *b = exact(1);
	struct answer x;

	calls(a, 0, "a", 10, 100);
	calls(a, 0, "b", 10, 100);
	calls(b, 0, "a", 10, 900);
	calls(b, 0, "b", 10, 200);
	calls(b, 0, "at", 10, 3);
	calls(b, 0, "bt", 10, 3);
	answer_init(&x, a, b);
	assert_says(&x, "89 % of it is in a, which ");
	answer_deinit(&x);
}

/* b's own work takes MORE instructions per call in each recording's second run, and DELTA more in the hardened kernel. */
static void varied(struct answer *x, uint64_t more, uint64_t delta)
{
	struct profile *p[2];

	for (uint64_t i = 0; i < 2; i++) {
		p[i] = exact(2);
		profile_env_set(p[i], PROFILE_ENV_CMDLINE, i ? "init_on_free=1" : "init_on_free=0");
		profile_env_set(p[i], PROFILE_ENV_CONFIG, "CONFIG_SMP=y\n");
		for (uint32_t run = 0; run < 2; run++) {
			calls(p[i], run, "a", 10, 1000);
			calls(p[i], run, "ab", 10, 500 + run * more + i * delta);
		}
	}
	answer_init(x, p[0], p[1]);
}

TEST(test_how_sure)
{
	struct answer x;

	varied(&x, 4, 300);
	assert_int_equal(x.why.contexts[0].sureness, WHY_SURE);
	assert_true(x.why.contexts[0].causes.items[0].significance.ci.low > 0);
	assert_int_equal(strncmp(x.text, "X is ", 5), 0);
	assert_says(&x, "The only protection that differs between the sides is init_on_free.");
	answer_deinit(&x);
	varied(&x, 50, 100);
	assert_int_equal(x.why.contexts[0].sureness, WHY_LIKELY);
	assert_int_equal(strncmp(x.text, "Most likely, X is", 17), 0);
	assert_says(&x, "Comparing a kernel with itself shows as much in ");
	answer_deinit(&x);
	varied(&x, 500, 100);
	assert_int_equal(x.why.contexts[0].sureness, WHY_CHANCE);
	assert_int_equal(strncmp(x.text, "No significant change: ", 23), 0);
	answer_deinit(&x);
}

/*
 * From run to run, each call of a varies by SPREAD instructions, and each call of its callee b by B. In the hardened kernel b
 * takes MORE instructions.
 */
static void small_sides(struct profile *p[2], uint64_t spread, uint64_t more, uint64_t b)
{
	for (uint64_t i = 0; i < 2; i++) {
		p[i] = exact(3);
		for (uint32_t run = 0; run < 3; run++) {
			calls(p[i], run, "a", 10, 1000000 + (i + run) % 3 * spread);
			calls(p[i], run, "ab", 10, 100 + i * more + (i + run) % 3 * b);
		}
	}
}

static void small_answer(struct answer *x, struct profile *p[2], bool other_code)
{
	answer_init(x, p[0], p[1]);
	vec_each(struct why_context, c, &x->why, contexts)
		vec_each(struct why_cause, cause, &c->causes, items)
			cause->other_code = other_code && !strcmp(cause->name, "b");
	why_find_certain(&x->why);
	free(x->text);
	x->text = view_why(&x->why, &x->why.contexts[0]);
}

static void small(struct answer *x, uint64_t spread, uint64_t more, uint64_t b, bool other_code)
{
	struct profile *p[2];

	small_sides(p, spread, more, b);
	small_answer(x, p, other_code);
}

/* A change of any size is reported if it is significant and its code is known to differ. */
TEST(test_small)
{
	struct answer x;

	small(&x, 1300, 3000, 0, true);
	assert_string_equal(causes(&x)->items[0].name, "b");
	assert_int_equal(x.why.contexts[0].sureness, WHY_SURE);
	assert_int_equal(x.why.contexts[0].changed, WHY_CHANCE);
	assert_says(&x, ").\n  A significant change is in b (via a), ");
	assert_says(&x, "X shows no significant change (+0.30 %, +3,000 instructions per call");
	assert_says(&x, ": +30,000 instructions per run.");
	assert_says(&x, "; 95 % interval: -1,822 to +61,822 instructions per run).");
	answer_deinit(&x);
	/* With a small spread of a, X's change is significant and explained. */
	small(&x, 50, 3000, 0, true);
	assert_says(&x, "X is 0.30 % slower (+3,000 instructions per call, ");
	assert_says(&x, "100 % of it is in b (via a), ");
	answer_deinit(&x);
	/* Code that is the same, or that varies, is not named. */
	small(&x, 1300, 3000, 0, false);
	assert_int_equal(
		strncmp(x.text, "No significant change: X differs most (+0.30 %, +3,000 ", 54), 0);
	assert_says(&x, "; 95 % interval: -1,822 to +61,822 instructions per run).");
	answer_deinit(&x);
	small(&x, 1300, 3000, 3000, true);
	assert_int_equal(strncmp(x.text, "No significant change: X", 24), 0);
	answer_deinit(&x);
}

/* An insignificant change of X is not claimed, but its significant cause is, before smaller contexts. */
TEST(test_surer_cause)
{
	struct profile *p[2];
	struct answer x;

	small_sides(p, 6000, 10000, 0);
	for (uint32_t i = 0; i < 2; i++) {
		for (uint32_t run = 0; run < 3; run++) {
			struct profile_sample other = { .run = run, .stack = stack(p[i], "t", 1) };

			other.context = profile_context_add(p[i], "Y");
			other.count = 20000 + 5000 * i + 10 * run;
			profile_sample_add(p[i], &other);
			other.context = profile_context_add(p[i], "Z");
			other.count = 20000 + 10 * run;
			profile_sample_add(p[i], &other);
		}
	}
	small_answer(&x, p, true);
	assert_string_equal(x.why.contexts[0].name, "X");
	assert_int_equal(x.why.contexts[0].sureness, WHY_SURE);
	assert_int_equal(x.why.contexts[0].changed, WHY_LIKELY);
	assert_int_equal(x.why.contexts[1].changed, WHY_SURE);
	assert_says(&x, ").\n  A significant change is in b (via a), ");
	assert_says(&x, "X shows no significant change (+0.99 %, ");
	assert_says(&x, "; 95 % interval: -94,038 to +294,038 instructions per run).");
	answer_deinit(&x);
}

/* A context without counted calls has no figures per call: the number of the cause's calls is shown instead. */
TEST(test_calls_of_cause)
{
	struct profile *p[] = { side(20, 30), side(20, 40) };
	struct answer x;

	for (int i = 0; i < 2; i++)
		profile_cell(p[i], 0, 0, profile_context_add(p[i], "X"))->calls = 0;
	answer_init(&x, p[0], p[1]);
	assert_says(&x, "in c (called 20 times per run, via a and b), which ");
	answer_deinit(&x);
}

/* The change of c is larger than the whole change, because d takes less. */
TEST(test_rest)
{
	struct profile *a = side(20, 300), *b = side(20, 330);
	struct answer x;

	calls(a, 0, "ad", 10, 100);
	calls(b, 0, "ad", 10, 90);
	answer_init(&x, a, b);
	assert_says(&x, "\n  A change is in c (via a and b), ");
	assert_says(&x, ": +600 instructions per run.");
	answer_deinit(&x);
}

/* Return the location of BODY, inlined into FUNCTION. */
static uint32_t body(struct profile *p, const char *body, const char *function)
{
	uint32_t l = profile_location_add(p, 1 << 30, NULL);

	if (!p->locations[l].n_frames) {
		profile_location_frame_add(
			p, l, &(struct profile_frame){ .name = body, .line = 1, .inlined = true });
		profile_location_frame_add(p, l,
					   &(struct profile_frame){ .name = function, .line = 1 });
	}
	return l;
}

/* A function inlined in one kernel and called in the other is the same function, and not a cause. */
TEST(test_inlining)
{
	struct profile *b = exact(1);
	struct answer x;

	calls(b, 0, "a", 10, 100);
	calls(b, 0, "ab", 20, 50);
	insns_of(b, (uint32_t[]){ body(b, "c", "b"), location(b, 'a', 1) }, 2, 600);
	answer_init(&x, side(20, 30), b);
	assert_int_equal(causes(&x)->n_items, 0);
	assert_says(&x, "No significant change");
	answer_deinit(&x);
}

/* A call in an inlined function in one kernel, and in the function around it in the other, is the same call. */
TEST(test_call_of_body)
{
	for (int of_body = 0; of_body < 2; of_body++) {
		struct profile *p[] = { side(20, 30), side(20, 30) };
		struct answer x;

		(void)state;
		for (int i = 0; i < 2; i++) {
			uint32_t at[] = { location(p[i], 'd', 1), body(p[i], "i", "b"),
					  location(p[i], 'a', 1) };
			uint32_t around[] = { at[0], location(p[i], 'b', 1), at[2] };

			insns_of(p[i], at + 1, 2, 40);
			insns_of(p[i], i == of_body ? at : around, 3, i ? 600 : 500);
		}
		answer_init(&x, p[0], p[1]);
		assert_cause(&x, "d", WHY_SELF, "d", 100);
		assert_int_equal(causes(&x)->n_items, 1);
		answer_deinit(&x);
	}
}

/* Add TIMES executions of LINE of i, which is inlined into b, with 10 instructions each. */
static void executed_in_body(struct profile *p, uint32_t line, uint64_t times)
{
	uint32_t l = profile_location_add(p, (1 << 30) + line, NULL);
	struct profile_edge executions = { .context = profile_context_add(p, "X"), .calls = times };

	profile_location_frame_add(
		p, l,
		&(struct profile_frame){
			.name = "i", .file = "f.c", .line = line, .inlined = true });
	profile_location_frame_add(
		p, l, &(struct profile_frame){ .name = "b", .file = "f.c", .line = 1 });
	executions.stack = profile_stack_add(p, (uint32_t[]){ l, location(p, 'a', 1) }, 2);
	profile_executions_add(p, &executions);
	insns_of(p, (uint32_t[]){ l, location(p, 'a', 1) }, 2, times * 10);
}

/* b executes the inlined function i more often. The lines of i are matched although a patch moved them. */
TEST(test_body_often)
{
	struct answer x;

	for (uint32_t n = 2; n <= 3; n++) {
		struct profile *a = side(20, 30), *b = side(20, 30);

		for (uint32_t line = 1; line <= 2; line++)
			executed_in_body(a, line, 20);
		for (uint32_t line = 2; line < 2 + n; line++)
			executed_in_body(b, line, 200);
		answer_init(&x, a, b);
		if (n == 2) {
			assert_cause(&x, "b", WHY_OFTEN, "i", 3600);
			assert_says(&x, "executes i (inlined, f.c:2-3) 10 times as often");
		} else {
			assert_cause(&x, "i", WHY_SELF, "i", 5600);
		}
		answer_deinit(&x);
	}
}

TEST(test_cancelling)
{
	struct profile *a = side(20, 30), *b = side(20, 40);
	struct answer x;

	calls(a, 0, "d", 10, 60);
	calls(b, 0, "d", 10, 40);
	answer_init(&x, a, b);
	assert_true(x.why.contexts[0].delta == 0);
	assert_says(&x, "X shows no significant change (0.00 %, ");
	assert_says(&x, "\n  Most likely, a change is in c (via a and b), ");
	assert_says(&x, "\n  Most likely, another is in d, ");
	answer_deinit(&x);
}

/* A difference between two runs of one kernel is not a cause, whatever its size. */
TEST(test_noise)
{
	struct profile *p[2];
	struct answer x;

	for (int i = 0; i < 2; i++) {
		p[i] = exact(2);
		for (uint32_t run = 0; run < 2; run++) {
			calls(p[i], run, "a", 10, 100);
			calls(p[i], run, "ab", run == 1 || i == 1 ? 90 : 30, 50);
			calls(p[i], run, "ac", 10, i ? 55 : 50);
		}
	}
	answer_init(&x, p[0], p[1]);
	assert_true(x.why.tree.has_noise);
	assert_false(x.why.contexts[0].changed);
	assert_true(why_is_named(&x.why.contexts[0], 0) == false);
	answer_deinit(&x);
}

/* Lines after a patch are matched with their old numbers. */
TEST(test_lines)
{
	struct profile *a = side(20, 0), *b = side(20, 0);
	struct tree_line_changes changes;
	struct tree_lines lines;
	struct answer x;

	for (uint32_t line = 10; line < 15; line++) {
		insns_at(a, 0, "ae", line, 10 * line);
		insns_at(b, 0, "ae", line < 12 ? line : line + 3, 10 * line);
	}
	insns_at(b, 0, "ae", 12, 700);
	insns_at(b, 0, "ae", 14, 300);
	answer_init(&x, a, b);
	assert_cause(&x, "e", WHY_SELF, "e", 1000);
	lines = tree_lines_find(&x.why.pair,
				causes(&x)->parts[causes(&x)->items[0].first_part].node, 1);
	assert_int_equal(lines.kind, TREE_LINES_ADDED);
	assert_int_equal(lines.first, 12);
	assert_int_equal(lines.last, 14);
	assert_says(&x, "which executes additional code at f.c:12-14");
	tree_line_changes_init(&changes, &x.why.pair, x.why.contexts[0].node, why_is_of_command);
	assert_int_equal(changes.n_items, 2);
	assert_string_equal(changes.items[0].name, "e");
	assert_int_equal(changes.items[0].number, 12);
	assert_true(changes.items[0].insns[0] == 0 && changes.items[0].insns[1] == 700);
	assert_int_equal(changes.items[1].number, 14);
	tree_line_changes_deinit(&changes);
	answer_deinit(&x);
}

/* Add TIMES executions of LINE of e, called by a, with INSNS instructions each. */
static void executed(struct profile *p, uint32_t line, uint64_t times, uint64_t insns)
{
	const struct profile_edge executions = { .context = profile_context_add(p, "X"),
						 .stack = stack(p, "ae", line),
						 .calls = times };

	profile_executions_add(p, &executions);
	insns_at(p, 0, "ae", line, times * insns);
}

/* Both recordings call e ten times, and execute its line 10 once per call. */
static void begin_loop(struct profile *side[2])
{
	for (int i = 0; i < 2; i++) {
		side[i] = exact(1);
		calls(side[i], 0, "a", 10, 100);
		calls(side[i], 0, "ae", 10, 100);
		executed(side[i], 10, 10, 7);
	}
}

static void end_loop(struct profile *side[2], const char *what)
{
	struct answer x;

	answer_init(&x, side[0], side[1]);
	assert_says(&x, what);
	answer_deinit(&x);
}

/* Report loop iterations per call, and the share of calls that take a path. */
TEST(test_loop)
{
	struct profile *side[2];

	begin_loop(side);
	for (uint32_t line = 11; line < 14; line++) {
		executed(side[0], line, 300, line);
		executed(side[1], line + 1, 600, line);
	}
	end_loop(
		side,
		"which executes f.c:12-14 2 times as often, in a loop with 60 iterations per call instead of 30");

	begin_loop(side);
	executed(side[1], 11, 200, 9);
	end_loop(side,
		 "which executes additional code at f.c:11, a loop with 20 iterations per call: +");

	begin_loop(side);
	executed(side[0], 11, 200, 3);
	executed(side[1], 11, 200, 3);
	executed(side[1], 12, 200, 9);
	end_loop(
		side,
		"which executes additional code at f.c:12, in a loop with 20 iterations per call: +");

	begin_loop(side);
	executed(side[0], 11, 9, 50);
	executed(side[1], 11, 1, 50);
	executed(side[0], 12, 1, 900);
	executed(side[1], 12, 9, 900);
	end_loop(side, "which executes f.c:12 differently, in 90 % of calls instead of 10 %: +");

	/* A recursive function executes a line often without a loop. */
	begin_loop(side);
	insns_at(side[1], 0, "aee", 11, 9);
	executed(side[1], 11, 200, 9);
	end_loop(side, "which executes additional code at f.c:11: +");
}

/* Instructions of a context outside of all functions have no caller that could belong to a protection. */
TEST(test_context_itself)
{
	const struct why_causes *c;
	struct answer x;
	struct profile *p[2];

	for (int i = 0; i < 2; i++) {
		p[i] = side(20, 10);
		insns_at(p[i], 0, "", 0, 1000 + 5000 * (uint64_t)i);
	}
	answer_init(&x, p[0], p[1]);
	c = causes(&x);
	assert_string_equal(c->items[0].name, "X");
	assert_null(why_owner(&x.why.switched, &x.why.pair, &c->parts[c->items[0].first_part]));
	answer_deinit(&x);
}

/* A protection that is off in both kernels does not own a cause in code that it shares with other features. */
TEST(test_owner)
{
	for (int off = 0; off < 2; off++) {
		struct profile *p[] = { exact(1), exact(1) };
		const struct catalogue_protection *owner;
		const struct why_causes *c;
		struct answer x;

		for (uint64_t i = 0; i < 2; i++) {
			uint32_t at[] = { body(p[i], "slab_post_alloc_hook", "b"),
					  location(p[i], 'a', 1) };

			profile_env_set(p[i], PROFILE_ENV_CONFIG, off ? "CONFIG_SMP=y\n" : NULL);
			insns_of(p[i], at, 2, 100 + 900 * i);
		}
		answer_init(&x, p[0], p[1]);
		c = causes(&x);
		owner = why_owner(&x.why.switched, &x.why.pair, &c->parts[c->items[0].first_part]);
		assert_int_equal(!owner, off);
		answer_deinit(&x);
	}
}

/* Create 400 functions that call each other, with samples at each depth. WRAPPED: each is inlined into another function. */
static struct profile *layers(bool wrapped)
{
	struct profile *p = exact(1);
	uint32_t at[400];

	for (uint32_t i = 0; i < 400; i++) {
		char name[32];

		at[i] = profile_location_add(p, i, NULL);
		for (int layer = 0; layer <= wrapped; layer++) {
			snprintf(name, sizeof(name), "%c%u", layer ? 'w' : 'f', i);
			profile_location_frame_add(
				p, at[i],
				&(struct profile_frame){ .name = name,
							 .inlined = wrapped && !layer });
		}
		profile_sample_add(
			p, &(struct profile_sample){ .stack = profile_stack_add(p, at, i + 1),
						     .count = 1 });
	}
	profile_edge_add(p, &(struct profile_edge){ .stack = 0, .calls = 1 });
	return p;
}

TEST(test_layers)
{
	struct answer x;

	answer_init(&x, layers(false), layers(true));
	assert_true(x.why.pair.n_nodes <= x.why.tree.max_nodes + 1000);
	answer_deinit(&x);
}

static void read_patch(struct why_patches *p, char path[], const char *text)
{
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
	assert_int_equal(why_patches_add(p, path), 0);
	unlink(path);
}

/* Line numbers are those of the source with all patches applied: a later patch shifts the lines of an earlier patch. */
TEST(test_patches)
{
	char first[] = "/tmp/first.XXXXXX", second[] = "/tmp/second.XXXXXX";
	struct why_patches p = {};

	read_patch(&p, first,
		   "Of --- a/x and +++ b/x.\n--- a/f.c\n+++ b/f.c\n"
		   "@@ -10,4 +10,5 @@ f()\n a\n+b\n+--- c\n d\n-e\n f\n"
		   "@@ -30,2 +31,1 @@\n-x\n y\n"
		   "--- a/gone.c\t2026\n+++ /dev/null\n@@ -1 +0,0 @@\n-z\n");
	assert_int_equal(p.n_items, 3);
	assert_string_equal(p.items[0].file, "f.c");
	assert_int_equal(p.items[0].first, 11);
	assert_int_equal(p.items[0].last, 12);
	assert_int_equal(p.items[1].first, 14);
	assert_int_equal(p.items[2].first, 31);
	read_patch(&p, second,
		   "--- a/f.c\t2026\n+++ b/f.c\t2026\n@@ -20,1 +20,3 @@\n a\n+b\n+c\n"
		   "\\ No newline at end of file\n");
	assert_int_equal(p.n_items, 4);
	assert_int_equal(p.items[1].first, 14);
	assert_int_equal(p.items[2].first, 33);
	assert_int_equal(p.items[3].first, 21);
	assert_int_equal(p.items[3].last, 22);
	why_patches_deinit(&p);
}

/* If an added line continues a statement, the statement's first line is stored, too. */
TEST(a_patch_changes_the_statement_that_it_is_in)
{
	char path[] = "/tmp/patch.XXXXXX";
	struct why_patches p = {};

	read_patch(&p, path,
		   "+++ b/f.c\n@@ -10,5 +10,6 @@\n a;\n return b &&\n-	c;\n+	d &&\n+	e;\n }\n");
	assert_int_equal(p.n_items, 1);
	assert_int_equal(p.items[0].first, 12);
	assert_int_equal(p.items[0].last, 13);
	assert_int_equal(p.items[0].statement, 11);
	assert_int_equal(p.items[0].was_statement, 11);
	assert_int_equal(p.items[0].was_last, 12);
	why_patches_deinit(&p);
}

/* The function of a changed line is in the hunk header, or begins in the hunk. Lines after its end or in a struct have none. */
TEST(a_patch_names_functions)
{
	static const char *const names[] = { "first", "second", "__do_sys_poll" };
	char path[] = "/tmp/patch.XXXXXX";
	struct why_patches p = {};

	read_patch(
		&p, path,
		"+++ b/f.c\n@@ -10,1 +10,2 @@ static int first(struct s *a,\n a = b(c);\n+d;\n"
		"@@ -20,3 +21,4 @@ int first(void)\n int n = f(1);\n void *second(int c)\n {\n+d;\n"
		"@@ -30,1 +32,2 @@ SYSCALL_DEFINE3(poll, int, a)\n out:\n+d;\n"
		"@@ -40,3 +43,4 @@ int last(void)\n a = 1;\n }\n \n+int d;\n"
		"@@ -50,1 +54,2 @@ struct s {\n int a;\n+int d;\n"
		"+++ b/g.c\n@@ -1,1 +1,2 @@\n a\n+d;\n");
	assert_int_equal(p.n_items, 6);
	for (uint32_t i = 0; i < 3; i++)
		assert_string_equal(p.items[i].function, names[i]);
	for (uint32_t i = 3; i < 6; i++)
		assert_null(p.items[i].function);
	why_patches_deinit(&p);
}

static void assert_patched(struct answer *x, const char *patch, const char *says)
{
	char path[] = "/tmp/patch.XXXXXX";

	read_patch(&x->why.patches, path, patch);
	free(x->text);
	x->text = view_why(&x->why, &x->why.contexts[0]);
	assert_says(x, says);
	why_patches_deinit(&x->why.patches);
}

/* An inlined function belongs to the function around it, whatever its source file. A changed caller of unchanged code is named. */
TEST(test_patched)
{
	struct profile *p[] = { exact(1), exact(1) };
	struct answer x;

	for (uint64_t i = 0; i < 2; i++) {
		uint32_t at[] = { body(p[i], "i", "c"), location(p[i], 'a', 1) };

		calls(p[i], 0, "a", 10, 100);
		insns_at(p[i], 0, "ac", 50, 100 + 900 * i);
		insns_of(p[i], at, 2, 40);
		p[i]->locations[at[0]].frames[0].file = "g.h";
	}
	answer_init(&x, p[0], p[1]);
	assert_cause(&x, "c", WHY_SELF, "c", 900);
	x.why.contexts[0].causes.items[0].other_code = true;
	assert_patched(&x, "+++ b/g.h\n@@ -1,1 +1,1 @@\n-a\n+b\n", " changes g.h:1.");
	assert_patched(&x, "+++ b/f.c\n@@ -1,1 +1,1 @@\n-a\n+b\n", "; no line of it was patched: ");
	x.why.contexts[0].causes.items[0].other_code = false;
	x.why.contexts[0].causes.items[0].caller = "a";
	assert_patched(&x, "", "; the code of its caller a differs.");
	x.why.contexts[0].causes.items[0].caller = NULL;
	why_compare_code(&x.why, NULL);
	assert_patched(&x, "+++ b/f.c\n@@ -1,1 +1,1 @@\n-a\n+b\n", " changes f.c:1 in a.");
	answer_deinit(&x);
}

/*
 * Check which functions are chosen to be timed if the cause is c, which a calls through b. In addition d calls b MORE times. If b
 * is called much more often than c, b is left out.
 */
static void check_probed(uint64_t more, const char *expected)
{
	const char *names[WHY_PROBED];
	char probed[WHY_PROBED + 1] = "";
	struct profile *sides[] = { side(20, 30), side(20, 40) };
	struct answer x;
	uint32_t n;

	for (int i = 0; i < 2; i++)
		calls(sides[i], 0, "db", more, 50);
	answer_init(&x, sides[0], sides[1]);
	n = why_probed_functions(&x.why.pair, &x.why.contexts[0], names);
	for (uint32_t i = 0; i < n; i++)
		probed[i] = names[i][0];
	assert_string_equal(probed, expected);
	answer_deinit(&x);
}

TEST(test_probed)
{
	check_probed(20, "cba");
	check_probed(21, "ca");
}

static const struct why_context *find(const struct answer *x, const char *name)
{
	vec_each(const struct why_context, c, &x->why, contexts)
		if (!strcmp(c->name, name))
			return c;
	return NULL;
}

/* Check that the text about the whole command contains WHAT. */
static void assert_command_says(const struct answer *x, const char *what)
{
	scoped_free char *text = view_why(&x->why, &x->why.command);

	if (!strstr(text, what))
		fail_msg("\"%s\" is not in: %s", what, text);
}

/* Create contexts X and Y of three runs, which differ by a few instructions. In each, a calls n with EXTRA instructions. */
static struct profile *two_contexts(uint64_t extra)
{
	static const char *const names[] = { "X", "Y" };
	struct profile *p = exact(3);

	for (uint32_t run = 0; run < 3; run++)
		for (int i = 0; i < 2; i++) {
			now_in = names[i];
			profile_cell(p, run, 0, profile_context_add(p, now_in))->calls = 10;
			calls(p, run, "a", 10, 10000);
			insns_at(p, run, "a", 1, run);
			if (extra)
				calls(p, run, "an", 10, extra);
		}
	now_in = "X";
	return p;
}

TEST(a_cause_in_two_contexts_is_one)
{
	struct answer x;

	answer_init(&x, two_contexts(0), two_contexts(200));
	assert_int_equal(x.why.command.sureness, WHY_SURE);
	assert_int_equal(x.why.command.delta, 4000);
	assert_command_says(
		&x, "the command takes 2.00 % more CPU time (+4,000 instructions per run, ");
	assert_command_says(
		&x,
		"; 3 runs per side).\n  100 % of it is in a, which calls n (f.c:1) on "
		"the hardened side only: +4,000 instructions per run; 50 % of this in X (+2.00 %), 50 % in Y (+2.00 %).");
	answer_deinit(&x);
}

/* Interrupts are no part of the command's time. */
TEST(interrupts_are_not_the_command)
{
	struct profile *sides[] = { two_contexts(0), two_contexts(0) };
	struct answer x;

	now_in = "[irq]";
	for (uint32_t run = 0; run < 3; run++)
		calls(sides[1], run, "t", 10, 5000);
	now_in = "X";
	answer_init(&x, sides[0], sides[1]);
	assert_int_equal(x.why.command.delta, 0);
	assert_command_says(&x, "the command takes the same CPU time (");
	assert_command_says(&x, "\nNot included: [irq] (interrupts, +50,000 ");
	answer_deinit(&x);
}

/*
 * One of three runs has more interrupts, perhaps by chance. Interrupts are named nevertheless, for readers who compare CPU times.
 */
TEST(interrupts_that_are_not_certain_are_named)
{
	struct profile *sides[] = { two_contexts(0), two_contexts(200) };
	struct answer x;

	now_in = "[irq]";
	calls(sides[1], 0, "t", 10, 1000);
	now_in = "X";
	answer_init(&x, sides[0], sides[1]);
	assert_command_says(
		&x,
		"\nNot included: [irq] (interrupts, +3,333 instructions per run, which is not certain).");
	answer_deinit(&x);
}

/* One of three runs takes longer in u. This may be chance, so u is no cause. It is named because its change is larger. */
TEST(a_larger_change_that_is_not_certain_is_named)
{
	struct profile *sides[] = { two_contexts(0), two_contexts(200) };
	struct answer x;

	for (int i = 0; i < 2; i++)
		for (uint32_t run = 0; run < 3; run++) {
			now_in = "Z";
			profile_cell(sides[i], run, 0, profile_context_add(sides[i], now_in))
				->calls = 10;
			calls(sides[i], run, "u", 10, i && run == 2 ? 4000 : 1000);
		}
	now_in = "X";
	answer_init(&x, sides[0], sides[1]);
	assert_command_says(
		&x, ".\n  A larger change, in u (+10,000 instructions per run), is not certain.");
	answer_deinit(&x);
}

/*
 * The baseline calls f in Y, the hardened kernel calls f in X. The work of f is not a change; only the other work of X and Y is.
 */
TEST(work_that_moves_is_netted)
{
	struct profile *sides[] = { two_contexts(0), two_contexts(0) };
	const struct why_context *c;
	struct answer x;

	for (int i = 0; i < 2; i++)
		for (uint32_t run = 0; run < 3; run++) {
			now_in = i ? "X" : "Y";
			calls(sides[i], run, i ? "am" : "aw", 10, i ? 20 : 300);
			calls(sides[i], run, i ? "amf" : "awf", 10, 5000);
			calls(sides[i], run, i ? "amfg" : "awfg", 20, 100);
		}
	now_in = "X";
	answer_init(&x, sides[0], sides[1]);
	assert_int_equal(x.why.command.delta, -2800);
	assert_int_equal(x.why.pair.n_moves, 1);
	assert_command_says(&x, "the command takes 1.10 % less CPU time (-2,800 ");
	assert_command_says(&x, "\nf moved from Y to X, with 52,000 instructions per run.");
	assert_command_says(&x, "100 % of it is in a, which no longer calls w (f.c:1): -3,000 ");
	c = find(&x, "X");
	assert_int_equal(c->delta, 52200);
	assert_int_equal(c->moved, 52000);
	assert_int_equal(why_caused(c), 200);
	assert_int_equal(find(&x, "Y")->delta, -55000);
	answer_deinit(&x);
}

/* In X and in Y, f has other callers in the hardened kernel. No work has moved between X and Y. */
TEST(work_below_other_callers_stays)
{
	static const char *const contexts[] = { "X", "Y" };
	struct profile *sides[] = { two_contexts(0), two_contexts(0) };
	struct answer x;

	for (int i = 0; i < 2; i++)
		for (uint32_t run = 0; run < 3; run++)
			for (int k = 0; k < 2; k++) {
				now_in = contexts[k];
				calls(sides[i], run, i ? "am" : "aw", 10, 20);
				calls(sides[i], run, i ? "amv" : "awu", 10, 20);
				calls(sides[i], run, i ? "amvf" : "awuf", 10, 5000);
			}
	now_in = "X";
	answer_init(&x, sides[0], sides[1]);
	assert_int_equal(x.why.pair.n_moves, 0);
	answer_deinit(&x);
}

/* A small cause in lines of a patch comes before a larger cause in other lines. */
TEST(lines_of_a_patch_come_first)
{
	struct profile *sides[] = { two_contexts(0), two_contexts(200) };
	char path[] = "/tmp/patch.XXXXXX";
	struct why_patches patches = {};
	struct answer x;

	for (int i = 0; i < 2; i++)
		for (uint32_t run = 0; run < 3; run++)
			calls(sides[i], run, "p", 10, i ? 1020 : 1000);
	answer_init(&x, sides[0], sides[1]);
	read_patch(&patches, path, "+++ b/f.c\n@@ -1,1 +1,1 @@\n-a\n+b\n");
	assert_string_equal(x.why.command.causes.items[0].name, "a");
	for (uint32_t i = 0; i < x.why.pair.n_nodes; i++)
		if (strcmp(x.why.pair.nodes[i].name, "p") != 0)
			x.why.pair.nodes[i].file[1] = "g.c";
	why_set_patches(&x.why, &patches);
	assert_int_equal(patches.n_items, 0);
	assert_string_equal(x.why.command.causes.items[0].name, "p");
	assert_true(x.why.command.causes.items[0].patched);
	assert_false(x.why.command.causes.items[1].patched);
	answer_deinit(&x);
}

RUN_TESTS(NULL, NULL)
