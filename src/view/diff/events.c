// SPDX-License-Identifier: GPL-2.0-or-later
/* The table that compares the numbers of perf events, which `record --event` counts during each call. */
#include "view/page/columns.h"
#include "view/diff.h"

/* Verdicts on numbers of events. "slower" and "faster" would be wrong, since fewer events do not always save time. */
static const char *const verdicts[] = {
	[ANALYZE_VERDICT_NONE] = NULL,         [ANALYZE_VERDICT_SAME] = "same",
	[ANALYZE_VERDICT_SLOWER] = "more",     [ANALYZE_VERDICT_FASTER] = "fewer",
	[ANALYZE_VERDICT_UNCLEAR] = "unclear",
};

static const struct output_column place[] = {
	COLUMN("event", TEXT, analyze_event_row, event, .header = "EVENT"),
	COLUMN("name", TEXT, analyze_event_row, name, .header = "CALL OF"),
	COLUMN("syscall", TEXT, analyze_event_row, context, .header = "IN"),
};

static const struct output_column figures[] = {
	COLUMN("mean", RATE, analyze_event_side, mean, .header = "PER CALL", .prefixed = true),
	COLUMN("self", RATE, analyze_event_side, self),
	COLUMN("calls", COUNT, analyze_event_side, calls),
	COLUMN("total", COUNT, analyze_event_side, total),
};

static const struct output_column delta[] = {
	COLUMN("delta", RATE, analyze_event_row, delta, .header = "DELTA"),
};

static const struct output_column sure[] = {
	COLUMN("plus_minus", RATE, analyze_change, plus_minus, .header = "+-", .rank = 2),
};

static const struct output_column percent[] = {
	COLUMN("delta_pct", PERCENT, analyze_event_row, delta_pct, .header = "%"),
};

static const struct output_column verdict[] = {
	COLUMN("verdict", TEXT, analyze_change, verdict, .names = verdicts, .header = "VERDICT",
	       .rank = 1),
	COLUMN("p", PROBABILITY, analyze_change, p, .header = "P", .rank = 4),
	COLUMN("ci", INTERVAL, analyze_change, ci),
};

static const struct output_group groups[] = {
	{ COLUMNS(place) },
	{ .key = "baseline", AT(analyze_event_row, sides[0]), COLUMNS(figures) },
	{ .key = "hardened", AT(analyze_event_row, sides[1]), COLUMNS(figures) },
	{ COLUMNS(delta) },
	{ AT(analyze_event_row, change), COLUMNS(sure) },
	{ COLUMNS(percent) },
	{ AT(analyze_event_row, change), COLUMNS(verdict) },
};

const struct view_table diff_events = {
	.name = "events",
	.title = "Events counted with each call",
	.first = 6,
	GROUPS(groups),
	.redundant = offsetof(struct analyze_event_row, redundant),
	VIEW_LIST(view_diff, events.rows, events.n_rows),
};
