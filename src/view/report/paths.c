// SPDX-License-Identifier: GPL-2.0-or-later
/* The paths of calls whose blocks were counted, and how often loops iterated on each. */
#include "base/alloc.h"
#include "view/page/columns.h"
#include "view/report.h"
#include "view/words.h"

struct line {
	struct analyze_path path;
	const char *trips;
};

static const struct output_column columns[] = {
	COLUMN("function", TEXT, line, path.function, .header = "PATHS OF",
	       .rank = OUTPUT_IF_VARIES),
	COLUMN("syscall", TEXT, line, path.context),
	COLUMN("path", COUNT, line, path.number),
	COLUMN("calls", COUNT, line, path.calls, .header = "CALLS"),
	COLUMN("share", FRACTION, line, path.share, .header = "SHARE"),
	COLUMN("mean", TIME, line, path.mean, .header = "CPU MEAN"),
	COLUMN("total", TIME, line, path.total, .header = "CPU TOTAL", .rank = 3),
	COLUMN("time_share", FRACTION, line, path.total_share, .header = "TIME SHARE", .rank = 2),
	COLUMN("trip_count", TEXT, line, trips, .header = "TRIP COUNTS", .rank = 1,
	       .elastic = true),
	COLUMN("does", TEXT, line, path.does, .header = "DOES", .elastic = true),
	COLUMN("lacks", TEXT, line, path.lacks, .header = "DOES NOT", .rank = 4, .elastic = true),
};

static const struct output_column trip_columns[] = {
	COLUMN("function", TEXT, analyze_path_trips, function, .header = "FUNCTION"),
	COLUMN("syscall", TEXT, analyze_path_trips, context, .header = "CONTEXT"),
	COLUMN("path", COUNT, analyze_path_trips, path, .header = "PATH"),
	COLUMN("location", TEXT, analyze_path_trips, location, .header = "LOOP AT"),
	COLUMN("body", TEXT, analyze_path_trips, body, .header = "INLINED", .rank = 1),
	COLUMN("offset", COUNT, analyze_path_trips, offset),
	COLUMN("trip_count", COUNT, analyze_path_trips, trips, .header = "TRIP COUNT"),
};

/* For people: those of all contexts. */
static bool make_line(struct view_rows *rows, void *line, const void *data)
{
	const struct analyze_paths *paths = &((const struct view_report *)data)->paths;
	struct line *l = line;

	if (rows->for_people && !analyze_is_sum(l->path.context))
		return false;
	l->trips = alloc_keep(&rows->texts, view_trips_of_path(paths, &l->path));
	return true;
}

const struct view_table report_paths = {
	.name = "paths",
	.first = 6,
	.title = "Paths, by calls; DOES: what most calls on other paths do not do",
	.legend = "For a path that nearly all calls take, DOES lists what it calls",
	ONE_GROUP(columns),
	VIEW_LIST(view_report, paths.rows, paths.n_rows),
	VIEW_LINES(line, make_line),
};

const struct view_table report_path_trip_counts = {
	.name = "path_trip_counts",
	.title = "Trip counts of loops, by path; paths are numbered by their rank in the context",
	ONE_GROUP(trip_columns),
	VIEW_LIST(view_report, paths.path_trips, paths.n_path_trips),
};
