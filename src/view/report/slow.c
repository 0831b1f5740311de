// SPDX-License-Identifier: GPL-2.0-or-later
/* The calls that record --slower-than kept, one by one. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "output/number.h"
#include "view/names.h"
#include "view/page/columns.h"
#include "view/report.h"

struct line {
	struct analyze_slow_row of;
	const char *values;
};

static const struct output_column columns[] = {
	COLUMN("name", TEXT, line, of.name, .header = "CALL OF"),
	COLUMN("syscall", TEXT, line, of.syscall, .header = "IN"),
	COLUMN("wall", TIME, line, of.wall, .header = "WALL", .rank = 1),
	COLUMN("oncpu", TIME, line, of.oncpu, .header = "ON CPU"),
	COLUMN("start", TIME, line, of.start, .header = "AT"),
	COLUMN("comm", TEXT, line, of.comm, .header = "TASK", .is_raw = true),
	COLUMN("tid", COUNT, line, of.tid, .header = "TID"),
	COLUMN("pid", COUNT, line, of.pid),
	COLUMN("values", TEXT, line, values, .header = "VALUES", .elastic = true),
	COLUMN("stack", TEXT, line, of.stack),
};

static char *title(const void *data)
{
	const struct view_report *r = data;
	const char *limit = profile_env_get(r->common.p[0], PROFILE_ENV_SLOWER);
	uint64_t lost = r->losses.counts[PROFILE_LOSS_SLOW_FULL];
	char *text = alloc_strdup("Slow calls, slowest first");

	if (limit)
		alloc_append(
			&text, ": %u that took %s or more, sleeping included", r->slow.n_rows,
			output_number(OUTPUT_TIME, strtod(limit, NULL), r->common.p[0]->clock));
	if (lost && lost != PROFILE_NOT_COUNTED)
		alloc_append(&text, " (%" PRIu64 " more did not fit)", lost);
	return text;
}

static bool make_line(struct view_rows *rows, void *line, const void *data)
{
	const struct profile *p = ((const struct view_data *)data)->p[0];
	struct line *l = line;
	const struct profile_slow *of = l->of.of;
	char *text = NULL;

	if (l->of.has_values)
		view_append_values(&text, p, of->site, of->values, of->absent, UINT32_MAX);
	l->values = alloc_keep(&rows->texts, text);
	return true;
}

const struct view_table report_slow = {
	.name = "slow",
	.title_of = title,
	ONE_GROUP(columns),
	.legend = "AT is the time since the first of them began. --format=csv and json have their "
		  "stacks",
	VIEW_LIST(view_report, slow.rows, slow.n_rows),
	VIEW_LINES(line, make_line),
	.first = 5,
};
