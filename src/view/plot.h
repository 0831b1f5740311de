/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A function's latency over a captured variable, drawn by gnuplot. */
#pragma once

#include "analyze/varies/varies.h"

struct view_plot {
	const struct profile *p[2]; /* the second may be NULL */
	const char *sides[2]; /* what they are called; of one it does not matter */
	const char *function, *variable;
	const struct varies_law *law; /* of that variable; NULL: none is drawn */
	const char *title;
};

/*
 * Writes it to PATH as SVG: for each value on each side the mean of all calls, its area by their number, and a bar from the
 * fastest to the slowest. 0; or an error, reported: without gnuplot, or nothing to draw, PATH is as it was.
 */
int view_plot(const struct view_plot *plot, const char *path);
