// SPDX-License-Identifier: GPL-2.0-or-later
/* Comparison of syscalls and of functions: a table for each, one for both in CSV, and tables of percentiles on the page. */
#include <math.h>

#include "base/alloc.h"
#include "base/plural.h"
#include "output/number.h"
#include "view/page/columns.h"
#include "view/diff.h"
#include "view/names.h"

/* Maximum number of functions to name below the table of the first screen: functions that only one recording timed. */
#define ALONE_FIRST 2

static const struct output_column kind[] = {
	COLUMN("kind", TEXT, analyze_diff_row, kind, .names = view_call_kinds),
};

static const struct output_column syscall[] = {
	COLUMN("name", TEXT, analyze_diff_row, name, .header = "SYSCALL"),
};

static const struct output_column function[] = {
	COLUMN("name", TEXT, analyze_diff_row, name, .header = "FUNCTION"),
	COLUMN("syscall", TEXT, analyze_diff_row, context, .header = "CONTEXT"),
};

static const struct output_column figures[] = {
	COLUMN("calls", COUNT, analyze_figures, calls, .header = "CALLS", .rank = 6),
	COLUMN("total", TIME, analyze_figures, total),
	COLUMN("mean", TIME, analyze_figures, mean, .header = "MEAN", .prefixed = true),
};

static const struct output_column errors[] = {
	COLUMN("errors", COUNT, analyze_figures, errors),
};

static const struct output_column delta[] = {
	COLUMN("delta", DELTA, analyze_diff_row, delta, .header = "DELTA"),
};

static const struct output_column deltas[] = {
	COLUMN("delta_pct", PERCENT, analyze_diff_row, delta_pct, .header = "%"),
	COLUMN("delta_total", DELTA, analyze_diff_row, delta_total, .header = "DELTA/RUN",
	       .rank = 3),
};

static const struct output_column share[] = {
	COLUMN("share", FRACTION, analyze_diff_row, share, .header = "SHARE"),
};

static const struct output_column percentile_deltas[] = {
	COLUMN("delta_p50", DELTA, analyze_diff_row, delta_p50),
	COLUMN("delta_p90", DELTA, analyze_diff_row, delta_p90),
	COLUMN("delta_p99", DELTA, analyze_diff_row, delta_p99),
	COLUMN("delta_p999", DELTA, analyze_diff_row, delta_p999),
	COLUMN("note", TEXT, analyze_diff_row, note, .names = view_notes, .header = "NOTE",
	       .rank = 7),
};

static const struct output_group syscall_groups[] = {
	{ COLUMNS(syscall) },
	VIEW_FIGURES(analyze_diff_row, sides[0], figures, .key = "baseline"),
	{ .key = "baseline", AT(analyze_diff_row, sides[0]), COLUMNS(errors) },
	VIEW_FIGURES(analyze_diff_row, sides[1], figures, .key = "hardened"),
	{ .key = "hardened", AT(analyze_diff_row, sides[1]), COLUMNS(errors) },
	{ COLUMNS(delta) },
	{ AT(analyze_diff_row, change), VIEW_PLUS_MINUS },
	{ COLUMNS(deltas) },
	{ AT(analyze_diff_row, change), VIEW_VERDICT },
	{ COLUMNS(percentile_deltas) },
};

static const struct output_group function_groups[] = {
	{ COLUMNS(function) },
	VIEW_FIGURES(analyze_diff_row, sides[0], figures, .key = "baseline"),
	VIEW_FIGURES(analyze_diff_row, sides[1], figures, .key = "hardened"),
	{ COLUMNS(delta) },
	{ AT(analyze_diff_row, change), VIEW_PLUS_MINUS },
	{ COLUMNS(deltas) },
	{ COLUMNS(share) },
	{ AT(analyze_diff_row, change), VIEW_VERDICT },
	{ COLUMNS(percentile_deltas) },
};

static const struct output_group call_groups[] = {
	{ COLUMNS(kind) },
	{ COLUMNS(function) },
	VIEW_FIGURES(analyze_diff_row, sides[0], figures, .key = "baseline"),
	{ .key = "baseline", AT(analyze_diff_row, sides[0]), COLUMNS(errors) },
	VIEW_FIGURES(analyze_diff_row, sides[1], figures, .key = "hardened"),
	{ .key = "hardened", AT(analyze_diff_row, sides[1]), COLUMNS(errors) },
	{ COLUMNS(delta) },
	{ AT(analyze_diff_row, change), VIEW_PLUS_MINUS },
	{ COLUMNS(deltas) },
	{ COLUMNS(share) },
	{ AT(analyze_diff_row, change), VIEW_VERDICT },
	{ COLUMNS(percentile_deltas) },
};

/* First columns of the page's additional tables, whose figures do not fit into the tables of syscalls and functions. */
static const struct output_column any[] = {
	COLUMN(NULL, TEXT, analyze_diff_row, name, .header = "NAME"),
	COLUMN(NULL, TEXT, analyze_diff_row, context, .header = "CONTEXT", .rank = 1),
};

static const struct output_column detail[] = {
	COLUMN(NULL, TIME, analyze_figures, p50, .header = "P50"),
	COLUMN(NULL, TIME, analyze_figures, p99, .header = "P99", .rank = 2),
	COLUMN(NULL, TIME, analyze_figures, total, .header = "TOTAL", .prefixed = true),
	COLUMN(NULL, COUNT, analyze_figures, calls, .header = "CALLS", .rank = 3),
	COLUMN(NULL, COUNT, analyze_figures, errors, .header = "ERRORS", .rank = 5),
};

static const struct output_column percentile[] = {
	COLUMN(NULL, TIME, analyze_figures, p50, .header = "P50", .rank = 2),
	COLUMN(NULL, TIME, analyze_figures, p90, .header = "P90", .rank = 2),
	COLUMN(NULL, TIME, analyze_figures, p99, .header = "P99", .rank = 2),
	COLUMN(NULL, TIME, analyze_figures, p999, .header = "P99.9", .rank = 2),
};

static const struct output_column percentile_delta[] = {
	COLUMN(NULL, DELTA, analyze_diff_row, delta_p50, .header = "P50"),
	COLUMN(NULL, DELTA, analyze_diff_row, delta_p90, .header = "P90"),
	COLUMN(NULL, DELTA, analyze_diff_row, delta_p99, .header = "P99"),
	COLUMN(NULL, DELTA, analyze_diff_row, delta_p999, .header = "P99.9"),
};

static const struct output_group detail_groups[] = {
	{ COLUMNS(any) },
	{ .key = "baseline", AT(analyze_diff_row, sides[0]), COLUMNS(detail) },
	{ .key = "hardened", AT(analyze_diff_row, sides[1]), COLUMNS(detail) },
};

static const struct output_group percentile_groups[] = {
	{ COLUMNS(any) },
	{ .key = "baseline", AT(analyze_diff_row, sides[0]), COLUMNS(percentile) },
	{ .key = "hardened", AT(analyze_diff_row, sides[1]), COLUMNS(percentile) },
	{ .key = "delta", COLUMNS(percentile_delta) },
};

static void call_rows(struct view_rows *rows, const void *data)
{
	const struct analyze_diff *diff = &((const struct view_diff *)data)->diff;

	view_rows_refer(rows, diff->syscalls.rows, diff->syscalls.n_rows,
			sizeof(*diff->syscalls.rows));
	view_rows_refer(rows, diff->functions.rows, diff->functions.n_rows,
			sizeof(*diff->functions.rows));
}

/* Write "shuffle_freelist: not timed on the baseline side, which inlines it; 50,597,701 instructions per run". */
static void write_alone(const struct view *v, const struct analyze_diff *diff,
			const struct analyze_diff_row *row)
{
	const char *other = analyze_renames_known(row->name);
	double total = row->sides[isnan(row->sides[1].calls) ? 0 : 1].total;

	view_text(v, "%s: %s; %s per run%s%s", row->name, view_notes[row->no_partner],
		  output_amount(OUTPUT_TIME, total, diff->clock), other ? "; also known as " : "",
		  other ? other : "");
}

/* List the functions that only one recording timed, with their time per run. The table cannot show a difference for them. */
static void function_after(const struct view *v, const void *data)
{
	const struct analyze_diff *diff = &((const struct view_diff *)data)->diff;
	uint32_t n = 0;

	vec_each(const struct analyze_diff_row, row, &diff->functions, rows) {
		if (row->no_partner && analyze_is_sum(row->context) &&
		    (row->sides[0].calls > 0 || row->sides[1].calls > 0) &&
		    (n++ < ALONE_FIRST || v->everything))
			write_alone(v, diff, row);
	}
	if (n > ALONE_FIRST && !v->everything)
		view_text(v, "and %u more %s timed on one side only", n - ALONE_FIRST,
			  plural(n - ALONE_FIRST, "function", "functions"));
}

static char *syscall_title(const void *data)
{
	const struct view_diff *c = data;

	return alloc_printf("Syscalls, by change in total %s per run",
			    view_time_texts[c->diff.time]);
}

static char *function_title(const void *data)
{
	const struct view_diff *c = data;

	return alloc_strdup(
		c->diff.time == ANALYZE_TIME_SELF ?
			"Functions, by change per run, excluding timed callees; SHARE of the "
			"context's on-CPU change" :
			"Functions, by change per run, including callees; SHARE of the context's "
			"change");
}

const struct view_table diff_calls = {
	.name = "calls",
	.places = VIEW_IN_CSV,
	GROUPS(call_groups),
	.rows = call_rows,
};

const struct view_table diff_syscalls = {
	.name = "syscalls",
	.first = 8,
	.title_of = syscall_title,
	.none = "Syscalls: none recorded, or none matching --filter.",
	GROUPS(syscall_groups),
	.mark = view_noise_mark,
	.weight = offsetof(struct analyze_diff_row, delta_total),
	VIEW_LIST(view_diff, diff.syscalls.rows, diff.syscalls.n_rows),
};

const struct view_table diff_functions = {
	.name = "functions",
	.first = 10,
	.title_of = function_title,
	.none = "Functions: none recorded (use record --func NAME), or none matching --filter.",
	GROUPS(function_groups),
	.redundant = offsetof(struct analyze_diff_row, redundant),
	.mark = view_noise_mark,
	.weight = offsetof(struct analyze_diff_row, delta_total),
	VIEW_LIST(view_diff, diff.functions.rows, diff.functions.n_rows),
	.after = function_after,
};

const struct view_table diff_details = {
	.name = "details",
	.is_closed = true,
	.places = VIEW_IN_PAGE,
	.title = "Medians, tails and totals of syscalls and functions",
	GROUPS(detail_groups),
	.redundant = offsetof(struct analyze_diff_row, redundant),
	.rows = call_rows,
};

const struct view_table diff_percentiles = {
	.name = "percentiles",
	.is_closed = true,
	.places = VIEW_IN_PAGE,
	.title = "Percentiles of syscalls and functions",
	GROUPS(percentile_groups),
	.redundant = offsetof(struct analyze_diff_row, redundant),
	.rows = call_rows,
};
