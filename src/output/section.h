/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Descriptions of rows and columns, used for tables, CSV and JSON alike.
 *
 * A column has the offset of a field in the row, and a type that determines the field's alignment and format. A field is a `const
 * char *` or an enum with names (OUTPUT_TEXT), a `bool` (OUTPUT_FLAG), two `double`s (OUTPUT_INTERVAL) or a `double` (other
 * types). NULL and NAN are missing values: "-" in tables, empty in CSV, null in JSON.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "profile/clock.h"

enum output_type {
	OUTPUT_TEXT,
	OUTPUT_FLAG,
	OUTPUT_COUNT, /* a number of things; a mean over runs may be no integer */
	OUTPUT_CHANGE, /* a difference of counts, always with a sign */
	OUTPUT_RATE, /* a mean number of things per call or per second */
	OUTPUT_TIME, /* ticks of the profile's clock */
	OUTPUT_DELTA, /* a difference of times, always with a sign */
	OUTPUT_PERCENT, /* a difference in percent, always with a sign */
	OUTPUT_FRACTION, /* a fraction from 0 to 1 */
	OUTPUT_PROBABILITY, /* small values are shown as "<0.001" */
	OUTPUT_INTERVAL, /* [low, high] in JSON, columns _low and _high in CSV; not in tables */
};

/* Ranks of columns. If a table is too wide, columns of the highest rank are left out first. */
enum {
	OUTPUT_ALWAYS = 0,
	OUTPUT_IF_ANY = -1, /* left out only if no row has a value */
	OUTPUT_IF_VARIES = -2, /* left out only if all rows have the same value */
};

struct output_column {
	const char *key; /* name in JSON and CSV; NULL: in neither */
	const char *header; /* title in tables on pages; NULL: not in tables */
	enum output_type type;
	int rank;
	size_t offset; /* offset of the field in the group's object */
	bool prefixed; /* the section's PREFIX precedes the header */
	bool estimable; /* in tables, the section's MARK may precede the value */
	/* Cut the text if a table is too wide, even in a file. CSV and JSON have the whole text. */
	bool elastic;
	bool cut_front; /* cut the beginning of the text instead of the end, as for file names */
	bool is_raw; /* the text has no escapes yet, so tables and CSV also escape backslashes */
	const char *const *names; /* names of enum values; NULL: the field is a string */
	const char *(*label)(const char *text); /* return what tables have for TEXT; NULL: TEXT */
};

/* Columns that read the same object inside each row. */
struct output_group {
	/*
	 * Key of the group's JSON object, and prefix of its columns in CSV; NULL: the columns belong to the row's object. Groups
	 * with the same key make one object.
	 */
	const char *key;
	size_t offset; /* offset of the object in the row */
	const struct output_column *columns;
	size_t n_columns;
};

struct output_section {
	const struct output_group *groups;
	size_t n_groups;
	const void *rows;
	size_t n_rows, row_size;
	enum profile_clock clock; /* clock of all times in the rows */
	const char *prefix; /* prefix of PREFIXED columns' headers, such as "WALL"; NULL: none */
	/* Offset of a `bool` in the row. If it is true, tables omit the row, which only repeats other rows. 0: no such field. */
	size_t redundant;
	/* Return the mark, such as "~", before estimable values of GROUP in ROW; NULL: no mark. A NULL function marks no value. */
	const char *(*mark)(const void *row, const struct output_group *group);
	/* Offset of a `double` in the row, its weight; 0: no such field. Tables may omit rows of small weight, but not NAN. */
	size_t weight;
	bool pointers; /* ROWS is an array of pointers to rows */
};

/* The value of a field. The type of the column determines the valid members. */
struct output_field {
	const char *text; /* for OUTPUT_TEXT; NULL: absent */
	double number; /* for other types; NAN: absent */
	double high; /* for OUTPUT_INTERVAL: upper end */
};

struct output_field output_field_get(const struct output_section *section, size_t row,
				     const struct output_group *group,
				     const struct output_column *column);

void *output_row(const struct output_section *section, size_t row);

/* If the output takes long and stdout is no terminal, report on stderr that ROW is being written. */
void output_row_progress(const struct output_section *section, size_t row);

/* Return whether ROW only repeats other rows. output_rows_count() returns the number of all rows that do not. */
bool output_row_is_redundant(const struct output_section *section, size_t row);
size_t output_rows_count(const struct output_section *section);

bool output_field_is_absent(const struct output_field *field, enum output_type type);
