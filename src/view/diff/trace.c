// SPDX-License-Identifier: GPL-2.0-or-later
/* diff --trace: two calls that were kept whole, side by side. */

#include "base/alloc.h"
#include "view/page/columns.h"
#include "view/diff.h"
#include "view/names.h"
#include "view/words.h"

struct line {
	enum analyze_trace_change change;
	bool first;
	const char *mark, *texts[VIEW_N_SIDES];
	double depth, delta;
};

static const struct output_column columns[] = {
	COLUMN("change", TEXT, line, change, .names = view_trace_changes),
	COLUMN("first", FLAG, line, first),
	COLUMN("depth", COUNT, line, depth),
	COLUMN(NULL, TEXT, line, mark, .header = " "),
	COLUMN("baseline", TEXT, line, texts[VIEW_BASELINE], .header = "BASELINE"),
	COLUMN("hardened", TEXT, line, texts[VIEW_HARDENED], .header = "HARDENED"),
	COLUMN("delta_total", DELTA, line, delta, .header = "DELTA"),
};

static const char *mark_of(const struct analyze_trace_pair *pair)
{
	static const char *const marks[] = { "", "|", "<", ">", "~" };

	return pair->first ? "first >>>" : marks[pair->change];
}

static void rows(struct view_rows *rows, const void *data)
{
	const struct analyze_trace_diff *d = &((const struct view_diff *)data)->trace;
	struct line *lines = view_rows_new(rows, d->n_pairs, sizeof(*lines));

	for (uint32_t i = 0; i < d->n_pairs; i++) {
		const struct analyze_trace_pair *pair = &d->pairs[i];

		lines[i] = (struct line){ .change = pair->change,
					  .first = pair->first,
					  .mark = mark_of(pair),
					  .delta = pair->delta };
		for (int side = 0; side < VIEW_N_SIDES; side++) {
			if (!pair->lines[side])
				continue;
			lines[i].depth = pair->lines[side]->depth;
			lines[i].texts[side] =
				alloc_keep(&rows->texts, view_trace_text(pair->lines[side]));
		}
	}
}

const struct view_table diff_trace = {
	.name = "trace",
	.title = "One call per side, side by side. <, >: on one side only; ~: in a different "
		 "order; |: differs, or its callees do",
	ONE_GROUP(columns),
	.rows = rows,
};
