// SPDX-License-Identifier: GPL-2.0-or-later
/* Calls of syscalls and of functions: a table for each, and a common table for CSV. */
#include "base/alloc.h"
#include "view/page/columns.h"
#include "view/names.h"
#include "view/report.h"

static const struct output_column kind[] = {
	COLUMN("kind", TEXT, analyze_row, kind, .names = view_call_kinds),
};

static const struct output_column syscall[] = {
	COLUMN("name", TEXT, analyze_row, name),
	COLUMN(NULL, TEXT, analyze_row, label, .header = "SYSCALL"),
};

static const struct output_column function[] = {
	COLUMN("name", TEXT, analyze_row, name),
	COLUMN(NULL, TEXT, analyze_row, label, .header = "FUNCTION"),
	COLUMN("syscall", TEXT, analyze_row, context, .header = "CONTEXT"),
};

static const struct output_column figures[] = {
	COLUMN("calls", COUNT, analyze_figures, calls, .header = "CALLS"),
	COLUMN(NULL, RATE, analyze_figures, rate, .header = "CALLS/S", .rank = OUTPUT_IF_ANY),
	COLUMN("total", TIME, analyze_figures, total, .header = "TOTAL", .prefixed = true),
	COLUMN("mean", TIME, analyze_figures, mean, .header = "MEAN", .prefixed = true),
	COLUMN("p50", TIME, analyze_figures, p50, .header = "P50", .rank = 2),
	COLUMN("p90", TIME, analyze_figures, p90, .header = "P90", .rank = 5),
	COLUMN("p99", TIME, analyze_figures, p99, .header = "P99", .rank = 1),
	COLUMN("p999", TIME, analyze_figures, p999),
	COLUMN("min", TIME, analyze_figures, min, .header = "MIN", .rank = 4),
	COLUMN("max", TIME, analyze_figures, max, .header = "MAX", .rank = 3),
};

static const struct output_column errors[] = {
	COLUMN("errors", COUNT, analyze_figures, errors, .header = "ERRORS", .rank = 1),
};

static const struct output_column caveat[] = {
	COLUMN("caveat", TEXT, analyze_row, caveat),
};

static const struct output_group syscall_groups[] = {
	{ COLUMNS(syscall) },
	{ AT(analyze_row, figures), COLUMNS(figures) },
	{ AT(analyze_row, figures), VIEW_ALL_TIMES },
	{ AT(analyze_row, figures), COLUMNS(errors) },
	{ COLUMNS(caveat) },
};

static const struct output_group function_groups[] = {
	{ COLUMNS(function) },
	{ AT(analyze_row, figures), COLUMNS(figures) },
	{ AT(analyze_row, figures), VIEW_ALL_TIMES },
	{ COLUMNS(caveat) },
};

static const struct output_group call_groups[] = {
	{ COLUMNS(kind) },
	{ COLUMNS(function) },
	{ AT(analyze_row, figures), COLUMNS(figures) },
	{ AT(analyze_row, figures), VIEW_ALL_TIMES },
	{ AT(analyze_row, figures), COLUMNS(errors) },
};

static void call_rows(struct view_rows *rows, const void *data)
{
	const struct analyze_table *table = &((const struct view_report *)data)->table;

	view_rows_refer(rows, table->syscalls.rows, table->syscalls.n_rows,
			sizeof(*table->syscalls.rows));
	view_rows_refer(rows, table->functions.rows, table->functions.n_rows,
			sizeof(*table->functions.rows));
}

/* Return an explanation of the mark "!" behind names, or "" if no name has the mark. */
static const char *marks(const struct analyze_rows *of)
{
	vec_each(const struct analyze_row, row, of, rows)
		if (row->caveat == analyze_caveat_probes)
			return "; !: less than the cost of its probes";
	return "";
}

static char *syscall_title(const void *data)
{
	const struct view_report *r = data;

	return alloc_printf("Syscalls, by total %s%s", view_time_texts[r->table.time],
			    marks(&r->table.syscalls));
}

static char *function_title(const void *data)
{
	const struct view_report *r = data;

	return alloc_printf("Functions, by total %s, %s%s", view_time_texts[r->table.time],
			    r->table.time == ANALYZE_TIME_SELF ? "excluding timed callees" :
								 "including callees",
			    marks(&r->table.functions));
}

const struct view_table report_calls = {
	.name = "calls",
	.places = VIEW_IN_CSV,
	GROUPS(call_groups),
	.rows = call_rows,
};

const struct view_table report_syscalls = {
	.name = "syscalls",
	.first = 6,
	.title_of = syscall_title,
	.none = "Syscalls: none recorded.",
	GROUPS(syscall_groups),
	.weight = offsetof(struct analyze_row, figures.total),
	VIEW_LIST(view_report, table.syscalls.rows, table.syscalls.n_rows),
};

const struct view_table report_functions = {
	.name = "functions",
	.first = 7,
	.title_of = function_title,
	.none = "Functions: none recorded (use record --func NAME).",
	GROUPS(function_groups),
	.redundant = offsetof(struct analyze_row, redundant),
	.weight = offsetof(struct analyze_row, figures.total),
	VIEW_LIST(view_report, table.functions.rows, table.functions.n_rows),
};
