/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Text on a terminal: escapes of untrusted text, line wrapping, colors. */
#pragma once

#include <stdbool.h>
#include <stdio.h>

/* Return S with all bytes but printable ASCII as \xNN, for free(). Files are untrusted, and terminals obey escape sequences. */
char *output_text_escape(const char *s);
/* Like output_text_escape(), but escape backslashes too: for untrusted names that contain no escapes yet. For free(). */
char *output_name_escape(const char *s);

/*
 * Print TEXT, escaped by the caller, in lines of at most WIDTH columns, broken at spaces; WIDTH 0: one line. The first line
 * already has COLUMN columns. All other lines are indented by INDENT.
 */
void output_text_wrap(FILE *out, const char *text, unsigned int width, unsigned int column,
		      unsigned int indent);

/*
 * Return the number of columns on OUT: $COLUMNS, else the terminal's width, else OUTPUT_WIDTH_DEFAULT. Set *IS_TERMINAL unless it
 * is NULL.
 */
#define OUTPUT_WIDTH_DEFAULT 100
unsigned int output_width(FILE *out, int *is_terminal);

/* ---- colors, only for pages on a terminal ---- */

enum output_color {
	OUTPUT_COLOR_AUTO, /* color if stdout is a color terminal and NO_COLOR is not set */
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

/* Return the escape sequence that begins STYLE, or the one that ends any style; "" if COLOR is false. */
const char *output_style_begin(bool color, enum output_style style);
const char *output_style_end(bool color);
