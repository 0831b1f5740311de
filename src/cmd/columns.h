/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The columns of report and diff: what each figure is called in tables, JSON and CSV, described
 * once. docs/json.md explains them; a key that is in use is never given another meaning.
 */
#ifndef KPROTPERF_CMD_COLUMNS_H
#define KPROTPERF_CMD_COLUMNS_H

#include "analyze/attribution.h"
#include "analyze/blocks.h"
#include "analyze/cost.h"
#include "analyze/diff.h"
#include "analyze/diff_paths.h"
#include "analyze/paths.h"
#include "analyze/ranges.h"
#include "analyze/stacks.h"
#include "analyze/table.h"
#include "analyze/workload.h"
#include "output/section.h"

struct output_section columns_report_syscalls(const struct analyze_table *table);
struct output_section columns_report_functions(const struct analyze_table *table);
struct output_section columns_report_ranges(const struct analyze_ranges *ranges,
					    const struct analyze_table *table);
/* Syscalls and functions in one list, for CSV: the rows are those of columns_calls. */
struct columns_call {
	const char *kind; /* "syscall", "function" */
	struct analyze_row row;
};
struct output_section columns_report_calls(const struct columns_call *calls, size_t n,
					   enum profile_clock clock);
struct output_section columns_report_workload(const struct analyze_workload *workload,
					      enum profile_clock clock);
struct output_section columns_report_leaves(const struct analyze_leaves *leaves);

/* N blocks, all of one function in one context or not. */
struct output_section columns_report_blocks(const struct analyze_block *rows, size_t n);
/* N paths, or loops, of one function in one context or not. */
struct output_section columns_report_paths(const struct analyze_path *rows, size_t n,
					   enum profile_clock clock);
struct output_section columns_report_loops(const struct analyze_loop *rows, size_t n);
/* In how many calls they turned how often, for people. */
struct output_section columns_report_spreads(const struct analyze_loop *rows, size_t n);
struct output_section columns_report_turns(const struct analyze_loop_turns *rows, size_t n);
struct output_section columns_report_path_turns(const struct analyze_path_turns *rows, size_t n);
struct output_section columns_diff_paths(const struct analyze_diff_paths *diff);
struct output_section columns_report_block_functions(const struct analyze_blocks *blocks);

struct columns_loss {
	const char *key, *text;
	const char *kind; /* "loss", "accounting" */
	double count; /* NAN: not counted */
	const char *count_text; /* for tables, where "-" would be too little */
};
struct output_section columns_report_losses(const struct columns_loss *losses, size_t n);

struct output_section columns_report_costs(const struct analyze_costs *costs);

struct output_section columns_diff_syscalls(const struct analyze_diff *diff);
struct output_section columns_diff_functions(const struct analyze_diff *diff);
struct output_section columns_diff_ranges(const struct analyze_diff *diff);
struct columns_diff_call {
	const char *kind;
	struct analyze_diff_row row;
};
struct output_section columns_diff_calls(const struct columns_diff_call *calls, size_t n,
					 enum profile_clock clock);
/* The same rows with what the main tables leave out: errors, p50, p99, totals. */
struct output_section columns_diff_syscalls_detail(const struct analyze_diff *diff);
struct output_section columns_diff_functions_detail(const struct analyze_diff *diff);
/* For tables: percentiles of both sides, and how they differ. */
struct output_section columns_diff_percentiles(const struct analyze_diff_rows *rows,
					       enum profile_clock clock);
struct output_section columns_diff_workload(const struct analyze_diff *diff);
struct output_section columns_diff_attribution(const struct analyze_attribution_row *rows, size_t n,
					       enum profile_clock clock);
/* N of the rows of ENV, from ROWS on. */
struct output_section columns_diff_environment(const struct analyze_env_row *rows, size_t n);

#endif
