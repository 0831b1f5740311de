// SPDX-License-Identifier: GPL-2.0-or-later
/* report --callers, --callees: the edges of the call graph at one function. */

#include "base/alloc.h"
#include "output/folded.h"
#include "view/page/columns.h"
#include "view/report.h"

struct line {
	struct analyze_neighbour neighbour;
	const char *name;
};

#define NEIGHBOUR_COLUMNS(samples_)                                                                \
	{                                                                                          \
		COLUMN("name", TEXT, line, name, .header = "FUNCTION"),                            \
			COLUMN("calls", COUNT, line, neighbour.calls, .header = "CALLS",           \
			       .rank = OUTPUT_IF_ANY),                                             \
			COLUMN("samples", COUNT, line, neighbour.samples, .header = samples_),     \
			COLUMN("oncpu_total", TIME, line, neighbour.total, .header = "CPU TOTAL"), \
			COLUMN("share", FRACTION, line, neighbour.share, .header = "SHARE"),       \
	}

static const struct output_column columns[] = NEIGHBOUR_COLUMNS("SAMPLES");
/* What stands for samples are the instructions of the next column. */
static const struct output_column exact_columns[] = NEIGHBOUR_COLUMNS(NULL);
static const struct output_group exact_group = { COLUMNS(exact_columns) };

static void set_rows(struct view_rows *rows, const struct view_report *r,
		     const struct analyze_neighbour_list *list)
{
	struct line *lines = view_rows_new(rows, list->n_items, sizeof(*lines));

	if (profile_is_exact(r->common.p[0]))
		rows->section.groups = &exact_group;
	for (uint32_t i = 0; i < list->n_items; i++) {
		const struct analyze_neighbour *n = &list->items[i];
		const struct analyze_frame frame = { n->kind, n->name };

		lines[i].neighbour = *n;
		lines[i].name = n->name ?
					alloc_keep(&rows->texts, output_folded_frames(&frame, 1)) :
					"(itself)";
	}
}

static void callers_rows(struct view_rows *rows, const void *data)
{
	const struct view_report *r = data;

	set_rows(rows, r, &r->neighbours.callers);
}

static char *callers_title(const void *data)
{
	const char *name = ((const struct view_report *)data)->neighbours.function ?: "";

	return alloc_printf("Callers of %s, and the time %s took when called from each", name,
			    name);
}

static void callees_rows(struct view_rows *rows, const void *data)
{
	const struct view_report *r = data;

	set_rows(rows, r, &r->neighbours.callees);
}

static char *callees_title(const void *data)
{
	const char *name = ((const struct view_report *)data)->neighbours.function ?: "";

	return alloc_printf("Callees of %s, and the time each took when called from it", name);
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
