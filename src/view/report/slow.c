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
	COLUMN("comm", TEXT, line, of.comm, .header = "TASK"),
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
			&text, ": %u of %s and more, sleeping included", r->slow.n_rows,
			output_number(OUTPUT_TIME, strtod(limit, NULL), r->common.p[0]->clock));
	if (lost && lost != PROFILE_NOT_COUNTED)
		alloc_append(&text, " (%" PRIu64 " more did not fit)", lost);
	return text;
}

static void rows(struct view_rows *rows, const void *data)
{
	const struct view_report *r = data;
	struct line *lines = view_rows_new(rows, r->slow.n_rows, sizeof(*lines));

	for (uint32_t i = 0; i < r->slow.n_rows; i++) {
		const struct profile_slow *of = r->slow.rows[i].of;
		char *text = NULL;

		if (r->slow.rows[i].has_values)
			view_append_values(&text, r->common.p[0], of->site, of->values, of->absent,
					   UINT32_MAX);
		lines[i] = (struct line){ r->slow.rows[i], alloc_keep(&rows->texts, text) };
	}
}

const struct view_table report_slow = {
	.name = "slow",
	.title_of = title,
	ONE_GROUP(columns),
	.legend = "AT is the time since the first of them began. --format=csv and json have their "
		  "stacks",
	.rows = rows,
	.first = 5,
};
