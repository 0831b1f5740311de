/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The output formats. A new format needs a function that writes a command's tables, and a line in VIEW_WRITERS. */
#pragma once

#include "base/alloc.h"
#include "view/page/table.h"

#define VIEW_WRITERS(WRITER)        \
	WRITER(table, VIEW_IN_PAGE) \
	WRITER(json, VIEW_IN_JSON)  \
	WRITER(csv, VIEW_IN_CSV)    \
	WRITER(html, VIEW_IN_HTML)

/* A request for output. All members may be 0, the default, except LIST and DATA. */
struct view_request {
	uint32_t format; /* index into view_writers */
	const struct view_list *list;
	const void *data;
	/* Names of tables in LIST to write; none: the format chooses. Whoever sets them frees the array. */
	vec_of(const char *, sections);
	bool all; /* write all tables and rows, not only the first screen */
	int top; /* maximum number of rows, as in struct view */
};

/* Write the requested tables of DATA to stdout. */
void view_write(const struct view_request *request, const void *data);

struct view_writer {
	enum view_places place; /* this format's bit in PLACES of a table */
	void (*write)(FILE *out, const struct view_request *request);
};

#define VIEW_WRITER_DECLARE(name, place) \
	void view_write_##name(FILE *out, const struct view_request *request);
VIEW_WRITERS(VIEW_WRITER_DECLARE)
#undef VIEW_WRITER_DECLARE

/* The formats, the default format "table" first, and their names with NULL at the end. */
extern const struct view_writer view_writers[];
extern const char *const view_writer_names[];

/* Return whether the build made the page for the format "html". */
bool view_html_is_there(void);

bool view_request_has(const struct view_request *request, const struct view_table *table);
