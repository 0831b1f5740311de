/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by annotate's tables. */
#pragma once

#include "output/number.h"
#include "view/annotate.h"
#include "view/page/columns.h"

/* Figures that all rows have. */
struct annotate_figures {
	double share, low, high, cost, self, callees, late, executions, per_call;
};

/* A row of any of the tables, each of which has some of it. */
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
/* Prefixed: per call, or per run. */
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

/* An additional column of pages, for counted blocks. */
extern const struct output_column annotate_counted_columns[1];
#define COUNTED_GROUPS(array)                          \
	{                                              \
		{ COLUMNS(annotate_counted_columns) }, \
		{                                      \
			COLUMNS(array)                 \
		}                                      \
	}

/* EXECUTIONS in all and PER_CALL: NAN where nobody counted. */
struct annotate_figures annotate_figures_of(const struct analyze_annotation *a,
					    const struct analyze_hits *hits, double executions,
					    double per_call);
/* NAN for a line that is not known. */
double annotate_line(uint32_t line);

/*
 * Choose the ROWS of F for a page: only those with samples or executions, most samples first. If blocks were counted,
 * COUNTED replaces the table's own groups.
 */
void annotate_rows_choose(struct view_rows *rows, const struct annotated *f,
			  const struct output_group counted[2]);

const char *annotate_mark(const void *row, const struct output_group *group);

/* TITLE and ROWS, TOP of them, below a blank line; nothing for none. */
void annotate_table_write(const struct view *v, const char *title, const struct view_rows *rows,
			  unsigned int top);

/* "57.2 %": a share where there is no column to say what it is. Stays until the next. */
const char *annotate_percent(double share);

struct annotate_diff_row {
	struct analyze_annotate_diff_row of;
	const char *where, *source; /* of lines */
};

/* The order of rows on the page of two sides. */
enum annotate_diff_order {
	ANNOTATE_DIFF_CHANGED, /* those with samples or another count, largest change first */
	ANNOTATE_DIFF_SEEN, /* the same rows, by body and source */
	ANNOTATE_DIFF_ALL, /* all there are, by body and source; data has these */
};

extern const struct view_table annotate_diff_bodies, annotate_diff_lines;

/* A page's code, place by place. */
void annotate_code_write(const struct view_annotation *v, const struct view_annotate_options *o);
