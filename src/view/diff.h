/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The output of `kprotperf diff`, which compares two recordings. */
#pragma once

#include "analyze/code/trace.h"
#include "analyze/why/attribution.h"
#include "analyze/diff/diff.h"
#include "analyze/diff/renames.h"
#include "analyze/figures/events.h"
#include "analyze/varies/varies.h"
#include "analyze/why/why.h"
#include "view/page/table.h"

/* The tables, in the order of JSON and of the page. TABLE(NAME) stands for the struct view_table diff_NAME. */
#define VIEW_DIFF_TABLES(TABLE) \
	TABLE(environment)      \
	TABLE(renamed)          \
	TABLE(runs)             \
	TABLE(statistics)       \
	TABLE(workload)         \
	TABLE(lines)            \
	TABLE(attribution)      \
	TABLE(calls)            \
	TABLE(syscalls)         \
	TABLE(functions)        \
	TABLE(events)           \
	TABLE(variables)        \
	TABLE(trace)            \
	TABLE(misses)           \
	TABLE(miss_objects)     \
	TABLE(details)          \
	TABLE(percentiles)

enum {
	VIEW_BASELINE,
	VIEW_HARDENED,
	VIEW_N_SIDES
};

extern const char *const view_side_names[VIEW_N_SIDES];

/* The data for the tables and the page of `kprotperf diff`. */
struct view_diff {
	struct view_data common;
	const char *files[VIEW_N_SIDES];
	struct analyze_options figures;
	struct analyze_diff diff;
	struct why_attribution attribution; /* empty if the tables do not show on-CPU times */
	struct varies_shifts shifts;
	struct analyze_trace_diff trace;
	struct analyze_misses misses, miss_objects;
	struct analyze_events events;
	const struct analyze_renames *renames;
	const char *control; /* another recording of the baseline kernel (--control), or NULL */
	/* WHY has no contexts if times are raw or not on-CPU times, since the causes of their changes are unknown. */
	struct why why;
};

#define VIEW_DIFF_DECLARE(name) extern const struct view_table diff_##name;
VIEW_DIFF_TABLES(VIEW_DIFF_DECLARE)
#undef VIEW_DIFF_DECLARE

extern const struct view_list view_diff_list;

/* Return a sentence on the syscall or function that changed most; for free(). SIGNIFICANT: NULL unless it is significant. */
char *view_diff_largest(const struct view_diff *c, bool significant);

/* Return a note, for free(), on too few runs, or on variation (between boots, recordings) that intervals miss. NULL: no note. */
char *view_repetitions_note(const struct view_diff *c);

/* Write the line at the top of the page that names the first few differences between the kernels and machines. */
void view_diff_write_environment(const struct view *v, const struct view_diff *c);

/* Columns of a struct analyze_change: view_plus_minus has half its confidence interval, view_verdict its verdict, P and more. */
extern const struct output_column view_plus_minus[1];
#define VIEW_PLUS_MINUS .columns = view_plus_minus, .n_columns = 1
extern const struct output_column view_verdict[10];
#define VIEW_VERDICT .columns = view_verdict, .n_columns = 10

/* Return the mark "under " for the value in the column NOISE if ROW's difference is at most this noise; otherwise NULL. */
const char *view_noise_mark(const void *row, const struct output_group *group);
