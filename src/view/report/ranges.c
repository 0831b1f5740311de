// SPDX-License-Identifier: GPL-2.0-or-later
/* Inlined functions that were timed, and calls that were timed at the call site because the called function cannot be timed. */

#include "base/alloc.h"
#include "view/page/columns.h"
#include "view/names.h"
#include "view/report.h"

static const struct output_column body[] = {
	COLUMN("name", TEXT, analyze_range, body.name, .header = "RANGE"),
	COLUMN("function", TEXT, analyze_range, body.function, .header = "IN"),
	COLUMN("chain", TEXT, analyze_range, body.chain),
	COLUMN("location", TEXT, analyze_range, location, .header = "AT", .rank = 4),
	COLUMN("syscall", TEXT, analyze_range, context, .header = "CONTEXT"),
};

static const struct output_column figures[] = {
	COLUMN("calls", COUNT, analyze_figures, calls, .header = "CALLS", .rank = 1),
	COLUMN("total", TIME, analyze_figures, total, .header = "TOTAL", .prefixed = true,
	       .estimable = true),
	COLUMN("mean", TIME, analyze_figures, mean, .header = "MEAN", .rank = 1, .prefixed = true),
};

static const struct output_column share[] = {
	COLUMN("share", FRACTION, analyze_range, share, .header = "SHARE", .estimable = true),
};

static const struct output_column side[] = {
	COLUMN("source", TEXT, analyze_range_side, source, .names = view_sources),
	COLUMN("entries", COUNT, analyze_range_side, entries),
	COLUMN("share_low", FRACTION, analyze_range_side, low, .header = "LOW", .rank = 2),
	COLUMN("share_high", FRACTION, analyze_range_side, high, .header = "HIGH", .rank = 2),
	COLUMN("caveat", TEXT, analyze_range_side, caveat, .names = view_caveats,
	       .header = "CAVEAT", .rank = 3),
	COLUMN("why", TEXT, analyze_range_side, why, .header = "NOT TIMED", .rank = 4),
};

static const struct output_column estimate[] = {
	COLUMN("samples", COUNT, analyze_estimate, samples),
	COLUMN("of", COUNT, analyze_estimate, of),
	COLUMN("share", FRACTION, analyze_estimate, share.value),
	COLUMN("share_low", FRACTION, analyze_estimate, share.low),
	COLUMN("share_high", FRACTION, analyze_estimate, share.high),
	COLUMN("self_share", FRACTION, analyze_estimate, self_share),
	COLUMN("total", TIME, analyze_estimate, total.value),
	COLUMN("total_low", TIME, analyze_estimate, total.low),
	COLUMN("total_high", TIME, analyze_estimate, total.high),
	COLUMN("self_total", TIME, analyze_estimate, self_total),
	COLUMN("late", COUNT, analyze_estimate, late),
	COLUMN("missing", COUNT, analyze_estimate, missing),
};

static const struct output_group groups[] = {
	{ COLUMNS(body) },
	VIEW_FIGURES(analyze_range, side.figures, figures),
	{ COLUMNS(share) },
	{ AT(analyze_range, side), COLUMNS(side) },
	{ .key = "estimate", AT(analyze_range, side.estimate), COLUMNS(estimate) },
};

/* Return "~" if the time is an estimate, or "?~" if the estimate also has a caveat; otherwise return NULL. */
static const char *mark(const void *row, const struct output_group *group)
{
	const struct analyze_range_side *s = &((const struct analyze_range *)row)->side;

	(void)group;
	if (s->source != ANALYZE_SOURCE_ESTIMATED)
		return NULL;
	return s->caveat ? "?~" : "~";
}

static char *title(const void *data)
{
	const struct view_report *r = data;

	return alloc_printf("Inlined bodies, including callees; SHARE of the context%s",
			    r->ranges.counted ? "" : " (~: estimated from samples)");
}

const struct view_table report_ranges = {
	.name = "ranges",
	.first = 6,
	.title_of = title,
	.legend = "LOW and HIGH are the 95 % interval of an estimate; record --range NAME times "
		  "the body instead. ?: its samples were delayed while interrupts were off. NAME() "
		  "is a call timed at the call site, since its target cannot be; (*)() is a call "
		  "through a pointer",
	.none = "Inlined bodies: none timed (use record --range NAME), and none seen in samples.",
	GROUPS(groups),
	.redundant = offsetof(struct analyze_range, redundant),
	.mark = mark,
	.weight = offsetof(struct analyze_range, side.figures.total),
	VIEW_LIST(view_report, ranges.rows, ranges.n_rows),
};
