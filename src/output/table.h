/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A section as a table for people. libsmartcols does not suffice: it makes a table fit by cutting text, and can neither leave out
 * columns by rank nor put a heading over several columns.
 */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "output/section.h"

struct output_table_options {
	/* Columns to fill; 0: no limit. If a table is wider, columns of high rank are left out, then elastic ones are cut. */
	unsigned int width;
	/* Cut any long text if the table is still too wide. Not for files, where a cut name is lost. */
	bool truncate;
	unsigned int top; /* maximum number of rows to show; 0: all */
	double least; /* minimum weight of a row to show, relative to the greatest; 0: any */
};

void output_table_write(FILE *out, const struct output_section *section,
			const struct output_table_options *options);

/* Return the number of rows that these options show. */
size_t output_table_shown(const struct output_section *section,
			  const struct output_table_options *options);

/* Return a column's header, and its text in ROW of a table: "-" if there is no such figure. For free(). */
char *output_header_text(const struct output_section *section, const struct output_column *column);
char *output_cell_text(const struct output_section *section, size_t row,
		       const struct output_group *group, const struct output_column *column);
