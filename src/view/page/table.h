/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A table is a descriptor in a file of its own, and a line in its command's list (view/report.h, view/diff.h). The page, JSON, CSV
 * and --section are made from these. docs/json.md explains all keys, which a test checks. Never give a key another meaning.
 */
#pragma once

#include <jansson.h>
#include <stddef.h>

#include "analyze/figures/warnings.h"
#include "base/alloc.h"
#include "output/section.h"
#include "view/page/page.h"

/* The rows of a table, made for one use. */
struct view_rows {
	struct output_section section;
	bool for_people; /* rows are selected and sorted for a page; false: all rows, for JSON and CSV */
	void *owned; /* by view_rows_new(); freed after use, as TEXTS; NULL: none */
	struct alloc_texts texts;
};

/* The data of every list begins with this. */
struct view_data {
	enum profile_clock clock; /* of all its times */
	const char *prefix; /* before MEAN in the headers of columns; NULL: nothing */
	/* The recordings, for output that is not in a table, such as distributions; NULL: none. */
	const struct profile *p[2];
	const struct analyze_warnings *warnings; /* NULL: not known */
};

/* The table's data is a struct OF, and its rows are the N_ elements of the array ROWS_ there. */
#define VIEW_LIST(of, rows_, n_)                                               \
	.list = offsetof(struct of, rows_), .list_n = offsetof(struct of, n_), \
	.row_size = sizeof(*((struct of *)NULL)->rows_)

/* The table's rows are struct OF, which MAKE completes. */
#define VIEW_LINES(of, make) .line = make, .line_size = sizeof(struct of)

/* The formats that show a table; 0: all. */
enum view_places {
	VIEW_IN_JSON = 1 << 0,
	VIEW_IN_CSV = 1 << 1,
	VIEW_IN_HTML = 1 << 2,
	VIEW_IN_PAGE = 1 << 3 | VIEW_IN_HTML, /* pages of text; HTML shows these tables too */
};

/* DATA is that of the command's list: a struct view_report or view_diff, for example. It begins with a struct view_data. */
struct view_table {
	const char *name; /* for --section, and the key in JSON */
	unsigned int places; /* enum view_places; 0: all */
	unsigned int first; /* rows on the first screen; 0: none */
	bool (*is_aside)(const void *data); /* true: not on the first screen; NULL: never true */
	/* IS_CLOSED tables are below all others on the HTML page, folded. IS_ANSWER tables are above the flame graph. */
	bool is_closed, is_answer;
	bool is_whole; /* the first screen has FIRST rows of it, or none */
	const char *title; /* a line without the colon; NULL: none */
	char *(*title_of)(const void *data); /* a title that depends on data; for free() */
	/* An explanation below the rows of a requested table; NULL: the title is enough. */
	const char *legend;
	const char *none; /* shown if a requested table has no rows; NULL: nothing */
	const struct output_group *groups;
	size_t n_groups;
	size_t redundant; /* as in struct output_section */
	const char *(*mark)(const void *row, const struct output_group *group);
	size_t weight;
	size_t list, list_n, row_size; /* see VIEW_LIST(); ROW_SIZE 0: no array */
	/*
	 * Complete a row. LINE, of LINE_SIZE bytes, begins with a copy of a row of the array, and is 0 after that. Return false
	 * to leave it out. NULL: rows stay as they are.
	 */
	bool (*line)(struct view_rows *rows, void *line, const void *data);
	size_t line_size;
	/* Make or replace ROWS, and set other members that depend on DATA; NULL: nothing to do. */
	void (*rows)(struct view_rows *rows, const void *data);
	/* Write text below the rows on the page. */
	void (*after)(const struct view *view, const void *data);
	/* Print the table on the page in a form other than title and rows; print nothing if it is empty. NULL: title and rows. */
	void (*page)(const struct view *view, const void *data);
	/* Return JSON other than a list of rows; if this returns NULL, the table has no key. No function: a list of rows. */
	json_t *(*json)(const void *data);
};

/* The page of a command. */
struct view_list {
	const struct view_table *const *tables; /* in the order of JSON and page */
	size_t n_tables;
	const char *schema;
	const char *csv; /* the table in CSV by default */
	/* Write the part before the tables, on a page and in JSON; NULL: nothing. */
	void (*page)(const struct view *view, const void *data);
	void (*json)(json_t *root, const void *data);
	bool is_of_recordings; /* the format "html" is available */
};

const struct view_table *view_list_find(const struct view_list *list, const char *name);
bool view_table_is_in(const struct view_table *table, enum view_places place);

/* Return the names of the tables of LIST, with NULL at the end; for free(). */
const char **view_list_names(const struct view_list *list);

/* Set ROWS to TABLE's rows of DATA. The caller frees them by view_rows_deinit(). */
void view_rows_init(struct view_rows *rows, const struct view_table *table, const void *data,
		    bool for_people);
void view_rows_deinit(struct view_rows *rows);

/* Return room for N rows of SIZE bytes, all 0. They become ROWS, and are freed with ROWS. */
void *view_rows_new(struct view_rows *rows, size_t n, size_t size);

/* Add the N rows of SIZE bytes at LIST to ROWS. They stay at LIST. */
void view_rows_refer(struct view_rows *rows, const void *list, size_t n, size_t size);
