// SPDX-License-Identifier: GPL-2.0-or-later
/* Compare the code of two small kernels, built from tests/symbol/changes.c. */
#include <stdbool.h>

#include "test.h"
#include "analyze/changes/changes.h"
#include "base/alloc.h"
#include "kernel_fixture.h"

struct kernels {
	struct kernel_image *images[2];
	struct kernel_index *indexes[2];
	struct analyze_changes *changes;
};

static bool open_kernels(struct kernels *k, const char *baseline, const char *hardened)
{
	const char *const options[] = { baseline, hardened };

	*k = (struct kernels){ 0 };
	for (int i = 0; i < 2; i++) {
		if (!fixture_build_of("changes.c", i ? "hardened" : "baseline", options[i]))
			return false;
		assert_int_equal(
			kernel_image_open(fixture_path(i ? "hardened" : "baseline"), &k->images[i]),
			0);
		assert_int_equal(kernel_index_build(k->images[i], &k->indexes[i]), 0);
	}
	assert_int_equal(analyze_changes_create(k->images, k->indexes, &k->changes), 0);
	return true;
}

static void close_kernels(struct kernels *k)
{
	analyze_changes_destroy(k->changes);
	for (int i = 0; i < 2; i++) {
		kernel_index_destroy(k->indexes[i]);
		kernel_image_destroy(k->images[i]);
	}
}

/* Check the list of differences, like "differs choose +1-1; new added"; "*" stands for more than one instruction. */
static void check(const char *baseline, const char *hardened, const char *expected)
{
	static const char *const kinds[ANALYZE_N_CHANGES] = { "differs", "new",       "gone",
							      "offsets", "registers", "renamed",
							      "moved" };
	const struct analyze_changed *changes;
	uint32_t n, n_same;
	struct kernels k;
	char *text = NULL;

	if (!open_kernels(&k, baseline, hardened))
		fixture_skip(FIXTURE_NO_COMPILER);
	changes = analyze_changes_all(k.changes, &n, &n_same);
	for (uint32_t i = 0; i < n; i++) {
		const struct analyze_changed *x = &changes[i];

		alloc_append(&text, "%s%s %s%s%s", text ? "; " : "", kinds[x->kind],
			     x->names[1] ? x->names[1] : x->names[0], x->inlined ? " " : "",
			     x->inlined ? x->inlined : "");
		if (x->added > 1 || x->removed > 1)
			alloc_append(&text, " *");
		else if (x->kind != ANALYZE_CHANGE_RENAMED)
			alloc_append(&text, " +%.0f-%.0f", x->added, x->removed);
	}
	assert_string_equal(text ? text : "", expected);
	free(text);
	close_kernels(&k);
}

TEST(the_same_source_is_the_same)
{
	check("-g", "-g", "");
}

/* Differences in line numbers (also in __LINE__), addresses, and names of static functions are ignored. */
TEST(what_follows_from_places_is_set_aside)
{
	check("-g", "-g -DCOSMETIC -DSHIFTED", "renamed renamed_helper");
	check("-g", "-g -falign-functions=64 -fno-reorder-functions -fno-toplevel-reorder", "");
}

TEST(one_function_is_named)
{
	check("-g", "-g -DCONSTANT", "differs constant +1-1");
	check("-g", "-g -DADDED", "new added *");
	check("-g -DADDED", "-g", "gone added *");
}

/* The instructions are equal except for a jump's condition or for registers. */
TEST(conditions_and_arguments_matter)
{
	check("-g", "-g -DINVERTED", "differs choose +0-0");
	check("-g", "-g -DSWAPPED", "registers order +0-0");
}

TEST(fields_at_other_offsets)
{
	check("-g", "-g -DLARGER", "offsets adjust *");
}

TEST(what_is_inlined_on_one_side)
{
	check("-g -DOUT_OF_LINE", "-g", "gone square *; differs user +square *");
}

TEST(one_function_is_asked_for)
{
	struct analyze_changed change;
	struct kernels k;

	if (!open_kernels(&k, "-g", "-g -DCONDITION -DADDED"))
		fixture_skip(FIXTURE_NO_COMPILER);
	assert_true(analyze_changes_of(k.changes, "loop", &change));
	assert_int_equal(change.kind, ANALYZE_CHANGE_DIFFERS);
	assert_true(change.added >= 3);
	assert_int_equal(change.n_insns[1] - change.n_insns[0], change.added - change.removed);
	assert_true(analyze_changes_of(k.changes, "helper", &change));
	assert_int_equal(change.kind, ANALYZE_CHANGE_SAME);
	assert_true(analyze_changes_of(k.changes, "added", &change));
	assert_int_equal(change.kind, ANALYZE_CHANGE_NEW);
	assert_null(change.names[0]);
	assert_false(analyze_changes_of(k.changes, "square", &change));
	close_kernels(&k);
}

/* Without DWARF everything but inlining is compared. */
TEST(symbols_are_enough)
{
	check("-g0", "-g0 -DCONSTANT -DADDED", "new added *; differs constant +1-1");
}

RUN_TESTS(fixture_setup, fixture_teardown)
