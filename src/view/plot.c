// SPDX-License-Identifier: GPL-2.0-or-later
#include "view/plot.h"

#include <errno.h>
#include <math.h>
#include <spawn.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/output.h"
#include "base/sorted.h"
#include "output/json.h"
#include "output/text.h"
#include "view/names.h"

/* Of more values than that a number is no name. */
#define MAX_NAMED 12
/* A page has those of most calls. */
#define POINTS_MOST 500

extern char **environ;

/* Calls of one side with one value. */
struct point {
	uint64_t value;
	int side;
	double calls, time, min, max;
};

struct points {
	vec_of(struct point, items); /* by value and side */
	const struct profile_variable *variable;
	double most; /* calls of one */
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

/* Of PLOT's variable, or of the difference of two. */
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

/* TEXT as gnuplot takes it, between single quotes, where only these mean something. */
static void append_quoted(char **script, const char *text)
{
	scoped_free char *plain = output_text_escape(text);

	alloc_append(script, "'");
	for (const char *c = plain; *c; c++)
		alloc_append(script, *c == '\'' ? "''" : "%c", *c);
	alloc_append(script, "'");
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

	view_append_value(&name, plot->p[p->side], points->variable, p->value, false);
	return name;
}

static void append_names(char **script, const struct view_plot *plot, const struct points *points)
{
	int n = 0;

	alloc_append(script, "set xtics (");
	for (uint32_t i = 0; i < points->n_items; i++) {
		const struct point *p = &points->items[i];
		scoped_free char *name = NULL;

		if (i && p->value == p[-1].value)
			continue;
		name = name_of(plot, points, p);
		alloc_append(script, "%s", n ? ", " : "");
		append_quoted(script, name);
		alloc_append(script, " %d", n++);
	}
	alloc_append(script, ")\nset xrange [-0.5:%d.5]\n", n - 1);
}

/* A block of the data of SIDE: x, mean, least, most, size of the point. */
static void append_data(char **script, const struct points *points, int side, bool named, bool both)
{
	double name = -1;

	alloc_append(script, "$side%d << EOD\n", side);
	for (uint32_t i = 0; i < points->n_items; i++) {
		const struct point *p = &points->items[i];

		name += !i || p->value != p[-1].value;
		if (p->side == side)
			alloc_append(script, "%.17g %.17g %.17g %.17g %.3g\n",
				     named ? name + (both ? side * 0.16 - 0.08 : 0) :
					     number_of(points, p->value),
				     p->time / p->calls, p->min, p->max,
				     0.4 + 1.2 * sqrt(p->calls / points->most));
	}
	alloc_append(script, "EOD\n");
}

/* Okabe and Ito's blue and vermilion, which the colour-blind tell apart; the law is black. */
static char *script_of(const struct view_plot *plot, const struct points *points)
{
	static const char *const colours[] = { "#0072b2", "#d55e00" };
	bool named = are_named(plot, points);
	const char *before = "plot ";
	char *script = NULL;

	alloc_append(&script, "set terminal svg noenhanced size 800,480 font 'sans-serif,14' "
			      "background '#ffffff'\n"
			      "set border 3 lc rgb '#666666'\nset tics nomirror out\n"
			      "set grid ytics lc rgb '#dddddd' lt 1\n"
			      "set key outside top right horizontal\nset yrange [0:*]\n"
			      "set offsets graph 0.03, graph 0.03, graph 0.12, 0\nset title ");
	append_quoted(&script, plot->title);
	alloc_append(&script, "\nset xlabel ");
	append_quoted(&script, plot->variable);
	alloc_append(&script, "\nset ylabel '%s per call'\n",
		     plot->p[0]->clock == PROFILE_CLOCK_INSN ? "instructions" : "ns");
	if (named)
		append_names(&script, plot, points);
	for (int side = 0; side < 2; side++)
		append_data(&script, points, side, named, plot->p[1]);
	for (int side = 0; side < 2 && plot->p[side]; side++) {
		alloc_append(&script,
			     "%s$side%d using 1:2:3:4 with yerrorbars pt 0 lc rgb '%s' notitle, "
			     "$side%d using 1:2:5 with points pt 7 ps variable lc rgb '%s' ",
			     before, side, colours[side], side, colours[side]);
		if (plot->p[1]) {
			alloc_append(&script, "title ");
			append_quoted(&script, plot->sides[side]);
		} else {
			alloc_append(&script, "notitle");
		}
		before = ", ";
	}
	if (plot->law && !named)
		alloc_append(&script, ", %.17g * x + %.17g lc rgb '#000000' lw 1.5 notitle",
			     plot->law->slope, plot->law->constant);
	alloc_append(&script, "\n");
	return script;
}

/* gnuplot's work on the script ARG, without files of the user's that it would begin with. */
static int draw(int fd, const void *arg)
{
	static char *const argv[] = { "gnuplot", "-d", "-", NULL };
	const char *script = arg;
	int input = memfd_create("plot", MFD_CLOEXEC), status = 0, err;
	posix_spawn_file_actions_t actions;
	pid_t pid;

	if (input < 0)
		return -errno;
	if (write(input, script, strlen(script)) != (ssize_t)strlen(script) ||
	    lseek(input, 0, SEEK_SET)) {
		close(input);
		return -EIO;
	}
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, fd, STDOUT_FILENO);
	err = posix_spawnp(&pid, argv[0], &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(input);
	if (err) {
		log_error("cannot draw: gnuplot does not start (%s); Debian has it in gnuplot-nox",
			  strerror(err));
		return -ECANCELED;
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (!status)
		return 0;
	log_error("cannot draw: gnuplot failed");
	return -ECANCELED;
}

/* By value. For free(). */
static struct points points_of(const struct view_plot *plot)
{
	struct points points = {};

	for (int side = 0; side < 2; side++)
		collect(plot, side, &points);
	vec_unite(&points, items, by_value, point_add);
	vec_each(const struct point, p, &points, items)
		points.most = fmax(points.most, p->calls);
	if (points.n_items && points.variable->is_signed)
		sort_array(points.items, points.n_items, sizeof(*points.items), by_number);
	return points;
}

int view_plot(const struct view_plot *plot, const char *path)
{
	struct points points = points_of(plot);
	int err = -ENOENT;

	if (points.n_items) {
		scoped_free char *script = script_of(plot, &points);

		err = output_replace(path, &(struct output){ .content = draw,
							     .arg = script,
							     .mode = 0644,
							     .invokers = true });
		if (err && err != -ECANCELED)
			log_error("%s: %s", path, output_strerror(err));
	} else {
		log_error("no values of '%s' of '%s' were captured to draw", plot->variable,
			  plot->function);
	}
	free(points.items);
	return err;
}

/* ---- for a page ---- */

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

/* The points, and in NAMES, where that is not NULL, what their values are called. */
static json_t *points_json(const struct view_plot *plot, const struct points *points, json_t *names)
{
	json_t *list = json_array();
	double least = least_calls(points);
	const struct point *last = NULL;

	for (uint32_t i = 0; i < points->n_items && json_array_size(list) < POINTS_MOST; i++) {
		const struct point *p = &points->items[i];
		scoped_free char *name = NULL;

		if (p->calls < least)
			continue;
		if (names && (!last || last->value != p->value)) {
			name = name_of(plot, points, p);
			json_array_append_new(names, output_json_text(name));
		}
		last = p;
		json_array_append_new(
			list,
			json_pack("[o,i,o,o,o,o]",
				  output_json_number(names ? (double)json_array_size(names) - 1 :
							     number_of(points, p->value)),
				  p->side, output_json_number(p->calls),
				  output_json_number(p->time / p->calls),
				  output_json_number(p->min), output_json_number(p->max)));
	}
	return list;
}

json_t *view_plot_json(const struct view_plot *plot)
{
	struct points points = points_of(plot);
	json_t *json = NULL, *names = NULL, *list;

	if (points.n_items) {
		names = are_named(plot, &points) ? json_array() : NULL;
		list = points_json(plot, &points, names);
		json = json_pack(
			"{s:o,s:o,s:o,s:o,s:o,s:i}", "title", output_json_text(plot->title),
			"variable", output_json_text(plot->variable), "law",
			plot->law && !names ?
				json_pack("[o,o]", output_json_number(plot->law->slope),
					  output_json_number(plot->law->constant)) :
				json_null(),
			"points", list, "names", names ?: json_null(), "all", (int)points.n_items);
	}
	free(points.items);
	return json;
}
