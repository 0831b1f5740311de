// SPDX-License-Identifier: GPL-2.0-or-later
/* How the event by which both sides were sampled changed, by function. */
#include "output/folded.h"
#include "output/number.h"
#include "view/diff.h"
#include "view/names.h"
#include "view/page/columns.h"

struct line {
	const char *name;
	double totals[2], delta, delta_pct, plus_minus, p;
	struct analyze_interval ci;
	enum analyze_verdict verdict;
};

static const struct output_column columns[] = {
	COLUMN("name", TEXT, line, name, .header = "FUNCTION ITSELF", .elastic = true),
	COLUMN("baseline_total", COUNT, line, totals[0], .header = "BASELINE"),
	COLUMN("hardened_total", COUNT, line, totals[1], .header = "HARDENED"),
	COLUMN("delta", RATE, line, delta, .header = "DELTA"),
	COLUMN("plus_minus", RATE, line, plus_minus, .header = "+-", .rank = 2),
	COLUMN("delta_pct", PERCENT, line, delta_pct, .header = "%"),
	COLUMN("verdict", TEXT, line, verdict, .names = view_more_or_fewer, .header = "VERDICT",
	       .rank = 1),
	COLUMN("p", PROBABILITY, line, p, .header = "P", .rank = 4),
	COLUMN("ci", INTERVAL, line, ci),
};

static void rows(struct view_rows *rows, const void *data)
{
	const struct analyze_sampled_events *s = &((const struct view_diff *)data)->sampled;
	struct line *lines = view_rows_new(rows, s->n_rows, sizeof(*lines));

	for (uint32_t i = 0; i < s->n_rows; i++) {
		const struct analyze_sampled_row *r = &s->rows[i];
		const struct analyze_leaf *leaf = &r->leaf;
		char *name = leaf->n_frames ? output_folded_frames(leaf->frames, leaf->n_frames) :
					      alloc_strdup(ANALYZE_ALL_CONTEXTS);

		lines[i] = (struct line){ .name = alloc_keep(&rows->texts, name),
					  .totals = { r->totals[0], r->totals[1] },
					  .delta = r->delta,
					  .delta_pct = r->delta_pct,
					  .plus_minus = r->change.plus_minus,
					  .p = r->change.p,
					  .ci = r->change.ci,
					  .verdict = r->change.verdict };
	}
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
	.legend = "samples by an event tell nothing of time",
	ONE_GROUP(columns),
	.rows = rows,
};
