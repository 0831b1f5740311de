// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of `diff --trace`: a traced call of each recording, side by side. */

#include "base/alloc.h"
#include "view/page/columns.h"
#include "view/diff.h"
#include "view/names.h"
#include "view/words.h"

struct line {
	struct analyze_trace_pair of;
	const char *mark, *texts[VIEW_N_SIDES];
	double depth;
};

static const struct output_column columns[] = {
	COLUMN("change", TEXT, line, of.change, .names = view_trace_changes),
	COLUMN("first", FLAG, line, of.first),
	COLUMN("depth", COUNT, line, depth),
	COLUMN(NULL, TEXT, line, mark, .header = " "),
	COLUMN("baseline", TEXT, line, texts[VIEW_BASELINE], .header = "BASELINE"),
	COLUMN("hardened", TEXT, line, texts[VIEW_HARDENED], .header = "HARDENED"),
	COLUMN("delta_total", DELTA, line, of.delta, .header = "DELTA"),
};

static bool make_line(struct view_rows *rows, void *line, const void *data)
{
	static const char *const marks[] = { "", "|", "<", ">", "~" };
	struct line *l = line;

	(void)data;
	l->mark = l->of.first ? "first >>>" : marks[l->of.change];
	for (int side = 0; side < VIEW_N_SIDES; side++) {
		if (!l->of.lines[side])
			continue;
		l->depth = l->of.lines[side]->depth;
		l->texts[side] = alloc_keep(&rows->texts, view_trace_text(l->of.lines[side]));
	}
	return true;
}

const struct view_table diff_trace = {
	.name = "trace",
	.title = "One call per side, side by side. <, >: on one side only; ~: in a different "
		 "order; |: differs, or its callees do",
	ONE_GROUP(columns),
	VIEW_LIST(view_diff, trace.pairs, trace.n_pairs),
	VIEW_LINES(line, make_line),
};
