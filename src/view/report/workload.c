// SPDX-License-Identifier: GPL-2.0-or-later
/* The figures that the workload printed about itself, and the time of the whole command. */
#include "view/page/columns.h"
#include "view/names.h"
#include "view/report.h"

static const struct output_column id[] = {
	COLUMN("name", TEXT, analyze_workload_row, name, .header = "WORKLOAD",
	       .label = view_workload_label),
	COLUMN("probed", FLAG, analyze_workload_row, probed),
	COLUMN(NULL, TEXT, analyze_workload_row, how, .names = view_hows, .header = "HOW"),
};

static const struct output_column figures[] = {
	COLUMN("iterations", COUNT, analyze_workload_figures, iterations, .header = "ITERATIONS",
	       .rank = 1),
	COLUMN("mean", TIME, analyze_workload_figures, mean, .header = "MEAN"),
	COLUMN("p50", TIME, analyze_workload_figures, p50, .header = "P50", .rank = 2),
	COLUMN("min", TIME, analyze_workload_figures, min, .header = "MIN", .rank = 3),
};

static const struct output_column net[] = {
	COLUMN("net", TIME, analyze_workload_row, net, .header = "NET", .rank = 1),
	COLUMN("net_error", TIME, analyze_workload_row, net_error, .header = "+-", .rank = 1),
};

static const struct output_group groups[] = {
	{ COLUMNS(id) },
	{ AT(analyze_workload_row, figures), COLUMNS(figures) },
	{ COLUMNS(net) },
};

const struct view_table report_workload = {
	.name = "workload",
	.first = 4,
	GROUPS(groups),
	VIEW_LIST(view_report, workload.rows, workload.n_rows),
};
