// SPDX-License-Identifier: GPL-2.0-or-later
/* Calls by captured values of variables, sorted by share of their function's time. */
#include <string.h>

#include "base/alloc.h"
#include "output/text.h"
#include "view/page/columns.h"
#include "view/names.h"
#include "view/report.h"

struct line {
	struct profile_capture calls; /* summed over all runs */
	const char *function, *syscall, *values;
	double n_calls, mean, min, max, share; /* SHARE: fraction of FUNCTION's time */
};

static const struct output_column columns[] = {
	COLUMN("function", TEXT, line, function, .header = "FUNCTION"),
	COLUMN("syscall", TEXT, line, syscall, .header = "CONTEXT"),
	COLUMN("calls", COUNT, line, n_calls, .header = "CALLS"),
	COLUMN("share", FRACTION, line, share, .header = "TIME SHARE"),
	COLUMN("mean", TIME, line, mean, .header = "MEAN"),
	COLUMN("min", TIME, line, min, .header = "MIN", .rank = 2),
	COLUMN("max", TIME, line, max, .header = "MAX", .rank = 1),
	COLUMN("sampled", FLAG, line, calls.sampled),
	COLUMN("values", TEXT, line, values, .header = "VALUES", .elastic = true),
};

/* Return the values of C as text. On a page, omit variables that never vary, with no bit in VARIES, unless none varies. */
static const char *word_values(struct view_rows *rows, const struct profile_capture *c,
			       const struct profile *p, uint32_t varies)
{
	char *text = NULL;

	if (!rows->for_people || !varies)
		varies = UINT32_MAX;
	view_append_values(&text, p, c->site, c->values, c->absent, varies);
	return alloc_keep(&rows->texts, text);
}

/* The order puts calls of one function side by side if they have the same context and equal values. */
define_compare(by_values, struct line,
	       compare_values(a->calls.site, b->calls.site)               ?:
		       compare_values(a->calls.context, b->calls.context) ?:
		       compare_values(a->calls.sampled, b->calls.sampled) ?:
		       compare_values(a->calls.absent, b->calls.absent)   ?:
		       memcmp(a->calls.values, b->calls.values, sizeof(a->calls.values)));

define_compare(by_time, struct line,
	       compare_values(a->calls.site, b->calls.site) ?:
		       compare_values(b->share, a->share)   ?:
							      by_values(a, b));

static void add(struct profile_capture *sum, const struct profile_capture *c)
{
	sum->calls += c->calls;
	sum->time = (int64_t)((uint64_t)sum->time +
			      (uint64_t)c->time); /* a forged file may cause an overflow */
	if (c->min < sum->min)
		sum->min = c->min;
	if (c->max > sum->max)
		sum->max = c->max;
}

/* Return a bit for each variable whose value differs between FIRST and C. */
static uint32_t differing(const struct profile_capture *first, const struct profile_capture *c)
{
	uint32_t bits = first->absent ^ c->absent;

	for (uint32_t i = 0; i < PROFILE_VALUES_MAX; i++)
		bits |= (uint32_t)(first->values[i] != c->values[i]) << i;
	return bits;
}

/* All captured calls of one function. */
struct site {
	double time;
	const struct profile_capture *first;
	uint32_t varies; /* a bit for each variable with different values in these calls */
};

/* Return an array of the captured calls of each function, indexed by its site; for free(). */
static struct site *sites_of(const struct profile *p)
{
	struct site *sites = alloc_array(p->n_sites, sizeof(*sites));

	vec_each(const struct profile_capture, c, p, captures) {
		struct site *site = &sites[c->site];

		site->time += (double)c->time;
		site->first = site->first ?: c;
		site->varies |= differing(site->first, c);
	}
	return sites;
}

static void rows(struct view_rows *rows, const void *data)
{
	const struct profile *p = ((const struct view_data *)data)->p[0];
	struct line *lines = view_rows_new(rows, p->n_captures, sizeof(*lines));
	scoped_free struct site *sites = sites_of(p);
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->n_captures; i++)
		lines[i].calls = p->captures[i];
	qsort(lines, p->n_captures, sizeof(*lines), by_values);
	for (uint32_t i = 0; i < p->n_captures; i++) {
		if (n && !by_values(&lines[n - 1], &lines[i]))
			add(&lines[n - 1].calls, &lines[i].calls);
		else
			lines[n++].calls = lines[i].calls;
	}
	for (uint32_t i = 0; i < n; i++) {
		struct profile_capture *c = &lines[i].calls;

		lines[i].function =
			alloc_keep(&rows->texts, profile_site_label(&p->sites[c->site]));
		lines[i].syscall = p->contexts[c->context].name;
		lines[i].mean = (double)c->time / (double)c->calls;
		lines[i].n_calls = (double)c->calls;
		lines[i].min = (double)c->min;
		lines[i].max = (double)c->max;
		lines[i].share =
			sites[c->site].time > 0 ? (double)c->time / sites[c->site].time : 0;
		lines[i].values = word_values(rows, c, p, sites[c->site].varies);
	}
	qsort(lines, n, sizeof(*lines), by_time);
	rows->section.n_rows = n;
}

/* Suggest `report --why-varies` for a function whose captured values differ: the one with most time in captured calls. */
static void after(const struct view *view, const void *data)
{
	const struct profile *p = ((const struct view_data *)data)->p[0];
	scoped_free struct site *sites = sites_of(p);
	uint32_t most = UINT32_MAX;
	scoped_free char *name = NULL, *label = NULL;

	for (uint32_t i = 0; i < p->n_sites; i++)
		if (sites[i].varies && (most == UINT32_MAX || sites[i].time > sites[most].time))
			most = i;
	if (most != UINT32_MAX) {
		label = profile_site_label(&p->sites[most]);
		name = output_text_escape(label);
		view_text(view,
			  "report --why-varies=%s shows what explains how long these calls take.",
			  name);
	}
}

const struct view_table report_values = {
	.name = "values",
	.first = 6,
	.title = "Calls, by captured values",
	ONE_GROUP(columns),
	.rows = rows,
	.after = after,
};
