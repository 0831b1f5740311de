// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Explain the difference between two recordings made with probes: the functions and contexts that the answer names, and
 * how certain it is.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "test.h"
#include "analyze/why/why.h"
#include "base/alloc.h"
#include "fixture.h"
#include "view/why.h"

struct answer {
	struct profile *p[2];
	struct analyze_diff diff;
	struct why why;
	char *text;
};

/* Initialize X with the explanation of the difference between A and B, and take ownership of A and B. */
static void answer_init(struct answer *x, struct profile *a, struct profile *b)
{
	const struct analyze_options oncpu = { .time = ANALYZE_TIME_ONCPU };

	*x = (struct answer){ .p = { a, b } };
	assert_true(why_can_tell(a, b));
	assert_int_equal(analyze_diff_init(&x->diff, a, b, &oncpu), 0);
	why_init(&x->why, a, b);
	assert_false(x->why.tree.has_callers);
	why_set_command(&x->why, &x->diff);
	x->text = view_why(&x->why, &x->why.command);
}

static void answer_deinit(struct answer *x)
{
	free(x->text);
	why_deinit(&x->why);
	analyze_diff_deinit(&x->diff);
	profile_destroy(x->p[0]);
	profile_destroy(x->p[1]);
}

/* Check that the answer for A and B contains SAYS, or (NULL) that there is no answer. Free A and B. */
static void check(struct profile *a, struct profile *b, const char *says)
{
	struct answer x;

	answer_init(&x, a, b);
	if (!says)
		assert_null(x.text);
	else if (!x.text || !strstr(x.text, says))
		fail_msg("\"%s\" is not in: %s", says, x.text);
	answer_deinit(&x);
}

/* Create three boots by probes: f is called CALLS times in X and in Y, for SELF ticks each. BODY: ticks of g, inlined into f. */
static struct profile *probed(uint64_t calls, uint64_t self, uint64_t body)
{
	static const char *const names[] = { "X", "Y" };
	struct profile *p = profile_create();
	uint32_t f = fixture_function(p, "f", 0x1000), range = fixture_range(p, "g", NULL, "f", 7);

	p->clock = PROFILE_CLOCK_INSN;
	for (uint32_t run = 0; run < 3; run++) {
		fixture_run(p, run);
		p->runs[run].boot = run;
		for (int i = 0; i < 2; i++) {
			uint32_t context = profile_context_add(p, names[i]);

			fixture_calls(profile_cell(p, run, 0, context), 10, 5000, 5000 + run);
			fixture_calls(profile_cell(p, run, f, context), (uint32_t)calls, self,
				      self);
			if (body)
				fixture_calls(profile_cell(p, run, range, context), 10, body, body);
		}
	}
	return p;
}

static void check_probed_says(struct profile *hardened, const char *says)
{
	check(probed(20, 100, 0), hardened, says);
}

/* A timed function is a cause if its own time or the number of its calls changes. Its changes in all contexts are added up. */
TEST(functions_that_were_timed_are_causes)
{
	check_probed_says(
		probed(20, 150, 0),
		"Syscalls and page faults take 1.92 % more CPU time (+2,000 instructions per run, ");
	check_probed_says(probed(20, 150, 0), "; 3 boots per side).\n  100 % of it is in f (");
	check_probed_says(
		probed(20, 150, 0),
		"100 % of it is in f (+50 instructions per call): +2,000 instructions per "
		"run; 50 % of this in X (+1.92 %), 50 % in Y (+1.92 %).");
	check_probed_says(probed(40, 100, 0),
			  "100 % of it is in f, called 80 times per run instead of 40: +4,000 ");
	check_probed_says(probed(20, 100, 300), "100 % of it is in f, which executes g (inlined) ");
}

/* Recordings by probes have no line numbers, so only a patch can show the changed lines of a function. */
TEST(a_patch_of_a_timed_function_is_named)
{
	char path[] = "/tmp/patch.XXXXXX";
	int fd = mkstemp(path);
	struct why_patches patches = {};
	struct answer x;

	assert_true(dprintf(fd, "+++ b/k/f.c\n@@ -7,1 +7,2 @@ int f(void)\n a;\n+b;\n") > 0);
	close(fd);
	assert_int_equal(why_patches_add(&patches, path), 0);
	answer_init(&x, probed(20, 100, 0), probed(20, 150, 0));
	why_set_patches(&x.why, &patches);
	free(x.text);
	x.text = view_why(&x.why, &x.why.command);
	assert_non_null(strstr(x.text, " changes k/f.c:8."));
	answer_deinit(&x);
	unlink(path);
}

/* A function timed in only one recording is not a cause. */
TEST(functions_that_one_side_timed_are_no_causes)
{
	struct profile *hardened = probed(20, 150, 0);

	hardened->sites[1].name = "h";
	check_probed_says(hardened, "h, not timed on the baseline side: ");
}

/* An inlined function of one kernel only is described as in exact recordings, but in the recording's clock. */
TEST(times_are_in_the_clock_of_the_recording)
{
	struct profile *sides[] = { probed(20, 100, 0), probed(20, 100, 300) };
	struct answer x;

	sides[0]->clock = sides[1]->clock = PROFILE_CLOCK_NS;
	answer_init(&x, sides[0], sides[1]);
	assert_true(x.why.tree.has_noise);
	assert_non_null(strstr(x.text, "executes g (inlined) "));
	assert_non_null(strstr(x.text, ": +6.000 us per run"));
	assert_null(strstr(x.text, "instruction"));
	answer_deinit(&x);
}

/* On a real clock, two recordings made one after the other cannot tell a change of the kernel from a change over time. */
TEST(one_recording_on_a_real_clock_has_no_noise)
{
	struct profile *sides[] = { probed(20, 100, 0), probed(20, 150, 0) };
	struct answer x;

	for (int i = 0; i < 2; i++) {
		sides[i]->clock = PROFILE_CLOCK_NS;
		for (uint32_t run = 0; run < 3; run++)
			sides[i]->runs[run].boot = 0;
	}
	answer_init(&x, sides[0], sides[1]);
	assert_false(x.why.tree.has_noise);
	assert_int_equal(x.why.command.sureness, WHY_LIKELY);
	assert_non_null(strstr(x.text, "Possibly, "));
	assert_non_null(
		strstr(x.text, "This is unclear: recordings of one kernel may differ as much."));
	answer_deinit(&x);
}

/* A change within the spread of one recording's runs may be chance. */
TEST(runs_of_one_recording_tell_chance)
{
	struct profile *sides[2];
	struct answer x;

	for (int i = 0; i < 2; i++) {
		sides[i] = profile_create();
		sides[i]->clock = PROFILE_CLOCK_NS;
		for (uint32_t k = 0; k < 3; k++)
			fixture_calls(profile_cell(sides[i], fixture_run(sides[i], 1), 0,
						   profile_context_add(sides[i], "munmap")),
				      10, 1000 + 900 * k, 1200 + 1000 * k + 500 * (uint64_t)i);
	}
	answer_init(&x, sides[0], sides[1]);
	assert_int_equal(x.why.command.sureness, WHY_CHANCE);
	answer_deinit(&x);
}

static struct profile *run(enum profile_clock clock)
{
	struct profile *p = profile_create();

	p->clock = clock;
	fixture_calibrated(p);
	fixture_run(p, 1);
	return p;
}

/* Add CALLS calls of NAME in CONTEXT to P's run, with own times that rise from FROM to TO. CONTEXT NULL: NAME is a syscall. */
static void add(struct profile *p, const char *name, const char *context, uint32_t calls,
		uint64_t from, uint64_t to)
{
	uint32_t site = context ? fixture_function(p, name, p->n_sites) : 0;

	fixture_calls(profile_cell(p, 0, site, profile_context_add(p, context ?: name)), calls,
		      from, to);
}

/* Create a run of CALLS calls of clone, of TIME instructions each. */
static struct profile *clones(uint32_t calls, uint64_t time)
{
	struct profile *p = run(PROFILE_CLOCK_INSN);

	add(p, "clone", NULL, calls, time, time);
	return p;
}

/* Create a run of 20 calls of clone, with times that rise from FROM to TO. */
static struct profile *spread_clones(enum profile_clock clock, uint64_t from, uint64_t to)
{
	struct profile *p = run(clock);

	add(p, "clone", NULL, 20, from, to);
	return p;
}

TEST(one_run_is_most_likely)
{
	struct profile *a = run(PROFILE_CLOCK_INSN), *b = clones(10, 1000);

	check(clones(10, 1000), clones(10, 1200),
	      "Syscalls and page faults take 20.0 % more CPU time (+2,000 instructions per run; 1 run per "
	      "side).\n  Most likely, 100 % of it is in clone (+200 instructions per call): +2,000 "
	      "instructions per run.\n  Record with --func to see where.");
	check(clones(10, 1000), clones(30, 1001),
	      "is in the command, which calls clone 30 times per run instead of 10: ");
	check(clones(10, 1000), clones(10, 1000), NULL);
	add(a, "exit_group", NULL, 1, 100, 100);
	add(b, "exit_group", NULL, 1, 100, 100);
	check(a, b, "is in the command, which calls clone on the hardened side only: +10,000 ");
}

TEST(the_protection_that_differs_can_be_recorded)
{
	struct profile *a = clones(10, 1000), *b = clones(10, 1200);

	profile_env_set(a, PROFILE_ENV_CMDLINE, "init_on_alloc=0");
	profile_env_set(b, PROFILE_ENV_CMDLINE, "init_on_alloc=1");
	check(a, b, "\n  Record with --protection=init_on_alloc or --func to see where.");
}

/* If the times of a few calls spread widely, two recordings may differ as much by chance. */
TEST(spread_of_calls_is_no_change)
{
	struct profile *a = clones(10, 1000), *b = clones(10, 1200);

	add(a, "exit_group", NULL, 10, 1000, 10000);
	add(b, "exit_group", NULL, 10, 1500, 11000);
	check(a, b,
	      ", within the spread of its calls.\n  Most likely, a change is in clone (+200 instructions per "
	      "call): ");
	check(spread_clones(PROFILE_CLOCK_INSN, 1000, 19900),
	      spread_clones(PROFILE_CLOCK_INSN, 2000, 20900), NULL);
	check(spread_clones(PROFILE_CLOCK_INSN, 99900, 100100),
	      spread_clones(PROFILE_CLOCK_INSN, 100500, 100700),
	      " 100 % of it is in clone (+600 instructions per call): ");
	check(spread_clones(PROFILE_CLOCK_NS, 99900, 100100),
	      spread_clones(PROFILE_CLOCK_NS, 100500, 100700), NULL);
	check(spread_clones(PROFILE_CLOCK_INSN, 99900, 100100),
	      spread_clones(PROFILE_CLOCK_INSN, 100100, 100300), NULL);
	check(clones(10, 10000), clones(10, 10003), NULL);
}

/* In each of ten contexts, the calls spread by 1,200 instructions per run. Together they spread by 3,800, not by 12,000. */
TEST(spreads_of_contexts_are_independent)
{
	struct profile *sides[2] = { clones(10, 1000), clones(10, 2000) };

	for (int i = 0; i < 2; i++)
		for (int k = 0; k < 10; k++) {
			char name[8];

			snprintf(name, sizeof(name), "open%d", k);
			add(sides[i], name, NULL, 10, 1000, 1600);
		}
	check(sides[0], sides[1],
	      "more CPU time (+10,000 instructions per run; 1 run per side).\n  Most likely, 100 % of it is in "
	      "clone ");
}

/*
 * As in gcc with init_on_alloc, page faults change most. Some page faults read a file and take a hundred times as long, but the
 * change is in one function, and is much larger than that function's spread.
 */
TEST(a_function_is_surer_than_its_context)
{
	struct profile *sides[2];

	for (uint32_t i = 0; i < 2; i++) {
		sides[i] = run(PROFILE_CLOCK_INSN);
		add(sides[i], "[page_fault]", NULL, 1000, 1000, 300000);
		add(sides[i], "alloc_pages", "[page_fault]", 1000, 300 + 6000 * i, 400 + 6000 * i);
	}
	check(sides[0], sides[1], "is in alloc_pages (+6,000 instructions per call): +6,000,000 ");
}

/* Time of clone outside of timed functions is attributed to clone itself. */
TEST(time_in_no_timed_function_is_the_contexts)
{
	struct profile *a = clones(10, 1000), *b = clones(10, 1200);

	add(a, "f", "clone", 10, 10, 10);
	add(b, "f", "clone", 10, 10, 10);
	check(a, b,
	      ", 100 % of it is in clone outside of timed functions (+200 instructions per "
	      "call): +2,000 instructions per run.");
}

/* A single execve() starts the command. Rank it last, because it is the first to read the command's files. */
TEST(start_of_the_command_comes_last)
{
	struct profile *sides[2];
	struct answer x;

	for (int several = 0; several < 2; several++) {
		for (uint32_t i = 0; i < 2; i++) {
			sides[i] = clones(10, 1000 + 200 * i);
			add(sides[i], "execve", NULL, several ? 3 : 1, 10000 + 80000 * i,
			    10000 + 80000 * i);
		}
		answer_init(&x, sides[0], sides[1]);
		assert_string_equal(x.why.contexts[0].name, several ? "execve" : "clone");
		answer_deinit(&x);
	}
}

/* Add an unprobed run of CPU ticks to P. */
static struct profile *took(struct profile *p, uint64_t cpu)
{
	p->runs[profile_run_add(p, PROFILE_RUN_CONTROL)].cpu = cpu;
	return p;
}

/* 2,000 instructions of the command's change are in clone. */
TEST(the_whole_is_the_commands_own_time)
{
	check(took(clones(10, 1000), 100000), took(clones(10, 1200), 110000),
	      "the command takes 10.0 % more CPU time (+10,000 instructions per run; unprobed; 1 run per "
	      "side).\n");
	check(took(clones(10, 1000), 100000), took(clones(10, 1200), 110000),
	      "\n  +8,000 instructions per run are outside of syscalls and page faults.");
	check(took(clones(10, 1000), 100000), took(clones(10, 1200), 102000),
	      "\n  Most likely, 100 % of it is in clone (+200 instructions per call): +2,000 instructions "
	      "per run.");
	/* A single call that takes a tenth longer does not matter in a long command. */
	check(took(clones(1, 10000), 20000000), took(clones(1, 11000), 20000000),
	      "the command takes the same CPU time (unprobed; 1 run per side).");
}

/* A change is ignored if two recordings of the baseline differ as much. */
TEST(a_control_bounds_the_change)
{
	const struct analyze_options oncpu = { .time = ANALYZE_TIME_ONCPU };

	for (uint64_t more = 100; more <= 300; more += 200) {
		struct profile *control = clones(10, 1000 + more);
		struct answer x;

		answer_init(&x, clones(10, 1000), clones(10, 1200));
		assert_int_equal(analyze_diff_control(&x.diff, x.p[0], control, &oncpu), 0);
		why_set_command(&x.why, &x.diff);
		assert_int_equal(x.why.command.sureness, more < 200 ? WHY_LIKELY : WHY_CHANCE);
		answer_deinit(&x);
		profile_destroy(control);
	}
}

/* Add COUNT samples in CONTEXT of P with the call stack PATH: one letter per function, outermost first. */
static void sample_in(struct profile *p, const char *context, const char *path, uint64_t count)
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

static void sample(struct profile *p, const char *path, uint64_t count)
{
	sample_in(p, "clone", path, count);
}

/* In clone, a calls b and d, b calls c, and c calls e and f. With MORE, c and its callees have ten times as many samples. */
static struct profile *sampled(bool more)
{
	struct profile *p = clones(1000, more ? 1900 : 1000);

	sample(p, "a", 400);
	sample(p, "ad", 300);
	sample(p, "ab", 200);
	sample(p, "abce", more ? 600 : 60);
	sample(p, "abcf", more ? 400 : 40);
	return p;
}

/* Create a run of 1,000 calls of clone of TIME each. Its function a has two callees, b and c, with B and C samples. */
static struct profile *two_callees(uint64_t time, uint64_t b, uint64_t c)
{
	struct profile *p = clones(1000, time);

	sample(p, "ab", b);
	sample(p, "ac", c);
	return p;
}

/* Samples name the outermost function that takes more time as a whole, not its callers or callees. */
TEST(samples_open_what_nobody_timed)
{
	check(sampled(false), sampled(true),
	      "Most likely, 100 % of it is in c (via a and b), estimated from samples: +900,000 "
	      "instructions per run, ±");
	check(sampled(false), sampled(true),
	      "; record with --func=c to time it; all of this in clone (+90.0 %).");
	/* Few samples move from one callee to the other, which may be chance. */
	check(two_callees(1000, 30, 70), two_callees(1100, 35, 65),
	      "in clone (+100 instructions per call): +100,000 instructions per run.\n  Record with --func to "
	      "see where.");
}

/* Each of ten syscalls calls z. In each, the samples in z are too few; in all together they are enough. */
TEST(few_samples_in_many_places_are_many)
{
	struct profile *sides[2];

	for (uint64_t i = 0; i < 2; i++) {
		sides[i] = run(PROFILE_CLOCK_INSN);
		for (char c = 'A'; c < 'K'; c++) {
			const char context[] = { c, '\0' };

			add(sides[i], context, NULL, 1000, 100 + 7 * i, 100 + 7 * i);
			sample_in(sides[i], context, "x", 90);
			sample_in(sides[i], context, "xyz", 2 + 7 * i);
		}
	}
	check(sides[0], sides[1], "is in z (via x and y), estimated from samples: +");
}

/* If time moves from one function to another, the time of their common caller has not changed. */
TEST(samples_of_other_names_are_no_change)
{
	check(two_callees(1000, 500, 500), two_callees(1010, 900, 100),
	      "in clone (+10 instructions per call): +10,000 instructions per run.\n  Record with --func to "
	      "see where.");
}

/* In clone, a calls v through the wrappers W, one letter each. v calls c and d. c has MORE additional samples. */
static struct profile *wrapped(const char *w, uint64_t more)
{
	struct profile *p = clones(1000, 1000 + more);
	char path[16];

	sample(p, "a", 100);
	snprintf(path, sizeof(path), "a%svd", w);
	sample(p, path, 500);
	snprintf(path, sizeof(path), "a%svc", w);
	sample(p, path, 400 + more);
	return p;
}

/* A wrapper is not the cause if only a part of the function that it calls has changed. */
TEST(samples_are_followed_through_wrappers)
{
	check(wrapped("xy", 0), wrapped("xy", 600),
	      "is in c (via x, y and v), estimated from samples: ");
}

/* In clone, a calls b and d, and b calls c. MORE samples are added to c's 2. */
static struct profile *deep(uint64_t more)
{
	struct profile *p = clones(1000, 1000 + 5 * more);

	sample(p, "z", 188);
	sample(p, "ab", 8);
	sample(p, "abc", 2 + more);
	sample(p, "ad", 2);
	return p;
}

/* a's callees b and d have too few samples to show different changes. Samples of b's callee c show that not all of a changed. */
TEST(a_part_of_a_part_shows_that_a_function_is_no_whole)
{
	check(deep(0), deep(70), "is in c (via a and b), estimated from samples: ");
}

/* If only one kernel calls a wrapper, and the other inlines it, the function below it is still found. */
TEST(samples_below_another_layer_are_the_same)
{
	check(wrapped("", 0), wrapped("x", 600),
	      "is in c (via a, x and v), estimated from samples: ");
	check(wrapped("x", 0), wrapped("", 600),
	      "is in c (via a, x and v), estimated from samples: ");
}

/* Samples show which part of a timed function's own time has changed. */
TEST(samples_open_timed_functions)
{
	struct profile *sides[2];

	for (int i = 0; i < 2; i++) {
		sides[i] = sampled(i);
		add(sides[i], "b", "clone", 1000, 300 + 900 * (uint64_t)i, 300 + 900 * (uint64_t)i);
	}
	check(sides[0], sides[1],
	      "is in b (+900 instructions per call): +900,000 instructions per run, nearly all of "
	      "that in c (estimated from samples)");
}

/* Samples do not explain the time of a function that probes timed. */
TEST(samples_of_timed_functions_are_theirs)
{
	struct profile *sides[2];
	struct answer x;

	for (int i = 0; i < 2; i++) {
		sides[i] = sampled(false);
		add(sides[i], "b", "clone", 100, 1000 + 1000 * (uint64_t)i,
		    1000 + 1000 * (uint64_t)i);
	}
	answer_init(&x, sides[0], sides[1]);
	assert_non_null(
		strstr(x.text, "100 % of it is in b (+1,000 instructions per call): +100,000 "));
	for (uint32_t i = 0; i < x.why.pair.n_nodes; i++)
		assert_true(x.why.pair.nodes[i].sampled || x.why.pair.nodes[i].doubt[1] == 0);
	answer_deinit(&x);
}

RUN_TESTS(NULL, NULL)
