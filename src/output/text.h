/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text on a terminal: escaping untrusted text, wrapping lines, colour. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

/* Return S with all bytes but printable ASCII as \xNN, for free(). Files are untrusted, and terminals obey escape sequences. */
char *output_text_escape(const char *s);
/* Do as output_text_escape(), and escape backslashes too: for names that contain no escapes yet and that anybody may choose. */
char *output_name_escape(const char *s);

/*
 * Print TEXT, which the caller has escaped, broken at spaces into lines of at most WIDTH columns; WIDTH 0: one line. COLUMN columns
 * of the first line are already printed. All other lines are indented by INDENT.
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
