/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A table is a descriptor in a file of its own, and a line in its command's list (view/report.h, view/diff.h):
 * the page, JSON, CSV, --section with its help and its errors follow from that. docs/json.md explains the
 * keys; a test checks that it has them all. A key that is in use is never given another meaning.
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
	bool for_people; /* the order and choice that a page shows; else all, as data has them */
	void *owned; /* by view_rows_new(); freed after use, as TEXTS; NULL: none */
	struct alloc_texts texts;
};

/* The data of every list begin with this. */
struct view_data {
	enum profile_clock clock; /* of all of its times */
	const char *prefix; /* what their columns' headers say before MEAN; NULL: nothing */
	/* The recordings, for what shows more of them than tables do; NULL: none. */
	const struct profile *p[2];
	const struct analyze_warnings *warnings; /* NULL: not known */
};

/* A table's rows are the N of the array ROWS in struct OF, which its data is. */
#define VIEW_LIST(of, rows_, n_)                                               \
	.list = offsetof(struct of, rows_), .list_n = offsetof(struct of, n_), \
	.row_size = sizeof(*((struct of *)NULL)->rows_)

/* A table's rows are struct OF's that MAKE completes. */
#define VIEW_LINES(of, make) .line = make, .line_size = sizeof(struct of)

/* The formats that have a table; 0: all. */
enum view_places {
	VIEW_IN_JSON = 1 << 0,
	VIEW_IN_CSV = 1 << 1,
	VIEW_IN_HTML = 1 << 2,
	VIEW_IN_PAGE = 1 << 3 | VIEW_IN_HTML, /* of text, and what is there is on one of HTML */
};

/* DATA is what the command's list of tables is about: struct view_report, struct view_diff; a struct view_data is first in it. */
struct view_table {
	const char *name; /* of --section, and its key in JSON */
	unsigned int places; /* enum view_places; 0: all */
	unsigned int first; /* rows on the first screen; 0: it is not there */
	bool (*is_aside)(const void *data); /* is it not there either for these? NULL: no */
	/* On a page for a browser: below all others, to be opened; or above them and the flame graph. */
	bool is_closed, is_answer;
	bool is_whole; /* the first screen has FIRST rows, or nothing of it */
	const char *title; /* a line, without the colon; NULL: none is needed */
	char *(*title_of)(const void *data); /* where that depends on data; to be freed */
	/* An explanation below the rows of a table that was asked for; NULL: the title says all. */
	const char *legend;
	const char *none; /* what stands there without any row, in the same case; NULL: nothing */
	const struct output_group *groups;
	size_t n_groups;
	size_t redundant; /* as in struct output_section */
	const char *(*mark)(const void *row, const struct output_group *group);
	size_t weight;
	size_t list, list_n, row_size; /* see VIEW_LIST(); ROW_SIZE 0: there is no such array */
	/*
	 * Makes rows that have more than those: LINE, of LINE_SIZE bytes, begins with a copy of one of them, and is 0 else.
	 * False: this one is left out. NULL: nothing is added.
	 */
	bool (*line)(struct view_rows *rows, void *line, const void *data);
	size_t line_size;
	/* Makes the rows, or makes others of those, and what else of the section depends on DATA; NULL: nothing to do. */
	void (*rows)(struct view_rows *rows, const void *data);
	/* Below the rows on the page. */
	void (*after)(const struct view *view, const void *data);
	/* Print a table that is not title and rows on the page; NULL: it is. Print nothing if there is nothing to say. */
	void (*page)(const struct view *view, const void *data);
	/* Return the JSON of a table that is not a list of rows there; NULL: it has no key. */
	json_t *(*json)(const void *data);
};

/* The page of a command. */
struct view_list {
	const struct view_table *const *tables; /* in the order of JSON and page */
	size_t n_tables;
	const char *schema;
	const char *csv; /* the table that CSV holds unless told */
	/* Before the tables: on a page, and in JSON. NULL here or below: nothing. */
	void (*page)(const struct view *view, const void *data);
	void (*json)(json_t *root, const void *data);
	bool is_of_recordings; /* of which there are pages for a browser */
};

const struct view_table *view_list_find(const struct view_list *list, const char *name);
bool view_table_is_in(const struct view_table *table, enum view_places place);

/* The names of the tables of LIST, ended by NULL; for free(). */
const char **view_list_names(const struct view_list *list);

/* TABLE's rows of DATA; DEINIT after use. */
void view_rows_init(struct view_rows *rows, const struct view_table *table, const void *data,
		    bool for_people);
void view_rows_deinit(struct view_rows *rows);

/* Room for N rows of SIZE bytes, all 0, which are ROWS from now on; freed with them. */
void *view_rows_new(struct view_rows *rows, size_t n, size_t size);

/* Adds the N rows of SIZE bytes at LIST, where they stay, to ROWS. */
void view_rows_refer(struct view_rows *rows, const void *list, size_t n, size_t size);
