// SPDX-License-Identifier: GPL-2.0-or-later
/* The figures that the workload printed, and the command's elapsed time, in both recordings. */
#include "view/page/columns.h"
#include "view/diff.h"
#include "view/names.h"

static const struct output_column id[] = {
	COLUMN("name", TEXT, analyze_diff_workload_row, name, .header = "WORKLOAD",
	       .label = view_workload_label),
	COLUMN("probed", FLAG, analyze_diff_workload_row, probed),
	COLUMN(NULL, TEXT, analyze_diff_workload_row, how, .names = view_hows, .header = "HOW"),
};

static const struct output_column figures[] = {
	COLUMN("iterations", COUNT, analyze_workload_figures, iterations),
	COLUMN("mean", TIME, analyze_workload_figures, mean, .header = "MEAN"),
	COLUMN("p50", TIME, analyze_workload_figures, p50),
	COLUMN("min", TIME, analyze_workload_figures, min, .header = "MIN", .rank = 6),
};

static const struct output_column delta[] = {
	COLUMN("delta", DELTA, analyze_diff_workload_row, delta, .header = "DELTA"),
};

static const struct output_column pct[] = {
	COLUMN("delta_pct", PERCENT, analyze_diff_workload_row, delta_pct, .header = "%"),
};

static const struct output_group groups[] = {
	{ COLUMNS(id) },
	{ .key = "baseline", AT(analyze_diff_workload_row, sides[0]), COLUMNS(figures) },
	{ .key = "hardened", AT(analyze_diff_workload_row, sides[1]), COLUMNS(figures) },
	{ COLUMNS(delta) },
	{ AT(analyze_diff_workload_row, change), VIEW_PLUS_MINUS },
	{ COLUMNS(pct) },
	{ AT(analyze_diff_workload_row, change), VIEW_VERDICT },
};

const struct view_table diff_workload = {
	.name = "workload",
	.first = 4,
	GROUPS(groups),
	.mark = view_noise_mark,
	VIEW_LIST(view_diff, diff.workload, diff.n_workload),
};
