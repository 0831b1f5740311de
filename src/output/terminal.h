/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a page may have on a terminal, and nowhere else: colour, and a pager. */
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

/* To be asked before a pager is started. */
bool output_color_wanted(enum output_color color);

/* What to print before and after text of STYLE; empty where COLOR is false. */
const char *output_style_begin(bool color, enum output_style style);
const char *output_style_end(bool color);

/*
 * From here on stdout goes through $PAGER, else `less -R` where there is one; not where stdout is no terminal,
 * or PAGER is empty or "cat". The other ends it, and waits until it has been left.
 */
void output_pager_start(void);
void output_pager_finish(void);
