// SPDX-License-Identifier: GPL-2.0-or-later
/* The perf events that `record --event` counted during each call. */
#include "view/page/columns.h"
#include "view/report.h"

static const struct output_column place[] = {
	COLUMN("event", TEXT, analyze_event_row, event, .header = "EVENT"),
	COLUMN("name", TEXT, analyze_event_row, name, .header = "CALL OF"),
	COLUMN("syscall", TEXT, analyze_event_row, context, .header = "IN"),
};

static const struct output_column figures[] = {
	COLUMN("mean", RATE, analyze_event_side, mean, .header = "PER CALL"),
	COLUMN("self", RATE, analyze_event_side, self, .header = "SELF"),
	COLUMN("calls", COUNT, analyze_event_side, calls, .header = "CALLS"),
	COLUMN("total", COUNT, analyze_event_side, total, .header = "TOTAL"),
};

static const struct output_group groups[] = {
	{ COLUMNS(place) },
	{ AT(analyze_event_row, sides[0]), COLUMNS(figures) },
};

const struct view_table report_events = {
	.name = "events",
	.title = "Events counted with each call; calls and totals per run",
	.legend = "SELF excludes timed callees",
	.first = 6,
	GROUPS(groups),
	.redundant = offsetof(struct analyze_event_row, redundant),
	.weight = offsetof(struct analyze_event_row, sides[0].total),
	VIEW_LIST(view_report, events.rows, events.n_rows),
};
