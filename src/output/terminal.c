// SPDX-License-Identifier: GPL-2.0-or-later
#include "output/terminal.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ESCAPE "\033["

static const char *const begins[OUTPUT_N_STYLES] = {
	[OUTPUT_STYLE_HOT] = ESCAPE "1;31m", /* bold red */
	[OUTPUT_STYLE_WARM] = ESCAPE "33m", /* yellow */
	[OUTPUT_STYLE_SOURCE] = ESCAPE "36m", /* cyan */
	[OUTPUT_STYLE_BODY] = ESCAPE "1m", /* bold */
	[OUTPUT_STYLE_DIM] = ESCAPE "2m",
};

bool output_color_wanted(enum output_color color)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	if (color != OUTPUT_COLOR_AUTO)
		return color == OUTPUT_COLOR_ALWAYS;
	return isatty(STDOUT_FILENO) && !(no && *no) && term && *term && strcmp(term, "dumb");
}

const char *output_style_begin(bool color, enum output_style style)
{
	return color ? begins[style] : "";
}

const char *output_style_end(bool color)
{
	return color ? ESCAPE "m" : "";
}
