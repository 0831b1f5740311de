/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Rows and columns as data, so that one description of a column serves tables, CSV and JSON.
 *
 * A column says where in a row its field lies and what kind of figure it is; the kind alone decides
 * how it is aligned and formatted. A field is a `const char *` or, with names, an enum (OUTPUT_TEXT), a `bool`
 * (OUTPUT_FLAG), two `double`s (OUTPUT_INTERVAL) or a `double` (all others); NULL and NAN mean that
 * there is no such figure, which a table shows as "-", CSV as an empty field and JSON as null.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "profile/clock.h"

enum output_type {
	OUTPUT_TEXT,
	OUTPUT_FLAG,
	OUTPUT_COUNT, /* a number of things; not an integer if it is a mean over runs */
	OUTPUT_CHANGE, /* a difference of counts, always with its sign */
	OUTPUT_RATE, /* a count per unit of something else */
	OUTPUT_TIME, /* ticks of the profile's clock */
	OUTPUT_DELTA, /* a difference of times, always with its sign */
	OUTPUT_PERCENT, /* a difference in percent, always with its sign */
	OUTPUT_FRACTION, /* a part, from 0 to 1 */
	OUTPUT_PROBABILITY, /* shown as "<0.001" if small */
	OUTPUT_INTERVAL, /* [low, high] in JSON, two columns _low and _high in CSV; not for tables */
};

/* Ranks of columns. If a table is too wide, columns of the greatest rank are left out first. */
enum {
	OUTPUT_ALWAYS = 0,
	OUTPUT_IF_ANY = -1, /* left out only if no row has a value */
	OUTPUT_IF_VARIES = -2, /* left out only if all rows have the same value */
};

struct output_column {
	const char *key; /* name in JSON and CSV; NULL: in neither */
	const char *header; /* title in tables; NULL: in no table */
	enum output_type type;
	int rank;
	size_t offset; /* of the field, in the group's object */
	bool prefixed; /* the section's prefix comes before the header */
	bool estimable; /* in tables, the section's mark may come before the value */
	/* Text that is cut if a table is too wide, even in a file: CSV and JSON have all of it. */
	bool elastic;
	bool cut_front; /* cut the beginning: the end says most, as of a file and line */
	bool is_raw; /* text without escapes: tables and CSV escape its backslashes too */
	const char *const *names; /* texts for the values of an enum; NULL: the field is a text */
};

/* Columns that read one object inside each row. */
struct output_group {
	/*
	 * The name of the object in JSON, and the columns' prefix in CSV; NULL: they belong to the row.
	 * Several groups of one name make one object.
	 */
	const char *key;
	size_t offset; /* of the object, in the row */
	const struct output_column *columns;
	size_t n_columns;
};

struct output_section {
	const struct output_group *groups;
	size_t n_groups;
	const void *rows;
	size_t n_rows, row_size;
	enum profile_clock clock; /* unit of all times in the rows */
	const char *prefix; /* begins the headers of "prefixed" columns: "WALL"; NULL: none */
	/* Offset, in a row, of a `bool` that is true if the row only repeats others: tables leave it out. 0: no such field. */
	size_t redundant;
	/* Return the mark for ROW's estimable figures of GROUP, "~", or NULL. May be NULL: no marks. */
	const char *(*mark)(const void *row, const struct output_group *group);
	/* Offset, in a row, of a `double`, the row's weight; 0: no such field. Tables show rows of weight NAN. */
	size_t weight;
	bool pointers; /* ROWS are pointers to the rows */
};

/* The value of a field: the column's type decides which of these are valid. */
struct output_field {
	const char *text; /* OUTPUT_TEXT; NULL: absent */
	double number; /* all others; NAN: absent */
	double high; /* OUTPUT_INTERVAL: the other end */
};

struct output_field output_field_get(const struct output_section *section, size_t row,
				     const struct output_group *group,
				     const struct output_column *column);

/* Return row number ROW. */
void *output_row(const struct output_section *section, size_t row);

/* Say on a terminal that ROW is being written, if that takes long. */
void output_row_progress(const struct output_section *section, size_t row);

/* Return whether ROW only repeats other rows, and the number of rows that do not. */
bool output_row_is_redundant(const struct output_section *section, size_t row);
size_t output_rows_count(const struct output_section *section);

bool output_field_is_absent(const struct output_field *field, enum output_type type);

/* Return whether COLUMN is in tables, and in CSV and JSON. */
bool output_column_in_table(const struct output_column *column);
bool output_column_in_data(const struct output_column *column);
