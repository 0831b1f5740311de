/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text that comes out of a file and goes to a terminal, and text that is longer than a line. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

/*
 * S with everything that is not printable ASCII written as \xNN, to be freed by the caller. A data
 * file may come from anywhere, and a terminal obeys escape sequences.
 */
char *output_text_escape(const char *s);
/* Likewise, with backslashes escaped, too: for names that anybody may choose and that contain no escapes yet. */
char *output_name_escape(const char *s);

/*
 * Prints TEXT (as it is: escape it first) broken at spaces into lines of at most WIDTH columns. The first line begins in column
 * COLUMN, behind what was printed there; all others are indented by INDENT. WIDTH 0: one line.
 */
void output_text_wrap(FILE *out, const char *text, unsigned int width, unsigned int column,
		      unsigned int indent);

/*
 * Columns to fill on OUT: $COLUMNS if set, else the terminal's, else OUTPUT_WIDTH_DEFAULT. Sets
 * *is_terminal, which may be NULL.
 */
#define OUTPUT_WIDTH_DEFAULT 100
unsigned int output_width(FILE *out, int *is_terminal);

/* ---- colour, which only pages on a terminal have ---- */

enum output_color {
	OUTPUT_COLOR_AUTO, /* if stdout is a terminal with colours and NO_COLOR is not set */
	OUTPUT_COLOR_ALWAYS,
	OUTPUT_COLOR_NEVER,
};

enum output_style {
	OUTPUT_STYLE_HOT,
	OUTPUT_STYLE_WARM,
	OUTPUT_STYLE_SOURCE,
	OUTPUT_STYLE_BODY,
	OUTPUT_STYLE_DIM,
	OUTPUT_N_STYLES,
};

bool output_color_wanted(enum output_color color);

/* Return the text to print before and after text of STYLE; empty if COLOR is false. */
const char *output_style_begin(bool color, enum output_style style);
const char *output_style_end(bool color);
