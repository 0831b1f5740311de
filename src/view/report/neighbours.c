// SPDX-License-Identifier: GPL-2.0-or-later
/* `report --callers` and `--callees`: callers and callees of one function, with the time in each. */

#include "base/alloc.h"
#include "output/folded.h"
#include "view/names.h"
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
/* Exact recordings have no samples, so hide the column SAMPLES. The column CPU TOTAL contains instructions. */
static const struct output_column exact_columns[] = NEIGHBOUR_COLUMNS(NULL);
static const struct output_group exact_group = { COLUMNS(exact_columns) };

static bool make_line(struct view_rows *rows, void *line, const void *data)
{
	struct line *l = line;
	const struct analyze_frame frame = { l->neighbour.kind, l->neighbour.name };

	(void)data;
	l->name = !frame.name ? "(itself)" :
				alloc_keep(&rows->texts, rows->for_people ?
								 view_frames(&frame, 1) :
								 output_folded_frames(&frame, 1));
	return true;
}

static void choose_columns(struct view_rows *rows, const void *data)
{
	if (view_report_is_exact(data))
		rows->section.groups = &exact_group;
}

static char *callers_title(const void *data)
{
	const char *name = ((const struct view_report *)data)->neighbours.function ?: "";

	return alloc_printf("Callers of %s, and the time %s took when called from each", name,
			    name);
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
	VIEW_LIST(view_report, neighbours.callers.items, neighbours.callers.n_items),
	VIEW_LINES(line, make_line),
	.rows = choose_columns,
};

const struct view_table report_callees = {
	.name = "callees",
	.title_of = callees_title,
	ONE_GROUP(columns),
	VIEW_LIST(view_report, neighbours.callees.items, neighbours.callees.n_items),
	VIEW_LINES(line, make_line),
	.rows = choose_columns,
};
