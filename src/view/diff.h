/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The page of diff, for two recordings. */
#pragma once

#include "analyze/code/trace.h"
#include "analyze/why/attribution.h"
#include "analyze/diff/diff.h"
#include "analyze/diff/renames.h"
#include "analyze/figures/events.h"
#include "analyze/varies/varies.h"
#include "analyze/why/why.h"
#include "view/page/table.h"

/* The tables, in the order of JSON and page: each is a struct view_table diff_NAME. */
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

/* The data of diff's tables and page. */
struct view_diff {
	struct view_data common;
	const char *files[VIEW_N_SIDES];
	struct analyze_options figures;
	struct analyze_diff diff;
	struct why_attribution attribution; /* empty unless times are on-CPU */
	struct varies_shifts shifts;
	struct analyze_trace_diff trace;
	struct analyze_misses misses, miss_objects;
	struct analyze_events events;
	const struct analyze_renames *renames;
	const char *control; /* the file of --control; NULL: none */
	/* Has no contexts if times are raw or not on-CPU, since causes of their changes are unknown. */
	struct why why;
};

#define VIEW_DIFF_DECLARE(name) extern const struct view_table diff_##name;
VIEW_DIFF_TABLES(VIEW_DIFF_DECLARE)
#undef VIEW_DIFF_DECLARE

extern const struct view_list view_diff_list;

/* Return a sentence on the row that changed most, for free(). SIGNIFICANT: return NULL if that change is not significant. */
char *view_diff_largest(const struct view_diff *c, bool significant);

/* Return a note on missing verdicts, or on variation that intervals do not cover; NULL: neither applies. For free(). */
char *view_repetitions_note(const struct view_diff *c);

/* Write the first differences in a line, for the top of the page. */
void view_diff_write_environment(const struct view *v, const struct view_diff *c);

/* Columns of struct analyze_change: the error of the difference; its significance and verdict. */
extern const struct output_column view_plus_minus[1];
#define VIEW_PLUS_MINUS .columns = view_plus_minus, .n_columns = 1
extern const struct output_column view_verdict[14];
#define VIEW_VERDICT .columns = view_verdict, .n_columns = 14

/* Return the mark before NOISE in ROW if DELTA is not larger than NOISE, else NULL; for struct output_section. */
const char *view_noise_mark(const void *row, const struct output_group *group);
