// SPDX-License-Identifier: GPL-2.0-or-later
/* The columns of report. */
#include <string.h>

#include "cmd/columns_impl.h"

/* ERRORS is last: only syscalls have it, and functions leave the last column away. */
static const struct output_column report_figures[] = {
	CALL_FIGURES(CHOSEN, OUTPUT_ALWAYS, OUTPUT_ALWAYS, OUTPUT_ALWAYS, 2, 5, 1, 4, 3),
	FIGURE(errors, "ERRORS", OUTPUT_COUNT, 1),
};

static const struct output_column row_syscall[] = {
	COLUMN(analyze_row, name, "SYSCALL", OUTPUT_TEXT, OUTPUT_ALWAYS),
};

static const struct output_column row_function[] = {
	COLUMN(analyze_row, name, "", OUTPUT_TEXT, OUTPUT_DATA_ONLY),
	COLUMN(analyze_row, label, "FUNCTION", OUTPUT_TEXT, OUTPUT_TABLE_ONLY),
	{ "syscall", "CONTEXT", OUTPUT_TEXT, OUTPUT_ALWAYS, offsetof(struct analyze_row, context) },
};

/* Behind all others: readers of CSV may go by the order. */
static const struct output_column row_detached[] = {
	COLUMN(analyze_row, detached, "", OUTPUT_FLAG, OUTPUT_DATA_ONLY),
};

static bool row_is_redundant(const void *row)
{
	return ((const struct analyze_row *)row)->redundant;
}

struct output_section columns_report_syscalls(const struct analyze_table *table)
{
	static const struct output_group groups[] = {
		GROUP(NULL, 0, row_syscall),
		GROUP(NULL, offsetof(struct analyze_row, figures), report_figures),
	};

	struct output_section section =
		SECTION(groups, table->syscalls.rows, table->syscalls.n_rows, table->clock);

	section.prefix = analyze_time_header(table->time);
	return section;
}

struct output_section columns_report_functions(const struct analyze_table *table)
{
	static const struct output_group groups[] = {
		GROUP(NULL, 0, row_function),
		{ NULL, offsetof(struct analyze_row, figures), report_figures,
		  N(report_figures) - 1 },
		GROUP(NULL, 0, row_detached),
	};
	struct output_section section =
		SECTION(groups, table->functions.rows, table->functions.n_rows, table->clock);

	section.prefix = analyze_time_header(table->time);
	section.is_redundant = row_is_redundant;
	return section;
}

/* Figures of an inlined body: what an estimate has comes first, and mind that it may be one. */
static const struct output_column range_figures[] = {
	CALL_FIGURES_SHORT(CHOSEN_ESTIMABLE, 1, OUTPUT_ALWAYS, 1),
};

static const struct output_column range_side[] = {
	SIDE(source, "source", "", OUTPUT_TEXT, OUTPUT_DATA_ONLY),
	SIDE(entries, "entries", "", OUTPUT_COUNT, OUTPUT_DATA_ONLY),
	SIDE(low, "share_low", "LOW", OUTPUT_FRACTION, 2),
	SIDE(high, "share_high", "HIGH", OUTPUT_FRACTION, 2),
};

static const struct output_column range_notes[] = {
	SIDE(doubt, "doubt", "DOUBT", OUTPUT_TEXT, 3),
	SIDE(why, "why", "NOT TIMED", OUTPUT_TEXT, 4),
};

#define ESTIMATE(field, key, type)                                                         \
	{                                                                                  \
		key, "", type, OUTPUT_DATA_ONLY, offsetof(struct analyze_estimate, field), \
	}
static const struct output_column range_estimate[] = {
	ESTIMATE(samples, "samples", OUTPUT_COUNT),
	ESTIMATE(of, "of", OUTPUT_COUNT),
	ESTIMATE(share.value, "share", OUTPUT_FRACTION),
	ESTIMATE(share.low, "share_low", OUTPUT_FRACTION),
	ESTIMATE(share.high, "share_high", OUTPUT_FRACTION),
	ESTIMATE(self_share, "self_share", OUTPUT_FRACTION),
	ESTIMATE(total.value, "total", OUTPUT_TIME),
	ESTIMATE(total.low, "total_low", OUTPUT_TIME),
	ESTIMATE(total.high, "total_high", OUTPUT_TIME),
	ESTIMATE(self_total, "self_total", OUTPUT_TIME),
	ESTIMATE(late, "late", OUTPUT_COUNT),
	ESTIMATE(missing, "missing", OUTPUT_COUNT),
};

#define RANGE(field, key, header, rank)                                               \
	{                                                                             \
		key, header, OUTPUT_TEXT, rank, offsetof(struct analyze_range, field) \
	}
static const struct output_column row_range[] = {
	RANGE(body.name, "name", "RANGE", OUTPUT_ALWAYS),
	RANGE(body.function, "function", "IN", OUTPUT_ALWAYS),
	RANGE(body.chain, "chain", "", OUTPUT_DATA_ONLY),
	RANGE(location, "location", "AT", 4), /* rather than calls and means */
	RANGE(context, "syscall", "CONTEXT", OUTPUT_ALWAYS),
};

static bool range_is_redundant(const void *row)
{
	return ((const struct analyze_range *)row)->redundant;
}

const char *columns_range_mark(const struct analyze_range_side *side)
{
	if (!side->source || !strcmp(side->source, "exact"))
		return NULL;
	return side->doubt ? "?~" : "~";
}

static const char *range_mark(const void *row, const struct output_group *group)
{
	(void)group;
	return columns_range_mark(&((const struct analyze_range *)row)->side);
}

struct output_section columns_report_ranges(const struct analyze_ranges *ranges,
					    const struct analyze_table *table)
{
	static const struct output_column share[] = {
		{ "share", "SHARE", OUTPUT_FRACTION, OUTPUT_ALWAYS,
		  offsetof(struct analyze_range, share), false, true },
	};
	static const struct output_column detached[] = {
		COLUMN(analyze_range, detached, "", OUTPUT_FLAG, OUTPUT_DATA_ONLY),
	};
	static const struct output_group groups[] = {
		GROUP(NULL, 0, row_range),
		GROUP(NULL, offsetof(struct analyze_range, side.figures), range_figures),
		GROUP(NULL, 0, share),
		GROUP(NULL, offsetof(struct analyze_range, side), range_side),
		GROUP(NULL, offsetof(struct analyze_range, side), range_notes),
		GROUP(NULL, 0, detached),
		GROUP("estimate", offsetof(struct analyze_range, side.estimate), range_estimate),
	};
	struct output_section section = SECTION(groups, ranges->rows, ranges->n_rows, table->clock);

	section.prefix = analyze_time_header(table->time);
	section.is_redundant = range_is_redundant;
	section.mark = range_mark;
	return section;
}

struct output_section columns_report_calls(const struct columns_call *calls, size_t n,
					   enum profile_clock clock)
{
	static const struct output_column kind[] = {
		COLUMN(columns_call, kind, "KIND", OUTPUT_TEXT, OUTPUT_ALWAYS),
	};
	static const struct output_group groups[] = {
		GROUP(NULL, 0, kind),
		GROUP(NULL, offsetof(struct columns_call, row), row_function),
		GROUP(NULL, offsetof(struct columns_call, row.figures), report_figures),
		GROUP(NULL, offsetof(struct columns_call, row), row_detached),
	};

	return (struct output_section)SECTION(groups, calls, n, clock);
}

struct output_section columns_report_workload(const struct analyze_workload *workload,
					      enum profile_clock clock)
{
	static const struct output_column id[] = {
		COLUMN(analyze_workload_row, name, "WORKLOAD", OUTPUT_TEXT, OUTPUT_ALWAYS),
		COLUMN(analyze_workload_row, probed, "", OUTPUT_FLAG, OUTPUT_DATA_ONLY),
		COLUMN(analyze_workload_row, how, "HOW", OUTPUT_TEXT, OUTPUT_TABLE_ONLY),
	};
	static const struct output_column figures[] = {
		WORKLOAD(iterations, "ITERATIONS", OUTPUT_COUNT, 1),
		WORKLOAD(mean, "MEAN", OUTPUT_TIME, OUTPUT_ALWAYS),
		WORKLOAD(p50, "P50", OUTPUT_TIME, 2),
		WORKLOAD(min, "MIN", OUTPUT_TIME, 3),
	};
	static const struct output_group groups[] = {
		GROUP(NULL, 0, id),
		GROUP(NULL, offsetof(struct analyze_workload_row, figures), figures),
	};

	return (struct output_section)SECTION(groups, workload->rows, workload->n_rows, clock);
}

struct output_section columns_report_leaves(const struct analyze_leaves *leaves)
{
	static const struct output_column columns[] = {
		COLUMN(analyze_leaf, name, "FUNCTION ITSELF", OUTPUT_TEXT, OUTPUT_ALWAYS),
		COLUMN(analyze_leaf, samples, "SAMPLES", OUTPUT_COUNT, OUTPUT_ALWAYS),
		COLUMN(analyze_leaf, share, "SHARE", OUTPUT_FRACTION, OUTPUT_ALWAYS),
	};
	static const struct output_group groups[] = { GROUP(NULL, 0, columns) };

	return (struct output_section)SECTION(groups, leaves->leaves, leaves->n_leaves,
					      PROFILE_CLOCK_NS);
}

struct output_section columns_report_losses(const struct columns_loss *losses, size_t n)
{
	static const struct output_column columns[] = {
		COLUMN(columns_loss, count_text, "COUNT", OUTPUT_TEXT, OUTPUT_TABLE_ONLY),
		COLUMN(columns_loss, key, "", OUTPUT_TEXT, OUTPUT_DATA_ONLY),
		COLUMN(columns_loss, kind, "KIND", OUTPUT_TEXT, OUTPUT_ALWAYS),
		COLUMN(columns_loss, count, "", OUTPUT_COUNT, OUTPUT_DATA_ONLY),
		COLUMN(columns_loss, text, "OF WHAT", OUTPUT_TEXT, OUTPUT_ALWAYS),
	};
	static const struct output_group groups[] = { GROUP(NULL, 0, columns) };

	return (struct output_section)SECTION(groups, losses, n, PROFILE_CLOCK_NS);
}

struct output_section columns_report_costs(const struct analyze_costs *costs)
{
	static const struct output_column columns[] = {
		COLUMN(analyze_cost, name, "PROBES", OUTPUT_TEXT, OUTPUT_ALWAYS),
		COLUMN(analyze_cost, functions, "FUNCTIONS", OUTPUT_COUNT, 1),
		COLUMN(analyze_cost, calls, "CALLS", OUTPUT_COUNT, 1),
		COLUMN(analyze_cost, inner, "INNER", OUTPUT_TIME, OUTPUT_ALWAYS),
		COLUMN(analyze_cost, inner_spread, "+-", OUTPUT_TIME, 3),
		COLUMN(analyze_cost, full, "FULL", OUTPUT_TIME, OUTPUT_ALWAYS),
		COLUMN(analyze_cost, full_spread, "+-", OUTPUT_TIME, 3),
		COLUMN(analyze_cost, total, "IN ALL", OUTPUT_TIME, OUTPUT_ALWAYS),
		COLUMN(analyze_cost, share, "SHARE", OUTPUT_FRACTION, 2),
		COLUMN(analyze_cost, calibration, "", OUTPUT_TEXT, OUTPUT_DATA_ONLY),
	};
	static const struct output_group groups[] = { GROUP(NULL, 0, columns) };

	return (struct output_section)SECTION(groups, costs->rows, costs->n_rows, costs->clock);
}
