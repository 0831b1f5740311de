// SPDX-License-Identifier: GPL-2.0-or-later
/* Changes of inlined bodies. */
#include "view/page/columns.h"
#include "view/diff.h"
#include "view/names.h"

static const struct output_column body[] = {
	COLUMN("name", TEXT, analyze_diff_range, body.name, .header = "RANGE"),
	COLUMN("function", TEXT, analyze_diff_range, body.function, .header = "IN"),
	COLUMN("chain", TEXT, analyze_diff_range, body.chain),
	COLUMN("location", TEXT, analyze_diff_range, location, .header = "AT"),
	COLUMN("syscall", TEXT, analyze_diff_range, context, .header = "CONTEXT"),
};

/* Totals are compared, since an estimate has no calls, and so no means. */
static const struct output_column figures[] = {
	COLUMN("calls", COUNT, analyze_figures, calls, .header = "CALLS", .rank = 4),
	COLUMN("total", TIME, analyze_figures, total, .header = "TOTAL", .rank = 2,
	       .prefixed = true, .estimable = true),
	COLUMN("mean", TIME, analyze_figures, mean, .header = "MEAN", .rank = 3, .prefixed = true),
};

static const struct output_column side[] = {
	COLUMN("source", TEXT, analyze_range_side, source, .names = view_sources),
	COLUMN("entries", COUNT, analyze_range_side, entries),
	COLUMN("samples", COUNT, analyze_range_side, estimate.samples),
	COLUMN("samples_of", COUNT, analyze_range_side, estimate.of),
	COLUMN("share", FRACTION, analyze_range_side, estimate.share.value),
	COLUMN("share_low", FRACTION, analyze_range_side, estimate.share.low),
	COLUMN("share_high", FRACTION, analyze_range_side, estimate.share.high),
	COLUMN("self_share", FRACTION, analyze_range_side, estimate.self_share),
	COLUMN("estimated_total", TIME, analyze_range_side, estimate.total.value),
	COLUMN("estimated_low", TIME, analyze_range_side, estimate.total.low),
	COLUMN("estimated_high", TIME, analyze_range_side, estimate.total.high),
	COLUMN("caveat", TEXT, analyze_range_side, caveat, .names = view_caveats),
	COLUMN("why", TEXT, analyze_range_side, why),
};

static const struct output_column deltas[] = {
	COLUMN("delta", DELTA, analyze_diff_range, delta, .header = "DELTA", .rank = 3),
	COLUMN("delta_pct", PERCENT, analyze_diff_range, delta_pct, .header = "%", .rank = 3),
	COLUMN("delta_total", DELTA, analyze_diff_range, delta_total.value, .header = "DELTA/RUN",
	       .estimable = true),
	COLUMN("delta_total_low", DELTA, analyze_diff_range, delta_total.low),
	COLUMN("delta_total_high", DELTA, analyze_diff_range, delta_total.high),
	COLUMN("share", FRACTION, analyze_diff_range, share, .header = "SHARE", .estimable = true),
	COLUMN("syscall_share", FRACTION, analyze_diff_range, syscall_share, .header = "OF CONTEXT",
	       .rank = 1),
};

/* Behind all others: readers of CSV may go by the order. */
static const struct output_column note[] = {
	COLUMN("note", TEXT, analyze_diff_range, note, .names = view_notes, .header = "NOTE",
	       .rank = 7),
};

static const struct output_group groups[] = {
	{ COLUMNS(body) },
	VIEW_FIGURES(analyze_diff_range, sides[0].figures, figures, .key = "baseline"),
	VIEW_FIGURES(analyze_diff_range, sides[1].figures, figures, .key = "hardened"),
	{ COLUMNS(deltas) },
	{ .key = "baseline", AT(analyze_diff_range, sides[0]), COLUMNS(side) },
	{ .key = "hardened", AT(analyze_diff_range, sides[1]), COLUMNS(side) },
	{ AT(analyze_diff_range, change), VIEW_PLUS_MINUS },
	{ AT(analyze_diff_range, change), VIEW_VERDICT },
	{ COLUMNS(note) },
};

static const char *mark(const void *row, const struct output_group *group)
{
	const struct analyze_diff_range *range = row;
	const char *a = view_range_mark(&range->sides[0]), *b = view_range_mark(&range->sides[1]);

	if (group->columns == view_verdict)
		return view_noise_mark(row, group);
	if (group->key)
		return group->offset == offsetof(struct analyze_diff_range, sides[0].figures) ? a :
												b;
	if (range->sides[0].caveat || range->sides[1].caveat)
		return "?~";
	return a ? a : b;
}

static void prepare(void *row)
{
	analyze_change_work_out(&((struct analyze_diff_range *)row)->change);
}

const struct view_table diff_ranges = {
	.name = "ranges",
	.first = 6,
	.title = "Inlined bodies, including callees; SHARE of the function's change (~: estimated "
		 "from samples)",
	.legend = "Estimates are shown if they changed significantly; record --range NAME times "
		  "them. ?: samples were delayed while interrupts were off",
	.none = "Inlined bodies: none timed (use record --range NAME) and no significant change in "
		"samples, or none matching --filter.",
	GROUPS(groups),
	.redundant = offsetof(struct analyze_diff_range, redundant),
	.mark = mark,
	.prepare = prepare,
	.weight = offsetof(struct analyze_diff_range, delta_total.value),
	VIEW_LIST(view_diff, diff.ranges.rows, diff.ranges.n_rows),
};
