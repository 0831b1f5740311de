// SPDX-License-Identifier: GPL-2.0-or-later
/* Changes of the event by which both sides were sampled, by function. */
#include "output/folded.h"
#include "output/number.h"
#include "view/diff.h"
#include "view/names.h"
#include "view/page/columns.h"

struct line {
	struct analyze_sampled_row of;
	const char *name;
};

static const struct output_column columns[] = {
	COLUMN("name", TEXT, line, name, .header = "FUNCTION (SELF)", .elastic = true),
	COLUMN("baseline_total", COUNT, line, of.totals[0], .header = "BASELINE"),
	COLUMN("hardened_total", COUNT, line, of.totals[1], .header = "HARDENED"),
	COLUMN("delta", CHANGE, line, of.delta, .header = "DELTA"),
	COLUMN("plus_minus", RATE, line, of.change.plus_minus, .header = "+-", .rank = 2),
	COLUMN("delta_pct", PERCENT, line, of.delta_pct, .header = "%"),
	COLUMN("verdict", TEXT, line, of.change.verdict, .names = view_more_or_fewer,
	       .header = "VERDICT", .rank = 1),
	COLUMN("p", PROBABILITY, line, of.change.p, .header = "P", .rank = 4),
	COLUMN("ci", INTERVAL, line, of.change.ci),
};

static bool make_line(struct view_rows *rows, void *line, const void *data)
{
	struct line *l = line;
	const struct analyze_leaf *leaf = &l->of.leaf;

	(void)data;
	l->name = !leaf->n_frames ?
			  ANALYZE_ALL_CONTEXTS :
			  alloc_keep(&rows->texts,
				     rows->for_people ?
					     view_frames(leaf->frames, leaf->n_frames) :
					     output_folded_frames(leaf->frames, leaf->n_frames));
	return true;
}

static char *title(const void *data)
{
	const struct view_diff *c = data;
	const char *each[2];

	for (int i = 0; i < VIEW_N_SIDES; i++)
		each[i] = output_number(OUTPUT_COUNT, profile_sample_weight(c->common.p[i]),
					PROFILE_CLOCK_NS);
	return alloc_printf("Events by function: %s per run, from samples of one in %s%s%s",
			    c->sampled.event, each[0], strcmp(each[0], each[1]) ? " and " : "",
			    strcmp(each[0], each[1]) ? each[1] : "");
}

const struct view_table diff_sampled = {
	.name = "sampled",
	.first = 8,
	.title_of = title,
	.legend = "Samples by an event do not measure time",
	ONE_GROUP(columns),
	VIEW_LIST(view_diff, sampled.rows, sampled.n_rows),
	VIEW_LINES(line, make_line),
};
