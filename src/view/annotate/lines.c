// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of source lines. A line has a row in each inlined function that contains it. */
#include "base/alloc.h"
#include "view/annotate/rows.h"

static const struct output_column columns[] = {
	SHARE,
	COST,
	SAMPLES,
	EXECUTIONS,
	ROW_COLUMN("instructions", COUNT, n_insns),
	ROW_COLUMN("file", TEXT, file),
	ROW_COLUMN("line", COUNT, line),
	ROW_COLUMN(NULL, TEXT, where, .header = "LINE", .elastic = true, .cut_front = true),
	ROW_COLUMN("body", TEXT, path, .header = "IN", .elastic = true),
	ROW_COLUMN("source", TEXT, source, .header = "SOURCE", .rank = OUTPUT_IF_ANY,
		   .elastic = true),
};

static const struct output_group groups[] = COUNTED_GROUPS(columns);

static void rows(struct view_rows *rows, const void *data)
{
	const struct view_annotation *v = data;
	const struct analyze_annotation *a = &v->f->a;
	struct annotate_row *items = view_rows_new(rows, a->n_lines, sizeof(*items));

	for (uint32_t i = 0; i < a->n_lines; i++) {
		const struct analyze_line *line = &a->lines[i];

		items[i] = (struct annotate_row){
			.figures = annotate_figures_of(a, &line->hits, line->executions,
						       line->per_call),
			.where = alloc_keep(&rows->texts, annotated_where(line)),
			.source = alloc_keep(&rows->texts, annotated_source(v->f, line)),
			.path = line->path,
			.file = line->file,
			.line = annotate_line(line->line),
			.n_insns = line->n_insns,
		};
	}
	annotate_rows_finish(rows, v->f);
}

const struct view_table annotate_lines = {
	.name = "lines",
	.places = VIEW_IN_JSON | VIEW_IN_CSV,
	.first = 10,
	.title = "Lines",
	GROUPS(groups),
	.mark = annotate_mark,
	.rows = rows,
};
