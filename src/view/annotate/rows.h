/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Declarations that annotate's tables share. */
#pragma once

#include "output/number.h"
#include "view/annotate.h"
#include "view/page/columns.h"

struct annotate_figures {
	double share, low, high, cost, self, callees, late, executions, per_call;
};

/* A row of any table. Each table uses only some of the members. */
struct annotate_row {
	struct annotate_figures figures;
	const char *address, *text, *where, *source, *lines, *called;
	const char *path, *chain, *name, *function, *symbol, *file, *measured;
	double offset, addr, length, line, n_insns, first_line, last_line, depth, exact, calls,
		at_return;
	bool inlined;
};

#define ROW_COLUMN(key, type, field, ...) COLUMN(key, type, annotate_row, field, ##__VA_ARGS__)

#define SHARE                                                                                   \
	ROW_COLUMN("share", FRACTION, figures.share, .header = "SHARE", .rank = OUTPUT_IF_ANY), \
		ROW_COLUMN("share_low", FRACTION, figures.low),                                 \
		ROW_COLUMN("share_high", FRACTION, figures.high)
/* Print the section's prefix, such as "TIME/CALL" or "TIME/RUN", as the header of this column. */
#define COST                                                                        \
	ROW_COLUMN("cost", TIME, figures.cost, .header = "", .rank = OUTPUT_IF_ANY, \
		   .prefixed = true, .estimable = true)
#define SAMPLES                                                                                \
	ROW_COLUMN("self", COUNT, figures.self, .header = "SELF", .rank = 2),                  \
		ROW_COLUMN("callees", COUNT, figures.callees, .header = "CALLEES", .rank = 2), \
		ROW_COLUMN("late", COUNT, figures.late)
#define EXECUTIONS                                           \
	ROW_COLUMN("executions", COUNT, figures.executions), \
		ROW_COLUMN("per_call", COUNT, figures.per_call)

/* The columns in ARRAY behind the column EXECUTED, which annotate_rows_finish() leaves out if executions were not counted. */
extern const struct output_column annotate_counted_columns[1];
#define COUNTED_GROUPS(array)                          \
	{                                              \
		{ COLUMNS(annotate_counted_columns) }, \
		{                                      \
			COLUMNS(array)                 \
		}                                      \
	}

/* Return the figures for HITS. EXECUTIONS is the total number of executions, PER_CALL their number per call; NAN: not counted. */
struct annotate_figures annotate_figures_of(const struct analyze_annotation *a,
					    const struct analyze_hits *hits, double executions,
					    double per_call);
/* Return the line number as a double; NAN: unknown (0). */
double annotate_line(uint32_t line);

/* Complete ROWS of F, whose columns are COUNTED_GROUPS(). For a page, keep rows with samples or executions, most samples first. */
void annotate_rows_finish(struct view_rows *rows, const struct annotated *f);

const char *annotate_mark(const void *row, const struct output_group *group);

/* Write TITLE and at most TOP of ROWS after a blank line. Write nothing if there are no rows. */
void annotate_table_write(const struct view *v, const char *title, const struct view_rows *rows,
			  unsigned int top);

/* Return SHARE as text, "57.2 %". The text is valid until the next call. */
const char *annotate_percent(double share);

struct annotate_diff_row {
	struct analyze_annotate_diff_row of;
	const char *where, *source; /* set in tables of lines only */
};

/* Selection and order of the rows on the page of `diff --annotate`. */
enum annotate_diff_order {
	ANNOTATE_DIFF_CHANGED, /* rows with samples or changed executions, largest change first */
	ANNOTATE_DIFF_SEEN, /* rows of ANNOTATE_DIFF_CHANGED, sorted by function and source line */
	ANNOTATE_DIFF_ALL, /* all rows, sorted by inlined function and source line */
};

extern const struct view_table annotate_diff_bodies, annotate_diff_lines;

/* Write the page: a table of inlined functions, a table of lines, and the function's code with its samples. */
void annotate_page(const struct view *view, const void *data);
/* Write the code listing of the page: each contiguous part of the function's code in turn. */
void annotate_code_write(const struct view *view, const struct view_annotation *v);
