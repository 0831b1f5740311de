/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A function's latency over a captured variable, as the page for a browser draws it. */
#pragma once

#include <jansson.h>

#include "analyze/varies/varies.h"
#include "base/alloc.h"

struct view_plot {
	const struct profile *p[2]; /* the second may be NULL */
	const char *function, *variable;
	const struct varies_law *law; /* of that variable; NULL: none is drawn */
	char *title;
};

/*
 * Return the data of a plot: "title", "variable", "values", each [place on the axis, text], "named" (places are 0, 1,
 * …; else numbers, less "from", a text, if that is not null), "law" ([slope, constant] or null), "points", each [index
 * of a value, side, calls, mean, fastest, slowest], and "all", the number of points. NULL: there is nothing to draw.
 */
json_t *view_plot_json(const struct view_plot *plot);

/* The plots worth drawing, the best first. They own their titles. */
struct view_plots {
	vec_of(struct view_plot, rows);
};

/* A page has at most so many. */
#define VIEW_PLOTS_MOST 6
