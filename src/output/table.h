/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Tables for people. libsmartcols does not suffice. It makes a table fit by cutting text, but cannot omit columns by rank, or
 * write a heading over several columns.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "output/section.h"

struct output_table_options {
	/* Maximum width; 0: no limit. If a table is wider, columns of high rank are left out, then elastic columns are cut. */
	unsigned int width;
	/* Also cut texts that are not elastic if the table is still too wide. Do not set this for files: a cut name is lost. */
	bool truncate;
	unsigned int top; /* maximum number of rows; 0: all rows */
	double least; /* minimum weight of shown rows, relative to the greatest; 0: none */
};

void output_table_write(FILE *out, const struct output_section *section,
			const struct output_table_options *options);

/* Return the number of rows that output_table_write() would show. */
size_t output_table_shown(const struct output_section *section,
			  const struct output_table_options *options);

/* Return, for free(), the header of COLUMN, or the text of COLUMN in ROW, which is "-" if there is no value. */
char *output_header_text(const struct output_section *section, const struct output_column *column);
char *output_cell_text(const struct output_section *section, size_t row,
		       const struct output_group *group, const struct output_column *column);
