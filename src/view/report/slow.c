// SPDX-License-Identifier: GPL-2.0-or-later
/* The calls that record --slower-than kept, one by one. */
#include <inttypes.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "output/number.h"
#include "view/page/columns.h"
#include "view/report.h"

static const struct output_column columns[] = {
	COLUMN("name", TEXT, analyze_slow_row, name, .header = "CALL OF"),
	COLUMN("syscall", TEXT, analyze_slow_row, syscall, .header = "IN"),
	COLUMN("wall", TIME, analyze_slow_row, wall, .header = "WALL", .rank = 1),
	COLUMN("oncpu", TIME, analyze_slow_row, oncpu, .header = "ON CPU"),
	COLUMN("start", TIME, analyze_slow_row, start, .header = "AT"),
	COLUMN("comm", TEXT, analyze_slow_row, comm, .header = "TASK"),
	COLUMN("tid", COUNT, analyze_slow_row, tid, .header = "TID"),
	COLUMN("pid", COUNT, analyze_slow_row, pid),
	COLUMN("values", TEXT, analyze_slow_row, values, .header = "VALUES", .elastic = true),
	COLUMN("stack", TEXT, analyze_slow_row, stack),
};

static char *title(const void *data)
{
	const struct view_report *r = data;
	const char *limit = profile_env_get(r->p, PROFILE_ENV_SLOWER);
	uint64_t lost = r->losses.counts[PROFILE_LOSS_SLOW_FULL];
	char buf[OUTPUT_NUMBER_MAX], *text = alloc_strdup("Slow calls, slowest first");

	if (limit)
		alloc_append(&text, ": %u of %s and more, sleeping included", r->slow.n_rows,
			     output_number(buf, OUTPUT_TIME, strtod(limit, NULL), r->p->clock));
	if (lost && lost != PROFILE_NOT_COUNTED)
		alloc_append(&text, " (%" PRIu64 " more did not fit)", lost);
	return text;
}

const struct view_table report_slow = {
	.name = "slow",
	.title_of = title,
	ONE_GROUP(columns),
	.legend = "AT is the time since the first of them began. --format=csv and json have their "
		  "stacks",
	VIEW_LIST(view_report, slow.rows, slow.n_rows),
	.first = 5,
};
