// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of places that contain the function's code: the function itself, and each function into which it is inlined. */
#include <math.h>

#include "base/alloc.h"
#include "view/annotate/rows.h"

static const struct output_column columns[] = {
	SHARE,
	COST,
	SAMPLES,
	ROW_COLUMN("at_return", COUNT, at_return),
	ROW_COLUMN("function", TEXT, function, .header = "IN"),
	ROW_COLUMN("symbol", TEXT, symbol),
	ROW_COLUMN("addr", COUNT, addr),
	ROW_COLUMN("declared", TEXT, where),
	ROW_COLUMN("inlined", FLAG, inlined),
	ROW_COLUMN("chain", TEXT, chain, .header = "VIA", .rank = 1),
	ROW_COLUMN("called", TEXT, called, .header = "CALLED AT"),
	ROW_COLUMN("instructions", COUNT, n_insns),
};

static const char *position(struct view_rows *rows, const char *file, uint32_t line)
{
	return file ? alloc_keep(&rows->texts, alloc_printf("%s:%u", file, line)) : NULL;
}

static void rows(struct view_rows *rows, const void *data)
{
	const struct annotated *f = ((const struct view_annotation *)data)->f;
	struct annotate_row *items = view_rows_new(rows, f->a.n_places, sizeof(*items));

	for (uint32_t i = 0; i < f->a.n_places; i++) {
		const struct analyze_place *place = &f->a.places[i];

		items[i] = (struct annotate_row){
			.figures = annotate_figures_of(&f->a, &place->hits, NAN, NAN),
			.function = place->function.name,
			.symbol = place->function.symbol,
			.inlined = place->is_inlined,
			.chain = place->chain,
			.addr = (double)place->function.addr,
			.n_insns = place->n_insns,
			.at_return = place->at_return,
			.where = position(rows, place->function.file, place->function.line),
		};
		if (place->is_inlined)
			items[i].called =
				position(rows, place->body.call_file, place->body.call_line);
	}
}

const struct view_table annotate_places = {
	.name = "places",
	.places = VIEW_IN_JSON | VIEW_IN_CSV,
	.first = 6,
	.title = "Places",
	ONE_GROUP(columns),
	.mark = annotate_mark,
	.rows = rows,
};
