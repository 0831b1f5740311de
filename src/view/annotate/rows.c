// SPDX-License-Identifier: GPL-2.0-or-later
#include "view/annotate/rows.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sorted.h"
#include "output/text.h"
#include "view/annotate.h"

const struct output_column annotate_counted_columns[1] = {
	ROW_COLUMN(NULL, COUNT, figures.per_call, .header = "EXECUTED"),
};

struct annotate_figures annotate_figures_of(const struct analyze_annotation *a,
					    const struct analyze_hits *hits, double executions,
					    double per_call)
{
	struct analyze_estimated share = analyze_annotation_share(a, hits);

	return (struct annotate_figures){ .share = share.value,
					  .low = share.low,
					  .high = share.high,
					  .cost = analyze_annotation_cost(a, hits),
					  .self = hits->self,
					  .callees = hits->callees,
					  .late = hits->late,
					  .executions = executions,
					  .per_call = per_call };
}

double annotate_line(uint32_t line)
{
	return line ? line : NAN;
}

/* Return the number of executions of ROW's code per call; 0: unknown. */
static double executed(const struct annotate_row *row)
{
	return row->figures.per_call > 0 ? row->figures.per_call : 0;
}

static double hits_of(const struct annotate_row *row)
{
	return row->figures.self + row->figures.callees;
}

define_compare(row_compare, struct annotate_row,
	       compare_values(hits_of(b), hits_of(a))                                  ?:
		       (hits_of(a) > 0 ? 0 : compare_values(executed(b), executed(a))) ?:
		       compare_values(a->depth, b->depth)                              ?:
		       compare_values(b->figures.self, a->figures.self));

static uint32_t rank(struct annotate_row *items, uint32_t n)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < n; i++)
		if (hits_of(&items[i]) > 0 || executed(&items[i]) > 0)
			items[kept++] = items[i];
	sort_array(items, kept, sizeof(*items), row_compare);
	return kept;
}

void annotate_rows_finish(struct view_rows *rows, const struct annotated *f)
{
	struct output_section *section = &rows->section;

	if (profile_is_exact(f->p))
		section->mark = NULL;
	if (rows->for_people)
		section->n_rows = rank(rows->owned, section->n_rows);
	section->groups += !f->a.counted;
	section->n_groups -= !f->a.counted;
}

const char *annotate_mark(const void *row, const struct output_group *group)
{
	(void)row;
	(void)group;
	return "~";
}

const char *annotate_cost_header(enum profile_clock clock, bool is_of_call)
{
	if (clock == PROFILE_CLOCK_INSN)
		return is_of_call ? "COST/CALL" : "COST/RUN";
	return is_of_call ? "TIME/CALL" : "TIME/RUN";
}

const char *annotate_percent(double share)
{
	static char buf[48];

	snprintf(buf, sizeof(buf), "%.*f %%", share < 0.1 ? 2 : 1, share * 100);
	return buf;
}

void annotate_table_write(const struct view *v, const char *title, const struct view_rows *rows,
			  unsigned int top)
{
	const struct output_table_options options = view_table_options(v, top);
	size_t shown = output_table_shown(&rows->section, &options), all = rows->section.n_rows;

	if (!all)
		return;
	fputc('\n', v->out);
	view_text(v, "%s:", title);
	output_table_write(v->out, &rows->section, &options);
	if (shown < all)
		fprintf(v->out, "(%zu more; --top=0 shows all)\n", all - shown);
}

/* ---- the text of instructions, lines and addresses ---- */

/* Return SYMBOL+OFFSET, or only OFFSET if SYMBOL is the symbol of PLACE's function. */
static char *address_text(const struct analyze_place *place, const char *symbol, uint64_t offset)
{
	const char *own = place->function.symbol ? place->function.symbol : place->function.name;

	if (!symbol)
		return alloc_strdup("?");
	if (!strcmp(symbol, own))
		return alloc_printf("+0x%" PRIx64, offset);
	return offset ? alloc_printf("%s+0x%" PRIx64, symbol, offset) : alloc_strdup(symbol);
}

char *annotated_address(const struct analyze_place *place, const struct analyze_instruction *i)
{
	if (i->symbol && !i->offset)
		return alloc_printf(
			"%s+0x0", strcmp(i->symbol, place->function.symbol ?: "") ? i->symbol : "");
	return address_text(place, i->symbol, i->offset);
}

bool annotated_is_live(const struct annotated *f, const struct analyze_place *place)
{
	return f->kcore && !(place->problems & KERNEL_FLOW_NOT_LIVE);
}

/* Read the bytes of instruction I from the running kernel or the file, whichever was disassembled. */
static bool read_bytes(const struct annotated *f, const struct analyze_place *place,
		       const struct analyze_instruction *i, uint8_t bytes[])
{
	if (annotated_is_live(f, place) && !(i->insn.flags & KERNEL_INSN_FROM_FILE))
		return !kernel_code_read_live(f->code, i->insn.addr, bytes, i->insn.len);
	return kernel_code_read_file(f->code, i->insn.addr, bytes, i->insn.len);
}

/* Return a remark on the static key or the data that instruction I accesses; for free(). NULL: there is none. */
static char *remark(const struct annotated *f, const struct arch_disasm *disasm,
		    const struct analyze_place *place, const struct analyze_instruction *i,
		    const char *target, bool is_nop)
{
	uint64_t data, offset;
	const char *name;

	if (i->insn.kind == KERNEL_INSN_LABEL) {
		/* The jump label of a static key is a nop or a jump. A file does not tell which of them the kernel executed. */
		const char *other = annotated_is_live(f, place) ? "if switched" : "or";

		return is_nop ? alloc_printf("static key: %s, jumps to %s", other,
					     target ? target : "?") :
				alloc_printf("static key: %s, falls through", other);
	}
	if (target || !arch_disasm_data(disasm, &data))
		return NULL;
	name = kernel_image_object_at(f->image, data, &offset);
	if (!name)
		return NULL;
	return offset ? alloc_printf("%s+0x%" PRIx64, name, offset) : alloc_strdup(name);
}

char *annotated_text(const struct annotated *f, struct arch_disasm *disasm,
		     const struct analyze_place *place, const struct analyze_instruction *i)
{
	uint64_t base = f->code->base;
	scoped_free char *target = NULL, *more = NULL;
	char *text;
	uint8_t bytes[16];
	struct kernel_place at;
	bool is_nop;

	if (!disasm || i->insn.len > sizeof(bytes) || !read_bytes(f, place, i, bytes))
		return alloc_strdup("?");
	if (i->insn.target && kernel_index_at(f->index, i->insn.target, &at))
		at.symbol = kernel_code_symbol_at(f->code, i->insn.target, &at.offset);
	if (i->insn.target && at.symbol)
		target = address_text(place, at.symbol, at.offset);
	is_nop = i->insn.flags & KERNEL_INSN_LABEL_NOP;
	text = arch_disasm_text(disasm, bytes, i->insn.len, base + i->insn.addr,
				is_nop ? NULL : target);
	more = remark(f, disasm, place, i, target, is_nop);
	if (more)
		alloc_append(&text, "  # %s", more);
	return text;
}

char *annotated_source(const struct annotated *f, const struct analyze_line *line)
{
	const char *text = kernel_source_line(f->source, line->file, line->line);
	scoped_free char *plain = NULL;

	if (!text)
		return NULL;
	plain = alloc_strdup(text + strspn(text, " \t\f"));
	for (char *c = plain; *c; c++)
		if (*c == '\t')
			*c = ' ';
	plain[strcspn(plain, "\r")] = '\0';
	return output_text_escape(plain);
}

char *annotated_where(const struct analyze_line *line)
{
	if (!line->file)
		return alloc_strdup("?");
	return line->line ? alloc_printf("%s:%u", line->file, line->line) :
			    alloc_strdup(line->file);
}
