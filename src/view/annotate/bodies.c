// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of inlined functions. The figures of an inlined function include functions inlined into it. */
#include <math.h>

#include "base/alloc.h"
#include "view/annotate/rows.h"

static const struct output_column columns[] = {
	SHARE,
	COST,
	ROW_COLUMN("exact", TIME, exact, .header = "EXACT", .rank = 1),
	SAMPLES,
	ROW_COLUMN("per_call", COUNT, figures.per_call),
	ROW_COLUMN("body", TEXT, name, .header = "BODY"),
	ROW_COLUMN("chain", TEXT, chain, .header = "VIA", .rank = 4),
	ROW_COLUMN("lines", TEXT, lines, .header = "LINES", .rank = 3),
	ROW_COLUMN("called", TEXT, called, .header = "CALLED AT", .rank = 2),
	ROW_COLUMN("function", TEXT, function),
	ROW_COLUMN("first_line", COUNT, first_line),
	ROW_COLUMN("last_line", COUNT, last_line),
	ROW_COLUMN("instructions", COUNT, n_insns),
	ROW_COLUMN("depth", COUNT, depth),
	ROW_COLUMN("measured", TEXT, measured),
	ROW_COLUMN("calls", COUNT, calls),
};

static const struct output_group groups[] = COUNTED_GROUPS(columns);

static double exact_cost(const struct analyze_annotation *a, const struct analyze_range *range)
{
	double per = isnan(a->figures.calls) ? a->runs : a->figures.calls;

	return range->side.figures.total / per;
}

static char *lines_text(const struct analyze_code_body *b)
{
	char *text = NULL;

	if (b->first_line)
		alloc_append(&text, "%s:%u", b->body.file, b->first_line);
	if (b->first_line && b->last_line != b->first_line)
		alloc_append(&text, "-%u", b->last_line);
	return text;
}

static void rows(struct view_rows *rows, const void *data)
{
	const struct annotated *f = ((const struct view_annotation *)data)->f;
	const struct analyze_annotation *a = &f->a;
	struct annotate_row *items = view_rows_new(rows, a->n_bodies, sizeof(*items));

	for (uint32_t i = 0; i < a->n_bodies; i++) {
		const struct analyze_code_body *b = &a->bodies[i];
		bool is_exact = b->range && !b->range->estimated;

		items[i] = (struct annotate_row){
			.figures = annotate_figures_of(a, &b->hits, NAN,
						       a->counted ? b->per_call : NAN),
			.name = b->body.name,
			.function = a->places[b->place].function.name,
			.chain = b->chain,
			.path = b->path,
			.called = b->called,
			.lines = alloc_keep(&rows->texts, lines_text(b)),
			.first_line = annotate_line(b->first_line),
			.last_line = annotate_line(b->last_line),
			.n_insns = b->n_insns,
			.depth = b->depth,
			.exact = is_exact ? exact_cost(a, b->range) : NAN,
			.calls = is_exact ? b->range->side.figures.calls : NAN,
			.measured = is_exact               ? "exact" :
				    profile_is_exact(f->p) ? "counted" :
							     "estimated",
		};
	}
	annotate_rows_finish(rows, f);
}

const struct view_table annotate_bodies = {
	.name = "bodies",
	.places = VIEW_IN_JSON | VIEW_IN_CSV,
	.first = 8,
	.title = "Inlined bodies, including bodies inlined into them",
	GROUPS(groups),
	.mark = annotate_mark,
	.rows = rows,
};
