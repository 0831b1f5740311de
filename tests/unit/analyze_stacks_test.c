// SPDX-License-Identifier: GPL-2.0-or-later
/* Test folded stacks, callers and callees, from samples and counted calls. */
#include <errno.h>
#include <math.h>

#include "test.h"
#include "analyze/inline/stacks.h"
#include "fixture.h"
#include "output/folded.h"

static void sample(struct profile *p, uint32_t run, const char *context, uint32_t stack,
		   uint32_t flags, uint64_t count)
{
	profile_sample_add(p, &(struct profile_sample){
				      .run = run,
				      .context = profile_context_add(p, context),
				      .stack = stack,
				      .flags = flags,
				      .count = count,
			      });
}

/* Add a stack: outer calls the module's function nft_do, nft_do calls inner, and body is inlined into inner. */
static uint32_t add_stack(struct profile *p, uint64_t addr)
{
	uint32_t at[3];

	at[0] = profile_location_add(p, addr, NULL);
	if (!p->locations[at[0]].n_frames) {
		profile_location_frame_add(
			p, at[0], &(struct profile_frame){ .name = "body", .inlined = true });
		profile_location_frame_add(p, at[0], &(struct profile_frame){ .name = "inner" });
	}
	at[1] = profile_location_add(p, 5, "nft");
	if (!p->locations[at[1]].n_frames)
		profile_location_frame_add(p, at[1], &(struct profile_frame){ .name = "nft_do" });
	at[2] = fixture_location(p, 9, "outer");
	return profile_stack_add(p, at, 3);
}

/* Check the lines of S for flamegraph.pl, with N_COUNTS counts each. */
static void check(const struct analyze_stacks *s, unsigned int n_counts, const char *lines)
{
	size_t size;
	char *text;
	FILE *out = open_memstream(&text, &size);

	output_folded_write(out, s, n_counts);
	fclose(out);
	assert_string_equal(text, lines);
	free(text);
}

TEST(test_lines)
{
	struct profile *p = profile_create();
	uint32_t run = fixture_run(p, 1), control = profile_run_add(p, PROFILE_RUN_CONTROL);
	uint32_t none = profile_stack_add(p, NULL, 0), stack = add_stack(p, 1), at, plain;
	struct analyze_stacks s = { 0 };

	at = profile_location_add(p, 0x1234, NULL);
	plain = profile_stack_add(p, &at, 1);
	sample(p, run, "clone", stack, 0, 5);
	sample(p, run, "clone", add_stack(p, 2), 0, 2); /* another address in the same functions */
	sample(p, run, "clone", stack, PROFILE_SAMPLE_LATE, 3);
	sample(p, run, "clone", none, PROFILE_SAMPLE_USER, 1);
	sample(p, run, "[none]", none, PROFILE_SAMPLE_USER, 1);
	sample(p, run, "[none]", none, PROFILE_SAMPLE_USER, 3);
	sample(p, run, "[none]", none, 0, 6);
	sample(p, run, "[irq]", plain, 0, 7);
	sample(p, control, "clone", stack, 0, 1000);
	assert_int_equal(analyze_stacks_add(&s, p, 0, 1), 0);
	assert_int_equal(s.n_rows, 6);
	check(&s, 1,
	      "[irq];_stext+0x1234_[k] 7\n"
	      "[none];[no_stack] 6\n"
	      "[user] 4\n"
	      "clone;[user] 1\n"
	      "clone;outer_[k];nft_do_[k];inner_[k];body_[i] 7\n"
	      "clone;outer_[k];nft_do_[k];inner_[k];body_[i];[irqs_off] 3\n");
	analyze_stacks_deinit(&s);
	profile_destroy(p);
}

/* A late sample shows neither that the inlined function at its address took the time, nor that the unlock function did. */
TEST(test_sure)
{
	struct profile *p = profile_create();
	struct analyze_stacks s = { 0 };
	uint32_t run = fixture_run(p, 1), at[2];

	at[1] = fixture_location(p, 20, "holder");
	at[0] = fixture_location(p, 21, "_raw_spin_unlock_irqrestore");
	sample(p, run, "a", add_stack(p, 1), 0, 1);
	sample(p, run, "b", add_stack(p, 1), PROFILE_SAMPLE_LATE, 1);
	sample(p, run, "c", profile_stack_add(p, at, 2), 0, 1);
	sample(p, run, "d", profile_stack_add(p, at, 2), PROFILE_SAMPLE_LATE, 1);
	assert_int_equal(analyze_stacks_add(&s, p, 0, 1), 0);
	assert_int_equal(analyze_stack_sure(&s.rows[0]), 5);
	assert_int_equal(analyze_stack_sure(&s.rows[1]), 4);
	assert_int_equal(analyze_stack_sure(&s.rows[2]), 3);
	assert_int_equal(analyze_stack_sure(&s.rows[3]), 2);
	analyze_stacks_deinit(&s);
	profile_destroy(p);
}

TEST(test_two_sides)
{
	struct profile *a = profile_create(), *b = profile_create();
	struct analyze_stacks s = { 0 };

	sample(a, fixture_run(a, 1), "clone", add_stack(a, 1), 0, 5);
	sample(b, fixture_run(b, 1), "clone", add_stack(b, 7), 0, 3);
	sample(b, fixture_run(b, 1), "mmap", add_stack(b, 7), 0, 1);
	assert_int_equal(analyze_stacks_add(&s, a, 0, 1), 0);
	assert_int_equal(analyze_stacks_add(&s, b, 1, 0.5), 0);
	assert_int_equal(s.n_rows, 2);
	assert_int_equal(s.rows[0].n_frames, 5);
	assert_string_equal(s.rows[0].frames[0].name, "clone");
	assert_int_equal(s.rows[0].frames[0].kind, ANALYZE_FRAME_OTHER);
	assert_string_equal(s.rows[0].frames[3].name, "inner");
	assert_int_equal(s.rows[0].frames[3].kind, ANALYZE_FRAME_KERNEL);
	assert_int_equal(s.rows[0].frames[4].kind, ANALYZE_FRAME_INLINED);
	check(&s, 2,
	      "clone;outer_[k];nft_do_[k];inner_[k];body_[i] 5 1.500\n"
	      "mmap;outer_[k];nft_do_[k];inner_[k];body_[i] 0 0.500\n");
	analyze_stacks_deinit(&s);
	profile_destroy(a);
	profile_destroy(b);
}

TEST(test_names)
{
	struct profile *p = profile_create();
	uint32_t run = fixture_run(p, 1), at = fixture_location(p, 1, "a b;c\n\033[1m\xc3\xa9");
	struct analyze_stacks s = { 0 }, t = { 0 };
	char longest[1000], *text;

	sample(p, run, "x y", profile_stack_add(p, &at, 1), 0, 1);
	memset(longest, 'z', sizeof(longest));
	longest[sizeof(longest) - 1] = '\0';
	at = fixture_location(p, 2, longest);
	sample(p, run, "x y", profile_stack_add(p, &at, 1), 0, 1);
	assert_int_equal(analyze_stacks_add(&s, p, 0, 1), 0);
	/* Two names that differ only in unprintable characters make one line. */
	at = fixture_location(p, 3, "a b;c\n\033[1m\xc3\xa8");
	sample(p, run, "x y", profile_stack_add(p, &at, 1), 0, 1);
	assert_int_equal(analyze_stacks_add(&t, p, 0, 1), 0);
	text = output_folded_frames(t.rows[0].frames, t.rows[0].n_frames);
	assert_string_equal(text, "x_y;a_b_c__[1m___[k]");
	free(text);
	longest[ANALYZE_FRAME_NAME_MAX] = '\0';
	text = alloc_printf("x_y;a_b_c__[1m___[k] 2\nx_y;%s_[k] 1\n", longest);
	check(&t, 1, text);
	free(text);
	analyze_stacks_deinit(&t);
	analyze_stacks_deinit(&s);
	profile_destroy(p);
}

/* A small file can ask for a huge text, with many contexts of the same deep stack. Such a file is refused. */
TEST(test_bounded)
{
	struct profile *p = profile_create();
	uint32_t run = fixture_run(p, 1), locations[4000], stack, i;
	struct analyze_stacks s = { 0 };
	char name[256];

	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	for (i = 0; i < 4000; i++)
		locations[i] = fixture_location(p, 1, name);
	stack = profile_stack_add(p, locations, 4000);
	for (i = 0; i < 2000; i++) {
		snprintf(name, sizeof(name), "context%u", i);
		sample(p, run, name, stack, 0, 1);
	}
	assert_int_equal(analyze_stacks_add(&s, p, 0, 1), -E2BIG);
	analyze_stacks_deinit(&s);
	profile_destroy(p);
}

TEST(test_leaves)
{
	struct profile *p = profile_create();
	uint32_t run = fixture_run(p, 1), stack = add_stack(p, 1), none;
	struct analyze_leaves leaves;

	analyze_leaves_init(&leaves, p);
	assert_int_equal(leaves.n_leaves, 0);
	analyze_leaves_deinit(&leaves);

	none = profile_stack_add(p, NULL, 0);
	sample(p, run, "clone", stack, 0, 5);
	sample(p, run, "mmap", add_stack(p, 2), 0, 1);
	sample(p, run, "mmap", stack, PROFILE_SAMPLE_LATE, 2);
	sample(p, run, "mmap", none, PROFILE_SAMPLE_USER, 1);
	sample(p, run, "[none]", none, PROFILE_SAMPLE_USER, 1);
	analyze_leaves_init(&leaves, p);
	assert_true(leaves.samples == 10);
	assert_int_equal(leaves.n_leaves, 3);
	assert_string_equal(leaves.leaves[0].frames[0].name, "inner");
	assert_int_equal(leaves.leaves[0].n_frames, 1);
	assert_true(leaves.leaves[0].samples == 6 && leaves.leaves[0].share == 0.6);
	assert_string_equal(leaves.leaves[1].frames[0].name, "[user]");
	assert_string_equal(leaves.leaves[2].frames[0].name, "inner");
	assert_string_equal(leaves.leaves[2].frames[1].name, "[irqs_off]");
	analyze_leaves_deinit(&leaves);
	profile_destroy(p);
}

static void assert_neighbour(const struct analyze_neighbour_list *list, uint32_t i,
			     const char *name, double samples, double calls)
{
	assert_true(i < list->n_items);
	assert_string_equal(list->items[i].name ?: "(itself)", name);
	assert_true(list->items[i].samples == samples);
	assert_true(isnan(calls) ? isnan(list->items[i].calls) : list->items[i].calls == calls);
}

/* Return the stack of PATH, outermost letter first: 'o' is outer, 'r' is rec, 'l' is leaf, with "body" inlined into it. */
static uint32_t path(struct profile *p, const char *path)
{
	static const char *const names[128] = { ['o'] = "outer", ['r'] = "rec", ['l'] = "leaf" };
	uint32_t at[8], n = (uint32_t)strlen(path);

	for (uint32_t i = 0; i < n; i++) {
		uint32_t l = at[n - 1 - i] = profile_location_add(p, (uint64_t)path[i], NULL);

		if (p->locations[l].n_frames)
			continue;
		if (path[i] == 'l')
			profile_location_frame_add(
				p, l, &(struct profile_frame){ .name = "body", .inlined = true });
		profile_location_frame_add(p, l,
					   &(struct profile_frame){ .name = names[(int)path[i]] });
	}
	return profile_stack_add(p, at, n);
}

TEST(test_neighbours)
{
	static const struct {
		const char *path;
		uint64_t samples, calls;
	} edges[] = { { "o", 1, 2 },
		      { "or", 10, 3 },
		      { "orr", 100, 4 },
		      { "orrl", 1000, 5 },
		      { "ol", 7, 6 } };
	struct profile *p = profile_create();
	uint32_t run = fixture_run(p, 1);
	struct analyze_neighbours n;

	for (size_t i = 0; i < sizeof(edges) / sizeof(edges[0]); i++) {
		uint32_t stack = path(p, edges[i].path);

		sample(p, run, "clone", stack, 0, edges[i].samples);
		profile_edge_add(p, &(struct profile_edge){ run, profile_context_add(p, "clone"),
							    stack, edges[i].calls });
	}
	/* Samples in a recursive function count for the caller of its outermost call and for the callee of its innermost call. */
	assert_int_equal(analyze_neighbours_init(&n, p, "rec"), 0);
	assert_int_equal(n.callers.n_items, 2);
	assert_neighbour(&n.callers, 0, "outer", 1110, 3);
	assert_neighbour(&n.callers, 1, "rec", 0, 4);
	assert_int_equal(n.callees.n_items, 3);
	assert_neighbour(&n.callees, 0, "leaf", 1000, 5);
	assert_neighbour(&n.callees, 1, "(itself)", 110, NAN);
	assert_neighbour(&n.callees, 2, "rec", 0, 4);
	analyze_neighbours_deinit(&n);
	/* If an inlined function is at a function's first instruction, calls are of the outer function. */
	assert_int_equal(analyze_neighbours_init(&n, p, "leaf"), 0);
	assert_int_equal(n.callers.n_items, 2);
	assert_neighbour(&n.callers, 0, "rec", 1000, 5);
	assert_neighbour(&n.callers, 1, "outer", 7, 6);
	assert_int_equal(n.callees.n_items, 1);
	assert_neighbour(&n.callees, 0, "body", 1007, NAN);
	analyze_neighbours_deinit(&n);
	/* Another symbol of the same address has the same callers. */
	profile_site_add(p, &(struct profile_site){ .name = "__ia32_leaf",
						    .symbol = "__ia32_leaf",
						    .kind = PROFILE_SITE_FUNCTION,
						    .addr = 'l' });
	assert_int_equal(analyze_neighbours_init(&n, p, "__ia32_leaf"), 0);
	assert_string_equal(n.function, "__ia32_leaf");
	assert_neighbour(&n.callers, 0, "rec", 1000, 5);
	assert_neighbour(&n.callees, 0, "body", 1007, NAN);
	analyze_neighbours_deinit(&n);
	/* An inlined function has no number of calls. The context counts as the caller of the first function. */
	assert_int_equal(analyze_neighbours_init(&n, p, "body"), 0);
	assert_neighbour(&n.callers, 0, "leaf", 1007, NAN);
	analyze_neighbours_deinit(&n);
	assert_int_equal(analyze_neighbours_init(&n, p, "outer"), 0);
	assert_neighbour(&n.callers, 0, "clone", 1118, 2);
	assert_neighbour(&n.callees, 0, "rec", 1110, 3);
	analyze_neighbours_deinit(&n);
	profile_destroy(p);
}

RUN_TESTS(NULL, NULL)
