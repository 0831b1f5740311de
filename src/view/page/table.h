/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Each table is described by a struct view_table in its own file, and listed in its command's header (such as view/report.h). The
 * page, JSON, CSV and --section use this description. docs/json.md explains all JSON keys, which a test checks. Never change the
 * meaning of a key.
 */
#pragma once

#include <jansson.h>
#include <stddef.h>

#include "analyze/figures/warnings.h"
#include "base/alloc.h"
#include "output/section.h"
#include "view/page/page.h"

/* The rows of a table, made for one output. */
struct view_rows {
	struct output_section section;
	bool for_people; /* selected and sorted for a page; otherwise, ROWS has all rows */
	void *owned; /* array from view_rows_new(), freed by view_rows_deinit(); NULL: none */
	struct alloc_texts texts;
};

/* The first member of each command's output data. */
struct view_data {
	enum profile_clock clock; /* clock of all times in the data */
	const char *prefix; /* word in front of headers, such as "WALL" in "WALL MEAN"; or NULL */
	/* The recordings, for output other than tables, such as distributions; NULL: none. */
	const struct profile *p[2];
	const struct analyze_warnings *warnings; /* NULL: not known */
};

/* Initialize a table whose rows are an array in the command's output data: the member ROWS_ of struct OF, with N_ elements. */
#define VIEW_LIST(of, rows_, n_)                                               \
	.list = offsetof(struct of, rows_), .list_n = offsetof(struct of, n_), \
	.row_size = sizeof(*((struct of *)NULL)->rows_)

/* Initialize a table whose rows have the type struct OF. MAKE is the member LINE of struct view_table. It completes each row. */
#define VIEW_LINES(of, make) .line = make, .line_size = sizeof(struct of)

/* Output formats that contain a table; 0: all formats. */
enum view_places {
	VIEW_IN_JSON = 1 << 0,
	VIEW_IN_CSV = 1 << 1,
	VIEW_IN_HTML = 1 << 2,
	VIEW_IN_PAGE = 1 << 3 | VIEW_IN_HTML, /* text pages; HTML contains these tables too */
};

/* A table. The parameter DATA of its functions is the output data of a command, such as a struct view_report. */
struct view_table {
	const char *name; /* argument of --section, and key in JSON */
	unsigned int places; /* bits of enum view_places; 0: all */
	unsigned int first; /* maximum rows on the first screen; 0: not on the first screen */
	bool (*is_aside)(const void *data); /* true: leave out of the first screen; NULL: never */
	/* On the HTML page, IS_CLOSED tables are folded below all others, and IS_ANSWER tables are above the flame graph. */
	bool is_closed, is_answer;
	bool is_whole; /* on the first screen, show FIRST rows or omit the table */
	const char *title; /* title without colon; NULL: none */
	char *(*title_of)(const void *data); /* return a title that depends on data; for free() */
	const char *legend; /* explanation below the rows, with --all or --section; NULL: none */
	const char *none; /* text if there are no rows, with --all or --section; NULL: none */
	const struct output_group *groups;
	size_t n_groups;
	size_t redundant; /* offset of a flag in rows, as in struct output_section */
	const char *(*mark)(const void *row, const struct output_group *group);
	size_t weight;
	size_t list, list_n, row_size; /* set by VIEW_LIST(); ROW_SIZE 0: no array */
	/*
	 * Complete LINE, a row of LINE_SIZE bytes that begins with a copy of an array element. All other bytes are 0. Return false
	 * to omit the row. If the function is NULL, the array elements are the rows.
	 */
	bool (*line)(struct view_rows *rows, void *line, const void *data);
	size_t line_size;
	/* Make the rows in ROWS or replace them, and set other members of ROWS that depend on DATA; NULL: nothing to do. */
	void (*rows)(struct view_rows *rows, const void *data);
	/* Write text below the rows on the page; NULL: none. */
	void (*after)(const struct view *view, const void *data);
	/* Write the table in a form other than title and rows; write nothing if it is empty. NULL: title and rows. */
	void (*page)(const struct view *view, const void *data);
	/* Return the table as JSON other than a list of rows, or NULL to omit the table. Function NULL: a list of rows. */
	json_t *(*json)(const void *data);
};

/* The output of a command: its tables, and the text above them. */
struct view_list {
	const struct view_table *const *tables; /* in the order of JSON and of the page */
	size_t n_tables;
	const char *schema;
	const char *csv; /* name of the table that CSV contains by default */
	/* Write the text above the tables of a page, and the JSON members before the tables; NULL: none. */
	void (*page)(const struct view *view, const void *data);
	void (*json)(json_t *root, const void *data);
	bool is_of_recordings; /* the output shows recordings, so the format "html" is available */
};

const struct view_table *view_list_find(const struct view_list *list, const char *name);
bool view_table_is_in(const struct view_table *table, enum view_places place);

/* Return the names of the tables of LIST, with NULL at the end; for free(). */
const char **view_list_names(const struct view_list *list);

/* Set ROWS to the rows of TABLE for a command's output data DATA. The caller frees them by view_rows_deinit(). */
void view_rows_init(struct view_rows *rows, const struct view_table *table, const void *data,
		    bool for_people);
void view_rows_deinit(struct view_rows *rows);

/* Return an array of N rows of SIZE bytes, all 0, and make it the rows of ROWS. view_rows_deinit() frees the array. */
void *view_rows_new(struct view_rows *rows, size_t n, size_t size);

/* Add the N rows of SIZE bytes at LIST to ROWS, without copying them. */
void view_rows_refer(struct view_rows *rows, const void *list, size_t n, size_t size);
