// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of instructions for JSON and CSV. The page shows them as a code listing instead. */
#include "base/alloc.h"
#include "view/annotate/rows.h"

static const struct output_column columns[] = {
	ROW_COLUMN("function", TEXT, function),
	ROW_COLUMN("symbol", TEXT, symbol),
	ROW_COLUMN("offset", COUNT, offset),
	ROW_COLUMN("addr", COUNT, addr),
	ROW_COLUMN("length", COUNT, length),
	ROW_COLUMN("address", TEXT, address),
	ROW_COLUMN("text", TEXT, text),
	ROW_COLUMN("body", TEXT, path),
	ROW_COLUMN("file", TEXT, file),
	ROW_COLUMN("line", COUNT, line),
	SHARE,
	COST,
	SAMPLES,
	EXECUTIONS,
};

static void rows(struct view_rows *rows, const void *data)
{
	const struct view_annotation *v = data;
	const struct analyze_annotation *a = &v->f->a;
	struct annotate_row *items = view_rows_new(rows, a->n_insns, sizeof(*items));

	vec_each(const struct analyze_place, place, a, places) {
		for (uint32_t n = 0; n < place->n_insns; n++) {
			const struct analyze_instruction *i = &a->insns[place->first_insn + n];
			const struct analyze_line *line = &a->lines[i->line];

			*items++ = (struct annotate_row){
				.figures = annotate_figures_of(a, &i->hits, i->executions,
							       i->per_call),
				.address = alloc_keep(&rows->texts, annotated_address(place, i)),
				.text = alloc_keep(&rows->texts,
						   annotated_text(v->f, v->disasm, place, i)),
				.function = place->function.name,
				.symbol = i->symbol,
				.path = line->path,
				.file = line->file,
				.line = annotate_line(line->line),
				.offset = (double)i->offset,
				.addr = (double)i->insn.addr,
				.length = i->insn.len,
			};
		}
	}
}

const struct view_table annotate_instructions = {
	.name = "instructions",
	.places = VIEW_IN_JSON | VIEW_IN_CSV,
	ONE_GROUP(columns),
	.mark = annotate_mark,
	.rows = rows,
};
