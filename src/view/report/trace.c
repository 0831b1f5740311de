// SPDX-License-Identifier: GPL-2.0-or-later
/* `report --trace`: a traced call as an indented tree of calls and source lines. */
#include <math.h>

#include "base/alloc.h"
#include "view/page/columns.h"
#include "view/names.h"
#include "view/report.h"
#include "view/words.h"

#define INDENTED_MAX 64 /* maximum depth of indentation */

struct line {
	struct analyze_trace_line of;
	const char *text;
};

static const struct output_column columns[] = {
	COLUMN("kind", TEXT, line, of.kind, .names = view_trace_kinds),
	COLUMN("depth", COUNT, line, of.depth),
	COLUMN("name", TEXT, line, of.name),
	COLUMN("file", TEXT, line, of.file),
	COLUMN("line", COUNT, line, of.line),
	COLUMN(NULL, TEXT, line, text, .header = "DOES"),
	COLUMN("times", COUNT, line, of.times),
	COLUMN("oncpu_total", TIME, line, of.insns, .header = "CPU TOTAL"),
};

char *view_trace_text(const struct analyze_trace_line *of)
{
	const char *name = of->name;
	int indent = 2 * (int)fmin(of->depth, INDENTED_MAX);

	switch (of->kind) {
	case PROFILE_TRACE_CALL:
		return alloc_printf("%*s%s()", indent, "", name ?: "[unknown]");
	case PROFILE_TRACE_LOOP:
		return alloc_printf("%*s%.0f times:", indent, "", of->times);
	case PROFILE_TRACE_LOST:
		return alloc_printf("%*s(%.0f more that did not fit)", indent, "", of->times);
	default:
		if (!of->file)
			return alloc_printf("%*s(line unknown)", indent, "");
		return alloc_printf("%*s%s:%.0f%s%s", indent, "", of->file, of->line,
				    name ? " " : "", name ?: "");
	}
}

static bool make_line(struct view_rows *rows, void *line, const void *data)
{
	struct line *l = line;

	(void)data;
	l->text = alloc_keep(&rows->texts, view_trace_text(&l->of));
	return true;
}

static char *title(const void *data)
{
	const char *call =
		profile_env_get(((const struct view_data *)data)->p[0], PROFILE_ENV_TRACE);

	return alloc_printf("One complete call: %s", call ?: "none was kept");
}

const struct view_table report_trace = {
	.name = "trace",
	.title_of = title,
	ONE_GROUP(columns),
	VIEW_LIST(view_report, trace.lines, trace.n_lines),
	VIEW_LINES(line, make_line),
};
