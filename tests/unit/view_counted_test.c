// SPDX-License-Identifier: GPL-2.0-or-later
/* Sentences about loops and calls that changed. */
#include <math.h>

#include "test.h"
#include "view/diff.h"

/* Check the text of the column KEY for ROW alone. */
static void check(struct analyze_counted_change row, const char *key, const char *expected)
{
	struct view_diff diff = { .counted = { .rows = &row, .n_rows = 1 } };
	const struct output_group *group;
	struct view_rows rows;
	size_t i;

	view_rows_init(&rows, &diff_block_changes, &diff, false);
	group = &rows.section.groups[0];
	for (i = 0; i < group->n_columns && strcmp(group->columns[i].key, key); i++)
		;
	assert_true(i < group->n_columns);
	assert_string_equal(output_field_get(&rows.section, 0, group, &group->columns[i]).text,
			    expected);
	view_rows_deinit(&rows);
}

static const struct analyze_loop loop = { .function = "refill",
					  .location = "slub.c:20",
					  .body = "shuffle",
					  .offset = 16 };

TEST(test_loops)
{
	struct analyze_counted_change row = { .kind = ANALYZE_COUNTED_LOOP,
					      .function = "refill",
					      .loop = &loop,
					      .often = { 3.2, 16 },
					      .cost = { 5, 5 } };
	struct analyze_loop other = loop;

	check(row, "kind", "loop");
	check(row, "what", "loop at slub.c:20 (shuffle) in refill");
	check(row, "text",
	      "loop at slub.c:20 (shuffle) in refill: 16.0 iterations per call, 5.0 instructions "
	      "each (baseline: 3.2 of 5.0)");
	row.often[0] = row.cost[0] = NAN;
	other.body = NULL;
	row.loop = &other;
	check(row, "text",
	      "loop at slub.c:20 in refill: 16.0 iterations per call, 5.0 instructions each "
	      "(hardened side only)");
	row.often[0] = row.cost[0] = 2;
	row.often[1] = row.cost[1] = NAN;
	other.location = NULL;
	check(row, "text",
	      "loop at refill+16: 2.0 iterations per call, 2.0 instructions each (baseline side "
	      "only)");
}

TEST(test_calls)
{
	struct analyze_counted_change row = { .kind = ANALYZE_COUNTED_CALL,
					      .function = "refill",
					      .callee = "slow",
					      .often = { 0.2, 0.6 },
					      .slow = { NAN, NAN } };

	check(row, "what", "slow");
	check(row, "text", "refill calls slow in 60 % of its calls (baseline: 20 %)");
	row.through = "extract";
	check(row, "text",
	      "refill calls slow in 60 % of its calls (baseline: 20 %); on the hardened side "
	      "most of its time is in extract");
	row.slow[0] = 0;
	row.slow[1] = 0.99;
	check(row, "text",
	      "refill takes its slow path, extract via slow, in 99 % of its calls (baseline: 0 %)");
	row.slow[1] = NAN;
	row.through = NULL;
	row.often[1] = 3;
	check(row, "text", "refill calls slow 3 times per call (baseline: 0.2 times)");
}

RUN_TESTS(NULL, NULL)
