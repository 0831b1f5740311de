/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text that comes out of a file and goes to a terminal, and text that is longer than a line. */
#pragma once

#include <stdio.h>

/*
 * S with everything that is not printable ASCII written as \xNN, to be freed by the caller. A data
 * file may come from anywhere, and a terminal obeys escape sequences.
 */
char *output_text_escape(const char *s);
/* Likewise, with backslashes escaped too: for names that anybody may choose, and that no escapes are in. */
char *output_name_escape(const char *s);

/*
 * Prints TEXT (as it is: escape it first) broken at spaces into lines of at most WIDTH columns. The
 * first line begins in column COLUMN, behind what was printed there; all others are indented by
 * INDENT. WIDTH 0: one line.
 */
void output_text_wrap(FILE *out, const char *text, unsigned int width, unsigned int column,
		      unsigned int indent);

/*
 * Columns to fill on OUT: $COLUMNS if set, else the terminal's, else OUTPUT_WIDTH_DEFAULT. Sets
 * *is_terminal, which may be NULL.
 */
#define OUTPUT_WIDTH_DEFAULT 100
unsigned int output_width(FILE *out, int *is_terminal);
