// SPDX-License-Identifier: GPL-2.0-or-later
/* The loops of functions whose blocks were counted, and how many calls had which trip count. */

#include "base/alloc.h"
#include "view/page/columns.h"
#include "view/report.h"
#include "view/words.h"

struct line {
	struct analyze_loop loop;
	const char *spread, *trip_value;
	bool is_of_a_context; /* which is what the row of all contexts says */
};

static const struct output_column columns[] = {
	COLUMN("function", TEXT, line, loop.function, .header = "LOOP IN"),
	COLUMN("syscall", TEXT, line, loop.context),
	COLUMN("location", TEXT, line, loop.location, .header = "AT"),
	COLUMN("body", TEXT, line, loop.body, .header = "INLINED", .rank = 1),
	COLUMN("condition", TEXT, line, loop.condition, .header = "WHILE", .elastic = true),
	COLUMN("trip_value", TEXT, line, trip_value, .header = "ITERATIONS (CALLS)",
	       .rank = OUTPUT_IF_ANY),
	COLUMN("offset", COUNT, line, loop.offset),
	COLUMN("trip_count", FRACTION, line, loop.trips, .header = "TRIP COUNT"),
	COLUMN("insns_per_iteration", FRACTION, line, loop.insns_per_iteration,
	       .header = "INSN/ITERATION"),
	COLUMN("insns_per_call", COUNT, line, loop.insns_per_call, .header = "INSN/CALL",
	       .rank = 3),
	COLUMN("spread", TEXT, line, spread, .header = "TRIP COUNT: CALLS", .rank = 2,
	       .elastic = true),
};

static const struct output_column trip_columns[] = {
	COLUMN("function", TEXT, analyze_loop_trips, function, .header = "LOOP IN"),
	COLUMN("syscall", TEXT, analyze_loop_trips, context, .header = "CONTEXT"),
	COLUMN("location", TEXT, analyze_loop_trips, location, .header = "AT"),
	COLUMN("body", TEXT, analyze_loop_trips, body, .header = "INLINED", .rank = 1),
	COLUMN("offset", COUNT, analyze_loop_trips, offset),
	COLUMN("low", COUNT, analyze_loop_trips, trips.low, .header = "FROM"),
	COLUMN("high", COUNT, analyze_loop_trips, trips.high, .header = "TO"),
	COLUMN("calls", COUNT, analyze_loop_trips, trips.calls, .header = "CALLS"),
	COLUMN("share", FRACTION, analyze_loop_trips, trips.share, .header = "SHARE"),
};

/* "return->objects - 1 (100 %)"; NULL: not known. For free(). */
static char *trip_value_text(const struct analyze_trip_value *t)
{
	char *text = NULL;

	if (!t->variable)
		return NULL;
	alloc_append(&text, "%s", t->variable->name);
	if (t->more)
		alloc_append(&text, " %c %d", t->more < 0 ? '-' : '+', abs((int)t->more));
	alloc_append(&text, " (%.3g %%)", 100 * t->share);
	return text;
}

static bool make_line(struct view_rows *rows, void *line, const void *data)
{
	const struct analyze_paths *paths = &((const struct view_report *)data)->paths;
	struct line *l = line;

	l->spread = alloc_keep(&rows->texts, view_trips_of_loop(paths, &l->loop));
	l->trip_value = alloc_keep(&rows->texts, trip_value_text(&l->loop.trip_value));
	l->is_of_a_context = !analyze_is_sum(l->loop.context);
	return true;
}

const struct view_table report_loops = {
	.name = "loops",
	.first = 5,
	.is_aside = view_report_is_exact,
	.title = "Loops, including nested loops; TRIP COUNT is the mean per call",
	.legend = "TRIP COUNT: CALLS shows what share of the calls had which trip count",
	ONE_GROUP(columns),
	.redundant = offsetof(struct line, is_of_a_context),
	VIEW_LIST(view_report, paths.loops, paths.n_loops),
	VIEW_LINES(line, make_line),
};

const struct view_table report_trip_counts = {
	.name = "trip_counts",
	.title = "Trip counts, FROM to TO, and how many calls had them",
	ONE_GROUP(trip_columns),
	VIEW_LIST(view_report, paths.trips, paths.n_trips),
};
