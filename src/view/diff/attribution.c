// SPDX-License-Identifier: GPL-2.0-or-later
/* The table that divides the change per run. Its rows form a tree, and the changes of child rows add up to the parent's change. */
#include <math.h>

#include "base/alloc.h"
#include "base/plural.h"
#include "view/page/columns.h"
#include "view/diff.h"
#include "view/names.h"

struct line {
	struct why_attribution_row row;
	const char *label; /* the row's name, indented by its level in the tree */
	double weight; /* |DELTA| limited by the rows above in the tree; NAN: whole command */
};

static const struct output_column columns[] = {
	COLUMN(NULL, TEXT, line, label, .header = "WHERE"),
	COLUMN("level", COUNT, line, row.level),
	COLUMN("kind", TEXT, line, row.part, .names = view_parts),
	COLUMN("name", TEXT, line, row.name),
	COLUMN("how", TEXT, line, row.how, .names = view_hows),
	COLUMN("baseline_calls", COUNT, line, row.calls[0]),
	COLUMN("hardened_calls", COUNT, line, row.calls[1]),
	COLUMN("baseline_total", TIME, line, row.totals[0]),
	COLUMN("hardened_total", TIME, line, row.totals[1]),
	COLUMN("delta_total", DELTA, line, row.delta, .header = "DELTA/RUN"),
	COLUMN("share", FRACTION, line, row.share, .header = "SHARE"),
	COLUMN("by_calls", DELTA, line, row.by_calls, .header = "BY CALLS", .rank = 3),
	COLUMN("by_mean", DELTA, line, row.by_mean, .header = "BY MEAN", .rank = 3),
	COLUMN("verdict", TEXT, line, row.verdict, .names = view_verdicts, .header = "VERDICT",
	       .rank = 2),
};

enum {
	DEPTH = 4 /* levels of the tree */
};

static char *label(const struct why_attribution_row *row)
{
	char *text = NULL;

	alloc_append(&text, "%*s", 2 * (int)row->level, "");
	if (row->part == WHY_ATTRIBUTED_OTHERS) {
		alloc_append(&text, "(%u %s)", row->others, plural(row->others, "other", "others"));
		return text;
	}
	alloc_append(&text, "%s", view_workload_label(row->name));
	if (row->how)
		alloc_append(&text, ", %s", view_hows[row->how]);
	return text;
}

/* On pages, leave out small rows, and show their sum as one row per level of the tree. JSON and CSV have all rows. */
static void rows(struct view_rows *rows, const void *data)
{
	const struct why_attribution *a = &((const struct view_diff *)data)->attribution;
	struct line *lines = view_rows_new(rows, a->n_rows, sizeof(*lines));
	double above[DEPTH] = { INFINITY };
	uint32_t n = 0;

	vec_each(const struct why_attribution_row, row, a, rows) {
		uint32_t level = (uint32_t)row->level;
		bool is_command = row->part == WHY_ATTRIBUTED_COMMAND;

		above[level] = is_command ? INFINITY : fabs(row->delta);
		if (level)
			above[level] = fmin(above[level], above[level - 1]);
		if (rows->for_people ? row->hidden : row->part == WHY_ATTRIBUTED_OTHERS)
			continue;
		lines[n] = (struct line){ .row = *row, .weight = is_command ? NAN : above[level] };
		lines[n].label = alloc_keep(&rows->texts, label(row));
		n++;
	}
	rows->section.n_rows = n;
}

const struct view_table diff_attribution = {
	.name = "attribution",
	.is_answer = true,
	.first = 10,
	.is_whole = true,
	.title = "Where the change per run comes from; parts add up, SHARE is of the line above",
	.legend = "Functions exclude timed callees",
	ONE_GROUP(columns),
	.weight = offsetof(struct line, weight),
	.rows = rows,
};
