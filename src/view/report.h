/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The output of `kprotperf report`, which shows one recording. */
#pragma once

#include "analyze/blocks/blocks.h"
#include "analyze/code/trace.h"
#include "analyze/figures/accounting.h"
#include "analyze/figures/calibration.h"
#include "analyze/figures/environment.h"
#include "analyze/figures/events.h"
#include "analyze/figures/workload.h"
#include "analyze/figures/table.h"
#include "analyze/figures/warnings.h"
#include "analyze/inline/ranges.h"
#include "analyze/inline/stacks.h"
#include "analyze/varies/varies.h"
#include "view/page/table.h"

/* The tables, in the order of JSON and of the page. TABLE(NAME) stands for the struct view_table report_NAME. */
#define VIEW_REPORT_TABLES(TABLE) \
	TABLE(environment)        \
	TABLE(workload)           \
	TABLE(runs)               \
	TABLE(calls)              \
	TABLE(syscalls)           \
	TABLE(functions)          \
	TABLE(events)             \
	TABLE(ranges)             \
	TABLE(block_functions)    \
	TABLE(blocks)             \
	TABLE(loops)              \
	TABLE(values)             \
	TABLE(samples)            \
	TABLE(callers)            \
	TABLE(callees)            \
	TABLE(variation)          \
	TABLE(variable_tree)      \
	TABLE(variables)          \
	TABLE(trace)              \
	TABLE(misses)             \
	TABLE(miss_lines)         \
	TABLE(miss_objects)       \
	TABLE(losses)             \
	TABLE(accounting)         \
	TABLE(costs)

/* The data for the tables and the page of `kprotperf report`. */
struct view_report {
	struct view_data common;
	struct analyze_options figures;
	struct analyze_table table;
	struct analyze_ranges ranges;
	struct analyze_workload workload;
	struct analyze_kernel_share kernel;
	struct analyze_losses losses;
	struct analyze_accounting accounting;
	struct analyze_costs costs;
	struct analyze_leaves leaves;
	struct analyze_neighbours neighbours; /* empty without --callers or --callees */
	struct varies varies; /* empty without --why-varies */
	struct analyze_events events;
	struct analyze_trace trace;
	struct analyze_misses misses, miss_lines, miss_objects;
	struct analyze_blocks blocks;
	struct analyze_loops loops;
	struct analyze_env protections;
	struct analyze_warnings warnings;
};

#define VIEW_REPORT_DECLARE(name) extern const struct view_table report_##name;
VIEW_REPORT_TABLES(VIEW_REPORT_DECLARE)
#undef VIEW_REPORT_DECLARE

extern const struct view_list view_report_list;

/* Return whether the recording is exact, so that it has the blocks and loops of all executed code. */
bool view_report_is_exact(const void *report);

/* Return the first sentence of the page, on the syscall with most on-CPU time; for free(). */
char *view_report_summary(const struct view_report *r);
