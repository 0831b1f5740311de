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
	OUTPUT_COUNT, /* a number of things; not whole where it is a mean over runs */
	OUTPUT_CHANGE, /* likewise, a difference: always with its sign */
	OUTPUT_RATE, /* a number of things per one of others */
	OUTPUT_TIME, /* in ticks of the profile's clock */
	OUTPUT_DELTA, /* likewise, a difference: always with its sign */
	OUTPUT_PERCENT, /* a difference: always with its sign */
	OUTPUT_FRACTION, /* of 1 */
	OUTPUT_PROBABILITY, /* small ones as "<0.001" */
	OUTPUT_INTERVAL, /* [low, high] in JSON, two columns _low and _high in CSV; for no table */
};

/* Ranks of columns; a greater one is the first to leave a table that is too wide. */
enum {
	OUTPUT_ALWAYS = 0,
	OUTPUT_IF_ANY = -1, /* in a table always, but where no row has one */
	OUTPUT_IF_VARIES = -2, /* likewise, but where all rows have the same */
};

struct output_column {
	const char *key; /* in JSON and CSV; NULL: in neither */
	const char *header; /* in tables; NULL: in none */
	enum output_type type;
	int rank;
	size_t offset; /* of the field in the object of the column's group */
	bool prefixed; /* the header goes behind the section's prefix */
	bool estimable; /* in tables the section's mark stands before it */
	/* Text that helps to read, and is cut where a table is too wide, in files too: CSV and JSON have all of it. */
	bool elastic;
	bool cut_front; /* it is its end that tells most: a file and a line */
	bool is_raw; /* of a text: a name as it was found, which tables and CSV escape */
	const char *const *names; /* of an enum's values; NULL: a text */
};

/* Columns that read one object inside each row. */
struct output_group {
	/*
	 * The name of the object in JSON, and the columns' prefix in CSV; NULL: they belong to the row.
	 * Several groups of one name make one object.
	 */
	const char *key;
	size_t offset; /* of the object in the row */
	const struct output_column *columns;
	size_t n_columns;
};

struct output_section {
	const struct output_group *groups;
	size_t n_groups;
	const void *rows;
	size_t n_rows, row_size;
	enum profile_clock clock; /* of all times in the rows */
	const char *prefix; /* what the columns say that are "prefixed": "WALL"; NULL: nothing */
	/* Offset in a row of a `bool` that leaves a row out of tables because it only repeats others; 0: none. */
	size_t redundant;
	/* Return the mark before ROW's estimable figures of GROUP: "~". NULL here or there: none. */
	const char *(*mark)(const void *row, const struct output_group *group);
	/*
	 * Offset in a row of a `double`, the weight of the row; 0: none. NAN counts as
	 * large.
	 */
	size_t weight;
	bool pointers; /* ROWS are pointers to the rows */
};

/* The field of ROW that COLUMN of GROUP describes: exactly one of the two has a meaning. */
struct output_field {
	const char *text; /* OUTPUT_TEXT; NULL: absent */
	double number; /* all others; NAN: absent */
	double high; /* OUTPUT_INTERVAL: the other end */
};

struct output_field output_field_get(const struct output_section *section, size_t row,
				     const struct output_group *group,
				     const struct output_column *column);

/* Return ROW. */
void *output_row(const struct output_section *section, size_t row);

/* Say on a terminal that ROW is being written, if that takes long. */
void output_row_progress(const struct output_section *section, size_t row);

/* Return whether ROW only repeats others, and how many rows do not. */
bool output_row_is_redundant(const struct output_section *section, size_t row);
size_t output_rows_count(const struct output_section *section);

bool output_field_is_absent(const struct output_field *field, enum output_type type);

/* Return whether COLUMN is in tables, and in CSV and JSON. */
bool output_column_in_table(const struct output_column *column);
bool output_column_in_data(const struct output_column *column);
