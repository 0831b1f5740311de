// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of the command's runs. */
#include <math.h>

#include "base/alloc.h"
#include "view/page/columns.h"
#include "view/report.h"

struct run {
	double wall, cpu, status, boot;
	bool probed;
	const char *signal;
};

static const struct output_column columns[] = {
	COLUMN("wall", TIME, run, wall, .header = "WALL"),
	COLUMN("cpu", TIME, run, cpu, .header = "CPU"),
	COLUMN("status", COUNT, run, status, .header = "STATUS"),
	COLUMN("boot", COUNT, run, boot, .header = "BOOT"),
	COLUMN("probed", FLAG, run, probed, .header = "PROBED"),
	COLUMN("signal", TEXT, run, signal, .header = "SIGNAL", .rank = OUTPUT_IF_ANY),
};

static double time_of(uint64_t count)
{
	return count == PROFILE_NOT_COUNTED ? NAN : (double)count;
}

static void rows(struct view_rows *rows, const void *data)
{
	const struct view_report *r = data;
	struct run *runs = view_rows_new(rows, r->common.p[0]->n_runs, sizeof(*runs));

	for (uint32_t i = 0; i < r->common.p[0]->n_runs; i++) {
		const struct profile_run *run = &r->common.p[0]->runs[i];

		runs[i] = (struct run){
			.wall = time_of(run->wall),
			.cpu = time_of(run->cpu),
			.status = run->end == PROFILE_END_NONE ? NAN : run->status,
			.signal = alloc_keep(&rows->texts, profile_run_signal(run)),
			.boot = run->boot,
			.probed = profile_run_is_probed(r->common.p[0], run),
		};
	}
}

const struct view_table report_runs = {
	.name = "runs",
	.is_closed = true,
	.title = "Runs, from start to exit of the command",
	ONE_GROUP(columns),
	.rows = rows,
};
