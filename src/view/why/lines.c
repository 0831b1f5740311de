// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of source lines whose numbers of executions differ between the recordings, if instructions were counted. */

#include "base/alloc.h"
#include "view/page/columns.h"
#include "view/diff.h"
#include "view/why.h"

struct line {
	const char *name, *file, *place;
	double number, totals[2], times[2], delta;
};

static const struct output_column columns[] = {
	COLUMN("name", TEXT, line, name, .header = "FUNCTION", .elastic = true),
	COLUMN(NULL, TEXT, line, place, .header = "LINE", .elastic = true),
	COLUMN("file", TEXT, line, file),
	COLUMN("line", COUNT, line, number),
	COLUMN("baseline_executions", COUNT, line, times[0], .header = "EXECUTIONS", .rank = 2),
	COLUMN("hardened_executions", COUNT, line, times[1], .header = "HARDENED", .rank = 2),
	COLUMN("baseline_total", COUNT, line, totals[0], .header = "BASELINE/RUN"),
	COLUMN("hardened_total", COUNT, line, totals[1], .header = "HARDENED/RUN"),
	COLUMN("delta_total", CHANGE, line, delta, .header = "DELTA/RUN"),
};

static void add_rows(struct view_rows *rows, const struct why *w, const struct why_context *of)
{
	scoped(tree_line_changes_deinit) struct tree_line_changes changes = {};
	struct line *lines;

	if (of)
		tree_line_changes_init(&changes, &w->pair, of->node, why_is_of_command);
	lines = view_rows_new(rows, changes.n_items, sizeof(*lines));
	for (uint32_t i = 0; i < changes.n_items; i++) {
		const struct tree_line_change *c = &changes.items[i];

		lines[i] = (struct line){ .name = c->name,
					  .file = c->file,
					  .number = c->number,
					  .totals = { c->insns[0], c->insns[1] },
					  .times = { c->times[0], c->times[1] },
					  .delta = c->insns[1] - c->insns[0] };
		if (c->file)
			lines[i].place =
				alloc_keep(&rows->texts, alloc_printf("%s:%u", c->file, c->number));
	}
}

static void rows_of_why(struct view_rows *rows, const void *data)
{
	const struct view_why *w = data;

	add_rows(rows, &w->why, w->of);
}

static void rows_of_diff(struct view_rows *rows, const void *data)
{
	const struct why *w = &((const struct view_diff *)data)->why;

	add_rows(rows, w, w->n_contexts ? &w->command : NULL);
}

#define TABLE                                                                                             \
	.name = "lines", .first = 5, .title = "Lines executed differently on the two sides",              \
	.legend =                                                                                         \
		"In instructions. Lines are matched by what was executed, not by number; those executed " \
		"alike are omitted",                                                                      \
	ONE_GROUP(columns), .weight = offsetof(struct line, delta)

const struct view_table why_lines = { TABLE, .rows = rows_of_why };
const struct view_table diff_lines = { TABLE, .rows = rows_of_diff };
