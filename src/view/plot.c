// SPDX-License-Identifier: GPL-2.0-or-later
#include "view/plot.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sorted.h"
#include "output/json.h"
#include "view/names.h"

/* Names are drawn for at most so many values. */
#define MAX_NAMED 12
/* A page has those of most calls. */
#define POINTS_MOST 500

/* Calls of one side with one value. */
struct point {
	uint64_t value;
	int side;
	double calls, time, min, max;
};

struct points {
	vec_of(struct point, items); /* by value and side */
	const struct profile_variable *variable;
};

define_compare(by_value, struct point,
	       compare_values(a->value, b->value) ?: compare_values(a->side, b->side));

define_compare(by_number, struct point,
	       compare_values((int64_t)a->value, (int64_t)b->value) ?:
		       compare_values(a->side, b->side));

define_compare(by_calls, double, compare_values(*b, *a));

static void point_add(void *into, void *from)
{
	struct point *to = into, *more = from;

	to->calls += more->calls;
	to->time += more->time;
	to->min = fmin(to->min, more->min);
	to->max = fmax(to->max, more->max);
}

/* The value of C's variable of that NAME, of LENGTH. False: it has none. */
static bool value_find(struct points *points, const struct profile *p,
		       const struct profile_capture *c, const char *name, size_t length,
		       uint64_t *value)
{
	uint32_t n = 0;

	vec_each(const struct profile_variable, v, p, variables) {
		if (v->site != c->site)
			continue;
		if (!strncmp(v->name, name, length) && !v->name[length]) {
			points->variable = v;
			*value = c->values[n];
			return !(c->absent >> n & 1);
		}
		n++;
	}
	return false;
}

/* Add the points of PLOT's variable, or of the difference of two. */
static bool plot_value(const struct view_plot *plot, struct points *points, const struct profile *p,
		       const struct profile_capture *c, uint64_t *value)
{
	const char *minus = strstr(plot->variable, VARIES_MINUS);
	size_t length = minus ? (size_t)(minus - plot->variable) : strlen(plot->variable);
	const char *second = minus ? minus + strlen(VARIES_MINUS) : "";
	uint64_t less = 0;

	if (!strcmp(plot->variable, varies_context.name) &&
	    !value_find(points, p, c, plot->variable, length, value)) {
		points->variable = &varies_context;
		*value = profile_name_value(p->contexts[c->context].name);
		return true;
	}
	if (!value_find(points, p, c, plot->variable, length, value) ||
	    (minus && !value_find(points, p, c, second, strlen(second), &less)))
		return false;
	*value -= less;
	return true;
}

static void collect(const struct view_plot *plot, int side, struct points *points)
{
	const struct profile *p = plot->p[side];

	for (uint32_t i = 0; p && i < p->n_captures; i++) {
		const struct profile_capture *c = &p->captures[i];
		uint64_t value;

		if (profile_site_has_label(&p->sites[c->site], plot->function) &&
		    plot_value(plot, points, p, c, &value))
			vec_push(points, items,
				 ((struct point){ value, side, (double)c->calls, (double)c->time,
						  (double)c->min, (double)c->max }));
	}
}

static double number_of(const struct points *points, uint64_t value)
{
	return points->variable->is_signed ? (double)(int64_t)value : (double)value;
}

/* The values as names, from 0 on; else they are numbers. */
static bool are_named(const struct view_plot *plot, const struct points *points)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < points->n_items; i++)
		n += !i || points->items[i].value != points->items[i - 1].value;
	return profile_variable_is_name(points->variable) ||
	       (n <= MAX_NAMED && (points->variable->is_flags || !plot->law));
}

/* For free(). */
static char *name_of(const struct view_plot *plot, const struct points *points,
		     const struct point *p)
{
	char *name = NULL;

	view_append_value(&name, plot->p[p->side], points->variable, p->value,
			  p->value >> 63 > points->variable->is_signed);
	return name;
}

/* By value. For free(). */
static struct points points_of(const struct view_plot *plot)
{
	struct points points = {};

	for (int side = 0; side < 2; side++)
		collect(plot, side, &points);
	vec_unite(&points, items, by_value, point_add);
	if (points.n_items && points.variable->is_signed)
		sort_array(points.items, points.n_items, sizeof(*points.items), by_number);
	return points;
}

/* The calls that a point needs to be one of the POINTS_MOST with most. */
static double least_calls(const struct points *points)
{
	scoped_free double *calls = alloc_array(points->n_items, sizeof(*calls));

	if (points->n_items <= POINTS_MOST)
		return 0;
	for (uint32_t i = 0; i < points->n_items; i++)
		calls[i] = points->items[i].calls;
	sort_array(calls, points->n_items, sizeof(*calls), by_calls);
	return calls[POINTS_MOST - 1];
}

/*
 * Return whether JavaScript has a number for each value. Otherwise values are drawn by their distance from the least.
 */
static bool are_exact(const struct points *points)
{
	return fabs(number_of(points, points->items[0].value)) < 0x1p53 &&
	       fabs(number_of(points, points->items[points->n_items - 1].value)) < 0x1p53;
}

/* The points; VALUES gets the place of each value, and its text. */
static json_t *points_json(const struct view_plot *plot, const struct points *points, bool named,
			   json_t *values)
{
	json_t *list = json_array();
	double least = least_calls(points);
	bool exact = are_exact(points);
	const struct point *last = NULL;

	for (uint32_t i = 0; i < points->n_items && json_array_size(list) < POINTS_MOST; i++) {
		const struct point *p = &points->items[i];
		scoped_free char *name = NULL;

		if (p->calls < least)
			continue;
		if (!last || last->value != p->value) {
			double place = named ? (double)json_array_size(values) :
				       exact ? number_of(points, p->value) :
					       (double)(p->value - points->items[0].value);

			name = name_of(plot, points, p);
			json_array_append_new(values, json_pack("[o,o]", output_json_number(place),
								output_json_text(name)));
		}
		last = p;
		json_array_append_new(
			list, json_pack("[i,i,o,o,o,o]", (int)json_array_size(values) - 1, p->side,
					output_json_number(p->calls),
					output_json_number(p->time / p->calls),
					output_json_number(p->min), output_json_number(p->max)));
	}
	return list;
}

json_t *view_plot_json(const struct view_plot *plot)
{
	struct points points = points_of(plot);
	json_t *json = NULL, *values, *list;

	if (points.n_items) {
		bool named = are_named(plot, &points), exact = are_exact(&points);
		scoped_free char *from = NULL;

		if (!named && !exact)
			from = name_of(plot, &points, &points.items[0]);
		values = json_array();
		list = points_json(plot, &points, named, values);
		json = json_pack("{s:o,s:o,s:o,s:o,s:b,s:o,s:o,s:i}", "title",
				 output_json_text(plot->title), "variable",
				 output_json_text(plot->variable), "law",
				 plot->law && !named && exact ?
					 json_pack("[o,o]", output_json_number(plot->law->slope),
						   output_json_number(plot->law->constant)) :
					 json_null(),
				 "values", values, "named", named, "from", output_json_text(from),
				 "points", list, "all", (int)points.n_items);
	}
	free(points.items);
	return json;
}
