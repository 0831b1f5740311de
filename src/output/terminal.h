/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Colour, which only pages on a terminal have. */
#pragma once

#include <stdbool.h>

enum output_color {
	OUTPUT_COLOR_AUTO, /* where stdout is a terminal that can, unless NO_COLOR is set */
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
