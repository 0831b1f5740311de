// SPDX-License-Identifier: GPL-2.0-or-later
/* The page's code listing: instructions with their samples, below headings for their source lines and inlined functions. */

#include "output/text.h"
#include "view/annotate/rows.h"
#include "view/names.h"

#define SAMPLED_FORMAT  "%8s %7s %7s"
#define SAMPLED_WIDTH   (8 + 1 + 7 + 1 + 7)
#define EXECUTED_FORMAT " %12s"
#define EXECUTED_WIDTH  (1 + 12)
#define ADDRESS_FORMAT  " %12s  "
#define ADDRESS_WIDTH   (1 + 12 + 2)

/* The state of the listing of one contiguous part of the function's code. */
struct listing {
	FILE *out;
	const struct annotated *f;
	const struct analyze_place *place;
	struct arch_disasm *disasm;
	uint32_t around; /* number of instructions shown before and after one with a cost */
	bool color, everything;
	bool sampled, counted; /* the function has samples; its instructions were counted */
	uint32_t body, line; /* BODY and LINE of the last instruction; ANALYZE_NO_BODY: none */
	bool fresh; /* the next instruction is the first one, or follows a gap */
};

static bool has_cost(const struct analyze_instruction *i)
{
	return analyze_hits_all(&i->hits) > 0 || i->executions > 0;
}

static bool is_shown(const struct listing *l, uint32_t n)
{
	uint32_t first = n > l->around ? n - l->around : 0, last = n + l->around;

	if (l->everything)
		return true;
	for (uint32_t i = first; i <= last && i < l->place->n_insns; i++)
		if (has_cost(&l->f->a.insns[l->place->first_insn + i]))
			return true;
	return false;
}

static int columns_width(const struct listing *l)
{
	return (l->sampled ? SAMPLED_WIDTH : 0) + (l->counted ? EXECUTED_WIDTH : 0) + ADDRESS_WIDTH;
}

static void write_empty_columns(const struct listing *l)
{
	fprintf(l->out, "%*s", columns_width(l), "");
}

/* Write the columns to the left of the code. Leave out the columns of samples, or of executions, if there are none. */
static void write_columns(const struct listing *l, const char *share, const char *self,
			  const char *callees, const char *executed, const char *address)
{
	if (l->sampled)
		fprintf(l->out, SAMPLED_FORMAT, share, self, callees);
	if (l->counted)
		fprintf(l->out, EXECUTED_FORMAT, executed);
	fprintf(l->out, ADDRESS_FORMAT, address);
}

static void write_indent(const struct listing *l, uint32_t depth)
{
	if (!depth)
		return;
	fputs(output_style_begin(l->color, OUTPUT_STYLE_DIM), l->out);
	while (depth--)
		fputs("| ", l->out);
	fputs(output_style_end(l->color), l->out);
}

static uint32_t depth_of(const struct listing *l, uint32_t body)
{
	return body == ANALYZE_NO_BODY ? 0 : l->f->a.bodies[body].depth;
}

/* Return the inlined function at nesting DEPTH that contains the inlined function BODY. */
static uint32_t body_at_depth(const struct listing *l, uint32_t body, uint32_t depth)
{
	while (depth_of(l, body) > depth)
		body = l->f->a.bodies[body].parent;
	return body;
}

/* Write headings for BODY and the inlined functions around BODY, except those that also contain the previous instruction. */
static void write_bodies(struct listing *l, uint32_t body)
{
	uint32_t depth = depth_of(l, body), same = l->fresh ? 0 : depth_of(l, l->body);

	if (same > depth)
		same = depth;
	while (same && body_at_depth(l, body, same) != body_at_depth(l, l->body, same))
		same--;
	for (uint32_t d = same + 1; d <= depth; d++) {
		const struct analyze_code_body *b = &l->f->a.bodies[body_at_depth(l, body, d)];
		scoped_free char *name = output_text_escape(b->body.name);
		scoped_free char *called = output_text_escape(b->called ? b->called : "?");

		write_empty_columns(l);
		write_indent(l, d - 1);
		fprintf(l->out, "%s> %s%s, called at %s\n",
			output_style_begin(l->color, OUTPUT_STYLE_BODY), name,
			output_style_end(l->color), called);
	}
	l->body = body;
}

static void write_line(struct listing *l, uint32_t number)
{
	const struct analyze_line *line = &l->f->a.lines[number];
	scoped_free char *where = annotated_where(line), *source = annotated_source(l->f, line);
	scoped_free char *plain = output_text_escape(where);

	write_empty_columns(l);
	write_indent(l, depth_of(l, l->body));
	fprintf(l->out, "%s%s%s%s%s\n", output_style_begin(l->color, OUTPUT_STYLE_SOURCE), plain,
		source ? "  " : "", source ? source : "", output_style_end(l->color));
	l->line = number;
}

static const char *count_text(double count)
{
	return count > 0 ? output_number(OUTPUT_COUNT, count, PROFILE_CLOCK_INSN) : "";
}

static void write_instruction(const struct listing *l, const struct analyze_instruction *i)
{
	struct analyze_estimated share = analyze_annotation_share(&l->f->a, &i->hits);
	const char *shown = analyze_hits_all(&i->hits) > 0 ? annotate_percent(share.value) : "";
	scoped_free char *self =
		alloc_printf("%s%s", i->hits.late > 0 ? "!" : "", count_text(i->hits.self));
	scoped_free char *address = annotated_address(l->place, i);
	scoped_free char *text = annotated_text(l->f, l->disasm, l->place, i);
	scoped_free char *plain_address = output_text_escape(address),
			 *plain = output_text_escape(text);
	/* Choose the color by the share of samples. Without samples, choose it by the share of executed instructions. */
	double part = l->f->a.samples > 0 ? share.value : i->per_call / l->f->a.per_call;
	enum output_style style = part >= LITTLE         ? OUTPUT_STYLE_HOT :
				  part >= HALF_A_PERCENT ? OUTPUT_STYLE_WARM :
							   OUTPUT_STYLE_DIM;
	bool any = part > 0;

	fputs(any ? output_style_begin(l->color, style) : "", l->out);
	write_columns(l, shown, self, count_text(i->hits.callees),
		      output_number(OUTPUT_COUNT, i->per_call, PROFILE_CLOCK_INSN), plain_address);
	fputs(any ? output_style_end(l->color) : "", l->out);
	write_indent(l, depth_of(l, i->body));
	fprintf(l->out, "  %s\n", plain);
}

static void write_place_title(const struct listing *l)
{
	const struct analyze_place *p = l->place;
	const char *name = p->function.symbol ?: p->function.name;
	const char *file = p->is_inlined ? p->body.call_file : p->function.file;
	scoped_free char *text = NULL;

	if (p->is_inlined)
		view_append(&text, "%s, inlined into %s%s%s", p->body.name, p->chain ?: "",
			    p->chain ? PROFILE_CHAIN : "", name);
	else
		view_append(&text, "%s", name);
	if (file)
		view_append(&text, ", %s at %s:%u", p->is_inlined ? "called" : "declared", file,
			    p->is_inlined ? p->body.call_line : p->function.line);
	fprintf(l->out, "\n%s:\n", text);
	write_columns(l, "SHARE", "SELF", "CALLEES", "EXECUTED", "ADDRESS");
	fputs("CODE\n", l->out);
}

static void write_place(struct listing *l)
{
	uint64_t next = 0;
	bool gap = false;

	write_place_title(l);
	l->fresh = true;
	for (uint32_t n = 0; n < l->place->n_insns; n++) {
		const struct analyze_instruction *i = &l->f->a.insns[l->place->first_insn + n];

		if (n && i->insn.addr != next)
			gap = l->fresh = true;
		next = i->insn.addr + i->insn.len;
		if (!is_shown(l, n)) {
			gap = l->fresh = true;
			continue;
		}
		if (gap)
			fprintf(l->out, "%*s\n", columns_width(l) - 2, "...");
		gap = false;
		write_bodies(l, i->body);
		if (l->fresh || i->line != l->line)
			write_line(l, i->line);
		l->fresh = false;
		write_instruction(l, i);
	}
	if (gap)
		fprintf(l->out, "%*s\n", columns_width(l) - 2, "...");
	if (l->place->problems & KERNEL_FLOW_CUT)
		fputs("(parts that are too large or too many are omitted)\n", l->out);
}

void annotate_code_write(const struct view *view, const struct view_annotation *v)
{
	struct listing l = {
		.out = view->out,
		.f = v->f,
		.disasm = v->disasm,
		.around = (uint32_t)v->around,
		.color = v->color,
		.everything = view->everything,
		.counted = v->f->a.counted,
		.sampled = v->f->a.samples > 0,
	};

	for (uint32_t i = 0; i < v->f->a.n_places; i++) {
		l.place = &v->f->a.places[i];
		write_place(&l);
	}
}
