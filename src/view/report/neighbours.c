// SPDX-License-Identifier: GPL-2.0-or-later
/* report --callers, --callees: the edges of the call graph at one function. */
#include <stdlib.h>

#include "base/alloc.h"
#include "output/folded.h"
#include "view/columns.h"
#include "view/report.h"

struct line {
	struct analyze_neighbour neighbour;
	const char *name;
};

static const struct output_column columns[] = {
	COLUMN("name", TEXT, line, name, .header = "FUNCTION"),
	COLUMN("samples", COUNT, line, neighbour.samples, .header = "SAMPLES"),
	COLUMN("oncpu_total", TIME, line, neighbour.total, .header = "CPU TOTAL"),
	COLUMN("share", FRACTION, line, neighbour.share, .header = "SHARE"),
};

static void set_rows(struct view_rows *rows, const struct analyze_neighbour_list *list)
{
	struct line *lines = view_rows_new(rows, list->n_items, sizeof(*lines));

	for (uint32_t i = 0; i < list->n_items; i++) {
		const struct analyze_neighbour *n = &list->items[i];
		const struct analyze_frame frame = { n->kind, n->name };

		lines[i].neighbour = *n;
		lines[i].name = n->name ?
					alloc_keep(&rows->texts, output_folded_frames(&frame, 1)) :
					"(itself)";
	}
}

static char *title(const struct view_report *r, const char *what)
{
	return alloc_printf("%s %s, by what is below both", what, r->neighbours.function ?: "");
}

static void callers_rows(struct view_rows *rows, const void *data)
{
	const struct view_report *r = data;

	set_rows(rows, &r->neighbours.callers);
}

static char *callers_title(const void *data)
{
	return title(data, "Callers of");
}

static void callees_rows(struct view_rows *rows, const void *data)
{
	const struct view_report *r = data;

	set_rows(rows, &r->neighbours.callees);
}

static char *callees_title(const void *data)
{
	return title(data, "Callees of");
}

const struct view_table report_callers = {
	.name = "callers",
	.title_of = callers_title,
	ONE_GROUP(columns),
	.rows = callers_rows,
};

const struct view_table report_callees = {
	.name = "callees",
	.title_of = callees_title,
	ONE_GROUP(columns),
	.rows = callees_rows,
};
