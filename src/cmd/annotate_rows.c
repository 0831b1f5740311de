// SPDX-License-Identifier: GPL-2.0-or-later
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cmd/annotate.h"

const char *const annotate_section_names[] = { "instructions", "lines", "bodies", "places", NULL };

/* --- rows ----------------------------------------------------------------------------------- */

void annotate_rows_deinit(struct annotate_rows *rows)
{
	while (rows->n_items) {
		struct annotate_row *row = &rows->items[--rows->n_items];

		free(row->address);
		free(row->text);
		free(row->where);
		free(row->source);
		free(row->lines);
		free(row->called);
	}
	free(rows->items);
}

/* EXECUTIONS in all and PER_CALL: NAN where nobody counted. */
static struct annotate_figures figures_of(const struct analyze_annotation *a,
					  const struct analyze_hits *hits, double executions,
					  double per_call)
{
	struct analyze_estimated share = analyze_annotation_share(a, hits);

	return (struct annotate_figures){ .share = share.value,
					  .low = share.low,
					  .high = share.high,
					  .cost = analyze_annotation_cost(a, hits),
					  .self = hits->self,
					  .below = hits->below,
					  .late = hits->late,
					  .executions = executions,
					  .per_call = per_call };
}

static double known_line(uint32_t line)
{
	return line ? line : NAN;
}

static void instruction_rows(const struct annotated *f, struct symbol_disasm *disasm,
			     struct annotate_rows *rows)
{
	for (uint32_t p = 0; p < f->a.n_places; p++) {
		const struct analyze_place *place = &f->a.places[p];

		for (uint32_t n = 0; n < place->n_insns; n++) {
			const struct analyze_instruction *i = &f->a.insns[place->first_insn + n];
			const struct analyze_line *line = &f->a.lines[i->line];
			struct annotate_row row = {
				.figures = figures_of(&f->a, &i->hits, i->executions, i->per_call),
				.address = annotated_address(f, place, i),
				.text = annotated_text(f, disasm, place, i),
				.function = place->function.name,
				.symbol = i->symbol,
				.path = line->path,
				.file = line->file,
				.line = known_line(line->line),
				.offset = (double)i->offset,
				.addr = (double)i->insn.addr,
				.length = i->insn.len,
			};

			vec_push(rows, items, row);
		}
	}
}

static void line_rows(const struct annotated *f, struct annotate_rows *rows)
{
	for (uint32_t i = 0; i < f->a.n_lines; i++) {
		const struct analyze_line *line = &f->a.lines[i];
		struct annotate_row row = {
			.figures = figures_of(&f->a, &line->hits, line->executions, line->per_call),
			.where = annotated_where(line),
			.source = annotated_source(f, line),
			.path = line->path,
			.file = line->file,
			.line = known_line(line->line),
			.n_insns = line->n_insns,
		};

		vec_push(rows, items, row);
	}
}

/* What the body took in a call of the function, where it was timed. */
static double exact_cost(const struct annotated *f, const struct analyze_range *range)
{
	double per = isnan(f->a.figures.calls) ? f->a.runs : f->a.figures.calls;

	return range && !range->estimated ? range->side.figures.total / per : NAN;
}

static char *lines_text(const struct analyze_code_body *b)
{
	if (!b->first_line)
		return NULL;
	return b->first_line == b->last_line ?
		       alloc_printf("%s:%u", b->body.file, b->first_line) :
		       alloc_printf("%s:%u-%u", b->body.file, b->first_line, b->last_line);
}

static void body_rows(const struct annotated *f, struct annotate_rows *rows)
{
	for (uint32_t i = 0; i < f->a.n_bodies; i++) {
		const struct analyze_code_body *b = &f->a.bodies[i];
		const struct analyze_range *range = b->range;
		struct annotate_row row = {
			.figures =
				figures_of(&f->a, &b->hits, NAN, f->a.counted ? b->per_call : NAN),
			.name = b->body.name,
			.function = f->a.places[b->place].function.name,
			.chain = b->chain,
			.path = b->path,
			.called = b->called ? alloc_strdup(b->called) : NULL,
			.lines = lines_text(b),
			.first_line = known_line(b->first_line),
			.last_line = known_line(b->last_line),
			.n_insns = b->n_insns,
			.depth = b->depth,
			.exact = exact_cost(f, range),
			.calls = range && !range->estimated ? range->side.figures.calls : NAN,
			.measured = range && !range->estimated ? "exact" : "estimated",
		};

		vec_push(rows, items, row);
	}
}

static void place_rows(const struct annotated *f, struct annotate_rows *rows)
{
	for (uint32_t i = 0; i < f->a.n_places; i++) {
		const struct analyze_place *place = &f->a.places[i];
		struct annotate_row row = {
			.figures = figures_of(&f->a, &place->hits, NAN, NAN),
			.function = place->function.name,
			.symbol = place->function.symbol,
			.inlined = place->is_inlined,
			.chain = place->chain,
			.addr = (double)place->function.addr,
			.n_insns = place->n_insns,
			.at_return = place->at_return,
		};

		if (place->is_inlined && place->body.call_file)
			row.called =
				alloc_printf("%s:%u", place->body.call_file, place->body.call_line);
		if (place->function.file)
			row.where =
				alloc_printf("%s:%u", place->function.file, place->function.line);
		vec_push(rows, items, row);
	}
}

void annotate_rows_init(struct annotate_rows *rows, const struct annotated *f,
			struct symbol_disasm *disasm, enum annotate_section section)
{
	memset(rows, 0, sizeof(*rows));
	switch (section) {
	case ANNOTATE_INSTRUCTIONS:
		instruction_rows(f, disasm, rows);
		break;
	case ANNOTATE_LINES:
		line_rows(f, rows);
		break;
	case ANNOTATE_BODIES:
		body_rows(f, rows);
		break;
	case ANNOTATE_PLACES:
		place_rows(f, rows);
		break;
	}
}

/* --- columns -------------------------------------------------------------------------------- */

#define N(array) (sizeof(array) / sizeof((array)[0]))
#define COLUMN(key, field, header, type, rank)                                \
	{                                                                     \
		key, header, type, rank, offsetof(struct annotate_row, field) \
	}
#define ELASTIC(key, field, header, rank)                                                    \
	{                                                                                    \
		key, header, OUTPUT_TEXT, rank, offsetof(struct annotate_row, field), false, \
			false, true                                                          \
	}
/* A file and a line; tables only. */
#define PLACE(field, header)                                                                      \
	{                                                                                         \
		"", header, OUTPUT_TEXT, OUTPUT_TABLE_ONLY, offsetof(struct annotate_row, field), \
			false, false, true, true                                                  \
	}
#define DATA(key, field, type) COLUMN(key, field, "", type, OUTPUT_DATA_ONLY)

#define SHARE COLUMN("share", figures.share, "SHARE", OUTPUT_FRACTION, OUTPUT_IF_ANY)
#define SHARE_ENDS                                       \
	DATA("share_low", figures.low, OUTPUT_FRACTION), \
		DATA("share_high", figures.high, OUTPUT_FRACTION)
/* Prefixed: of a call, or of a run. */
#define COST                                                                    \
	{                                                                       \
		"cost", "", OUTPUT_TIME, OUTPUT_IF_ANY,                         \
			offsetof(struct annotate_row, figures.cost), true, true \
	}
#define COUNTS                                                            \
	COLUMN("self", figures.self, "SELF", OUTPUT_COUNT, 2),            \
		COLUMN("below", figures.below, "BELOW", OUTPUT_COUNT, 2), \
		DATA("late", figures.late, OUTPUT_COUNT)
#define EXECUTIONS                                            \
	DATA("executions", figures.executions, OUTPUT_COUNT), \
		DATA("per_call", figures.per_call, OUTPUT_COUNT)

static const struct output_column instruction_columns[] = {
	DATA("function", function, OUTPUT_TEXT),
	DATA("symbol", symbol, OUTPUT_TEXT),
	DATA("offset", offset, OUTPUT_COUNT),
	DATA("addr", addr, OUTPUT_COUNT),
	DATA("length", length, OUTPUT_COUNT),
	DATA("address", address, OUTPUT_TEXT),
	DATA("text", text, OUTPUT_TEXT),
	DATA("body", path, OUTPUT_TEXT),
	DATA("file", file, OUTPUT_TEXT),
	DATA("line", line, OUTPUT_COUNT),
	SHARE,
	SHARE_ENDS,
	COST,
	COUNTS,
	EXECUTIONS,
};

static const struct output_column line_columns[] = {
	SHARE,
	SHARE_ENDS,
	COST,
	COUNTS,
	EXECUTIONS,
	DATA("instructions", n_insns, OUTPUT_COUNT),
	DATA("file", file, OUTPUT_TEXT),
	DATA("line", line, OUTPUT_COUNT),
	PLACE(where, "LINE"),
	ELASTIC("body", path, "IN", OUTPUT_ALWAYS),
	ELASTIC("source", source, "SOURCE", OUTPUT_IF_ANY),
};

static const struct output_column body_columns[] = {
	SHARE,
	SHARE_ENDS,
	COST,
	COLUMN("exact", exact, "EXACT", OUTPUT_TIME, 1),
	COUNTS,
	DATA("per_call", figures.per_call, OUTPUT_COUNT),
	COLUMN("body", name, "BODY", OUTPUT_TEXT, OUTPUT_ALWAYS),
	COLUMN("chain", chain, "BY WAY OF", OUTPUT_TEXT, 4),
	COLUMN("lines", lines, "LINES", OUTPUT_TEXT, 3),
	COLUMN("called", called, "CALLED AT", OUTPUT_TEXT, 2),
	DATA("function", function, OUTPUT_TEXT),
	DATA("first_line", first_line, OUTPUT_COUNT),
	DATA("last_line", last_line, OUTPUT_COUNT),
	DATA("instructions", n_insns, OUTPUT_COUNT),
	DATA("depth", depth, OUTPUT_COUNT),
	DATA("measured", measured, OUTPUT_TEXT),
	DATA("calls", calls, OUTPUT_COUNT),
};

static const struct output_column place_columns[] = {
	SHARE,
	SHARE_ENDS,
	COST,
	COUNTS,
	DATA("at_return", at_return, OUTPUT_COUNT),
	COLUMN("function", function, "IN", OUTPUT_TEXT, OUTPUT_ALWAYS),
	DATA("symbol", symbol, OUTPUT_TEXT),
	DATA("addr", addr, OUTPUT_COUNT),
	DATA("declared", where, OUTPUT_TEXT),
	DATA("inlined", inlined, OUTPUT_FLAG),
	COLUMN("chain", chain, "BY WAY OF", OUTPUT_TEXT, 1),
	COLUMN("called", called, "CALLED AT", OUTPUT_TEXT, OUTPUT_ALWAYS),
	DATA("instructions", n_insns, OUTPUT_COUNT),
};

static const struct output_group groups[][1] = {
	[ANNOTATE_INSTRUCTIONS] = { { NULL, 0, instruction_columns, N(instruction_columns) } },
	[ANNOTATE_LINES] = { { NULL, 0, line_columns, N(line_columns) } },
	[ANNOTATE_BODIES] = { { NULL, 0, body_columns, N(body_columns) } },
	[ANNOTATE_PLACES] = { { NULL, 0, place_columns, N(place_columns) } },
};

/* Where blocks were counted. */
static const struct output_column counted_columns[] = {
	COLUMN("", figures.per_call, "EXECUTED", OUTPUT_COUNT, OUTPUT_TABLE_ONLY),
};

static const struct output_group counted_lines[] = {
	{ NULL, 0, counted_columns, N(counted_columns) },
	{ NULL, 0, line_columns, N(line_columns) },
};

static const struct output_group counted_bodies[] = {
	{ NULL, 0, counted_columns, N(counted_columns) },
	{ NULL, 0, body_columns, N(body_columns) },
};

static const char *mark_estimate(const void *row, const struct output_group *group)
{
	(void)row;
	(void)group;
	return "~";
}

const char *annotate_cost_header(enum profile_clock clock, bool is_of_call)
{
	if (clock == PROFILE_CLOCK_INSN)
		return is_of_call ? "INSN/CALL" : "INSN/RUN";
	return is_of_call ? "TIME/CALL" : "TIME/RUN";
}

struct output_section annotate_rows_section(const struct annotate_rows *rows,
					    const struct annotated *f,
					    enum annotate_section section)
{
	const struct output_group *counted = !f->a.counted              ? NULL :
					     section == ANNOTATE_LINES  ? counted_lines :
					     section == ANNOTATE_BODIES ? counted_bodies :
									  NULL;

	return (struct output_section){
		.groups = counted ? counted : groups[section],
		.n_groups = counted ? N(counted_lines) : 1,
		.rows = rows->items,
		.n_rows = rows->n_items,
		.row_size = sizeof(struct annotate_row),
		.clock = f->a.clock,
		.prefix = annotate_cost_header(f->a.clock, f->a.tick_is_of_call),
		.mark = mark_estimate,
	};
}

/* What is not known counts as nothing. */
static double executed(const struct annotate_row *row)
{
	return row->figures.per_call > 0 ? row->figures.per_call : 0;
}

static double hits_of(const struct annotate_row *row)
{
	return row->figures.self + row->figures.below;
}

static int row_compare(const void *left, const void *right)
{
	const struct annotate_row *a = left, *b = right;
	double hits_a = hits_of(a), hits_b = hits_of(b);

	if (hits_a != hits_b)
		return hits_a < hits_b ? 1 : -1;
	if (!(hits_a > 0) && executed(a) != executed(b))
		return executed(a) < executed(b) ? 1 : -1;
	if (a->depth != b->depth)
		return a->depth < b->depth ? -1 : 1;
	return a->figures.self < b->figures.self ? 1 : a->figures.self > b->figures.self ? -1 : 0;
}

void annotate_rows_rank(struct annotate_rows *rows)
{
	struct annotate_rows kept = { 0 };

	for (uint32_t i = 0; i < rows->n_items; i++) {
		struct annotate_rows one = { 0 };

		if (hits_of(&rows->items[i]) > 0 || executed(&rows->items[i]) > 0) {
			vec_push(&kept, items, rows->items[i]);
			continue;
		}
		vec_push(&one, items, rows->items[i]);
		annotate_rows_deinit(&one);
	}
	free(rows->items);
	*rows = kept;
	if (kept.n_items)
		qsort(kept.items, kept.n_items, sizeof(*kept.items), row_compare);
}

const char *annotate_percent(char buf[OUTPUT_NUMBER_MAX], double share)
{
	snprintf(buf, OUTPUT_NUMBER_MAX, "%.*f %%", share < 0.1 ? 2 : 1, share * 100);
	return buf;
}
