// SPDX-License-Identifier: GPL-2.0-or-later
/* Loops in functions whose basic blocks were counted. */

#include "view/page/columns.h"
#include "view/report.h"

struct line {
	struct analyze_loop loop;
	bool is_of_a_context; /* a row of one context; the row of all contexts includes it */
};

static const struct output_column columns[] = {
	COLUMN("function", TEXT, line, loop.function, .header = "LOOP IN"),
	COLUMN("syscall", TEXT, line, loop.context),
	COLUMN("location", TEXT, line, loop.location, .header = "AT"),
	COLUMN("body", TEXT, line, loop.body, .header = "INLINED", .rank = 1),
	COLUMN("condition", TEXT, line, loop.condition, .header = "WHILE", .elastic = true),
	COLUMN("offset", COUNT, line, loop.offset),
	COLUMN("trip_count", FRACTION, line, loop.trips, .header = "TRIP COUNT"),
	COLUMN("insns_per_iteration", FRACTION, line, loop.insns_per_iteration,
	       .header = "PER ITERATION"),
	COLUMN("insns_per_call", COUNT, line, loop.insns_per_call, .header = "PER CALL", .rank = 2),
};

static bool make_line(struct view_rows *rows, void *line, const void *data)
{
	struct line *l = line;

	(void)rows;
	(void)data;
	l->is_of_a_context = !analyze_is_sum(l->loop.context);
	return true;
}

const struct view_table report_loops = {
	.name = "loops",
	.first = 5,
	.is_aside = view_report_is_exact,
	.title =
		"Loops, including nested loops; TRIP COUNT is the mean per call, PER ITERATION and PER CALL "
		"are instructions",
	ONE_GROUP(columns),
	.redundant = offsetof(struct line, is_of_a_context),
	VIEW_LIST(view_report, loops.rows, loops.n_rows),
	VIEW_LINES(line, make_line),
};
