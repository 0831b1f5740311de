// SPDX-License-Identifier: GPL-2.0-or-later
/* A function for people: what carries most of its time, then its code. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cmd/annotate.h"
#include "output/text.h"

/* What stands above the code belongs on the first screen. */
#define TOP_PLACES 6
#define TOP_BODIES 8
#define TOP_LINES  10

/* Fewer samples than that are said to be few. */
#define FEW 100

/* Shares of a function's samples from which on they are set off. */
#define HOT  0.05
#define WARM 0.005

/* --- the page: what stands on top ------------------------------------------------------------ */

static void write_executed(const struct view *v, const struct analyze_annotation *a)
{
	char executed[OUTPUT_NUMBER_MAX], *unknown = alloc_strdup("");

	if (a->n_unknown) {
		free(unknown);
		unknown = alloc_printf(", %u of its instructions not known", a->n_unknown);
	}
	view_text(
		v,
		"Executed: %s instructions a call, by counting its blocks, without what it calls%s. "
		"EXECUTED: those of a body, a line, an instruction.",
		output_number(executed, OUTPUT_COUNT, a->per_call, PROFILE_CLOCK_INSN), unknown);
	free(unknown);
}

static void write_title(const struct view *v, const struct annotated *f)
{
	const struct analyze_annotation *a = &f->a;
	const char *release = profile_env_get(f->p, PROFILE_ENV_RELEASE);
	char *kernel = output_text_escape(release ? release : "of unknown release");
	char *command = view_command(f->p);
	char *name = output_text_escape(f->name);
	char *context = output_text_escape(a->context ? a->context : "all contexts");
	char calls[OUTPUT_NUMBER_MAX], mean[OUTPUT_NUMBER_MAX], unplaced[128] = "", late[80] = "";

	view_text(v, "%s in %s: kernel %s, %s", name, context, kernel, command);
	if (!isnan(a->figures.calls))
		view_text(v, "%s calls timed, %s%s each on-CPU, with what they call.",
			  output_number(calls, OUTPUT_COUNT, a->figures.calls, a->clock),
			  output_number(mean, OUTPUT_TIME, a->figures.mean, a->clock),
			  a->clock == PROFILE_CLOCK_INSN ? " insn" : "");
	if (a->hits.late > 0)
		snprintf(late, sizeof(late), " (!: %.0f came late, held up by interrupts off)",
			 a->hits.late);
	if (a->unplaced > 0)
		snprintf(unplaced, sizeof(unplaced),
			 ", %.0f at its return: due with interrupts off, nobody knows where in it",
			 a->unplaced);
	if (a->counted)
		write_executed(v, a);
	if (!(a->samples > 0))
		view_text(v,
			  "Samples: none (record --freq takes some): what lines cost is not known, "
			  "how often they are executed is.");
	else
		view_text(v,
			  "Samples: %.0f, of %.0f in the kernel: %.0f in its own code%s, %.0f in "
			  "what it calls%s.",
			  a->samples, a->kernel, a->hits.self, late, a->hits.below, unplaced);
	if (a->samples > 0 && a->samples < FEW) {
		struct analyze_estimated half = analyze_binomial(a->samples / 2, a->samples);

		view_text(
			v,
			"These are few: a share of 0.5 may be one of %.2f to %.2f (95 %%). record "
			"--freq or --repeat gets more.",
			half.low, half.high);
	}
	if (a->astray > 0)
		view_text(v, "%.0f of them lie at no instruction of this code, and are in no line.",
			  a->astray);
	free(context);
	free(name);
	free(command);
	free(kernel);
}

/*
 * "78 % of 5,937 calls' time in shuffle_freelist (mm/slub.c:1905-1921)": the body that explains most, and of
 * bodies that all their time is in one inlined into them that one.
 */
static void write_headline(const struct view *v, const struct annotated *f,
			   const struct annotate_rows *bodies, const struct annotate_rows *lines)
{
	const struct annotate_row *body = NULL, *line = lines->n_items ? lines->items : NULL;
	char share[OUTPUT_NUMBER_MAX], calls[OUTPUT_NUMBER_MAX], cost[OUTPUT_NUMBER_MAX];
	const struct annotate_row *what;
	char *text, *plain, *of;

	for (uint32_t i = 0; i < bodies->n_items; i++)
		if (!body || bodies->items[i].figures.share > body->figures.share * 0.95)
			body = &bodies->items[i];
	if (!(f->a.samples > 0))
		return;
	if (f->a.unplaced > 0 && (!body || f->a.unplaced / f->a.samples > body->figures.share)) {
		fputc('\n', v->out);
		view_text(v,
			  "%s of its samples were due with interrupts off, and nobody knows where: "
			  "record --func of what it calls tells more.",
			  annotate_percent(share, f->a.unplaced / f->a.samples));
		return;
	}
	what = body && (!line || body->figures.share >= line->figures.share) ? body : line;
	if (!what)
		return;
	of = isnan(f->a.figures.calls) ?
		     alloc_strdup("its samples") :
		     alloc_printf(
			     "the time of %s calls",
			     output_number(calls, OUTPUT_COUNT, f->a.figures.calls, f->a.clock));
	text = what == body ?
		       alloc_printf("%s%s%s%s", body->name, body->lines ? " (" : "",
				    body->lines ? body->lines : "", body->lines ? ")" : "") :
		       alloc_printf("%s%s%s%s", line->where, line->source ? ", \"" : "",
				    line->source ? line->source : "", line->source ? "\"" : "");
	plain = output_text_escape(text);
	fputc('\n', v->out);
	view_text(v, "%s of %s in %s: ~%s%s a %s.", annotate_percent(share, what->figures.share),
		  of, plain, output_number(cost, OUTPUT_TIME, what->figures.cost, f->a.clock),
		  f->a.clock == PROFILE_CLOCK_INSN ? " insn" : "",
		  f->a.tick_is_of_call ? "call" : "run");
	free(plain);
	free(text);
	free(of);
}

static void write_rows(const struct view *v, const struct annotated *f,
		       const struct annotate_rows *rows, enum annotate_section which,
		       unsigned int top, const char *title)
{
	struct output_section section = annotate_rows_section(rows, f, which);

	if (!rows->n_items)
		return;
	fputc('\n', v->out);
	view_text(v, "%s", title);
	view_section(v, &section, top);
}

/* What one must know to read the code. */
static void write_notes(const struct view *v, const struct annotated *f)
{
	char *path = output_text_escape(symbol_image_path(f->image));

	fputc('\n', v->out);
	if (f->a.samples > 0)
		view_text(
			v,
			"An address is that of the instruction to come when the sample was taken: "
			"what took the time may be the one before. ~: estimated from samples.");
	if (f->a.n_places && annotated_is_live(f, f->a.places))
		view_text(v, "Code is that of the running kernel, as it is now.");
	else
		view_text(v,
			  "Code is that of %s, not of the running kernel, which has patched some: "
			  "alternatives, static keys and calls, ftrace's calls, returns.",
			  path);
	if (!symbol_source_dir(f->source))
		view_text(v, "No source tree at hand: --source=DIR shows the lines' text.");
	free(path);
}

static void write_summary(const struct view *v, const struct annotated *f)
{
	struct annotate_rows places, bodies, lines;

	write_title(v, f);
	annotate_rows_init(&places, f, NULL, ANNOTATE_PLACES);
	annotate_rows_init(&bodies, f, NULL, ANNOTATE_BODIES);
	annotate_rows_init(&lines, f, NULL, ANNOTATE_LINES);
	annotate_rows_rank(&bodies);
	annotate_rows_rank(&lines);
	write_headline(v, f, &bodies, &lines);
	if (f->a.n_places > 1)
		write_rows(v, f, &places, ANNOTATE_PLACES, TOP_PLACES, "Places:");
	if (f->a.n_unreadable)
		view_text(v, "The code of %u of them cannot be read.", f->a.n_unreadable);
	if (f->a.n_other_places)
		view_text(v, "And %u place%s without samples (--all).", f->a.n_other_places,
			  f->a.n_other_places == 1 ? "" : "s");
	write_rows(v, f, &bodies, ANNOTATE_BODIES, TOP_BODIES,
		   "Inlined bodies, with what is inlined into them:");
	write_rows(v, f, &lines, ANNOTATE_LINES, TOP_LINES, "Lines:");
	annotate_rows_deinit(&places);
	annotate_rows_deinit(&bodies);
	annotate_rows_deinit(&lines);
	write_notes(v, f);
}

/* --- the page: code -------------------------------------------------------------------------- */

#define SAMPLED_FORMAT  "%8s %7s %7s"
#define SAMPLED_WIDTH   (8 + 1 + 7 + 1 + 7)
#define EXECUTED_FORMAT " %12s"
#define EXECUTED_WIDTH  (1 + 12)
#define ADDRESS_FORMAT  " %12s  "
#define ADDRESS_WIDTH   (1 + 12 + 2)

/* A place while its code is printed. */
struct listing {
	FILE *out;
	const struct annotated *f;
	const struct analyze_place *place;
	struct symbol_disasm *disasm;
	bool color;
	bool sampled, counted; /* there are samples, executions to show */
	uint32_t body, line; /* of what was printed last; body of none: ANALYZE_NO_BODY */
	bool fresh; /* nothing was, or something was left out since */
};

static bool has_cost(const struct analyze_instruction *i)
{
	return analyze_hits_all(&i->hits) > 0 || i->executions > 0;
}

static bool is_shown(const struct listing *l, uint32_t n, const struct annotate_options *o)
{
	uint32_t around = (uint32_t)o->around;
	uint32_t first = n > around ? n - around : 0, last = n + around;

	if (o->annotated.all)
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

/* What stands before the code, those columns of it that there are. */
static void write_columns(const struct listing *l, const char *share, const char *self,
			  const char *below, const char *executed, const char *address)
{
	if (l->sampled)
		fprintf(l->out, SAMPLED_FORMAT, share, self, below);
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

/* The body around BODY that is DEPTH deep. */
static uint32_t body_at_depth(const struct listing *l, uint32_t body, uint32_t depth)
{
	while (depth_of(l, body) > depth)
		body = l->f->a.bodies[body].parent;
	return body;
}

/* A line for each body that BODY's instruction is in and the one before it was not. */
static void write_bodies(struct listing *l, uint32_t body)
{
	uint32_t depth = depth_of(l, body), same = l->fresh ? 0 : depth_of(l, l->body);

	if (same > depth)
		same = depth;
	while (same && body_at_depth(l, body, same) != body_at_depth(l, l->body, same))
		same--;
	for (uint32_t d = same + 1; d <= depth; d++) {
		const struct analyze_code_body *b = &l->f->a.bodies[body_at_depth(l, body, d)];
		char *name = output_text_escape(b->body.name);
		char *called = output_text_escape(b->called ? b->called : "?");

		write_empty_columns(l);
		write_indent(l, d - 1);
		fprintf(l->out, "%s> %s%s, called at %s\n",
			output_style_begin(l->color, OUTPUT_STYLE_BODY), name,
			output_style_end(l->color), called);
		free(called);
		free(name);
	}
	l->body = body;
}

static void write_line(struct listing *l, uint32_t number)
{
	const struct analyze_line *line = &l->f->a.lines[number];
	char *where = annotated_where(line), *source = annotated_source(l->f, line);
	char *plain = output_text_escape(where);

	write_empty_columns(l);
	write_indent(l, depth_of(l, l->body));
	fprintf(l->out, "%s%s%s%s%s\n", output_style_begin(l->color, OUTPUT_STYLE_SOURCE), plain,
		source ? "  " : "", source ? source : "", output_style_end(l->color));
	free(plain);
	free(source);
	free(where);
	l->line = number;
}

static const char *count_text(char buf[OUTPUT_NUMBER_MAX], double count)
{
	if (!(count > 0))
		return "";
	return output_number(buf, OUTPUT_COUNT, count, PROFILE_CLOCK_INSN);
}

/* "-" where that is not known, as an unreached block's is. */
static const char *per_call_text(char buf[OUTPUT_NUMBER_MAX], const struct analyze_instruction *i)
{
	return output_number(buf, OUTPUT_COUNT, i->per_call, PROFILE_CLOCK_INSN);
}

static void write_instruction(const struct listing *l, const struct analyze_instruction *i)
{
	struct analyze_estimated share = analyze_annotation_share(&l->f->a, &i->hits);
	char share_text[OUTPUT_NUMBER_MAX] = "", self[OUTPUT_NUMBER_MAX + 1],
	     below[OUTPUT_NUMBER_MAX], number[OUTPUT_NUMBER_MAX], executed[OUTPUT_NUMBER_MAX];
	char *address = annotated_address(l->f, l->place, i);
	char *text = annotated_text(l->f, l->disasm, l->place, i);
	char *plain_address = output_text_escape(address), *plain = output_text_escape(text);
	/* Without samples, of the instructions executed. */
	double part = l->f->a.samples > 0 ? share.value : i->per_call / l->f->a.per_call;
	enum output_style style = part >= HOT  ? OUTPUT_STYLE_HOT :
				  part >= WARM ? OUTPUT_STYLE_WARM :
						 OUTPUT_STYLE_DIM;
	bool any = part > 0;

	if (analyze_hits_all(&i->hits) > 0)
		annotate_percent(share_text, share.value);
	snprintf(self, sizeof(self), "%s%s", i->hits.late > 0 ? "!" : "",
		 count_text(number, i->hits.self));
	fputs(any ? output_style_begin(l->color, style) : "", l->out);
	write_columns(l, share_text, self, count_text(below, i->hits.below),
		      per_call_text(executed, i), plain_address);
	fputs(any ? output_style_end(l->color) : "", l->out);
	write_indent(l, depth_of(l, i->body));
	fprintf(l->out, "  %s\n", plain);
	free(plain);
	free(plain_address);
	free(text);
	free(address);
}

static void write_position(FILE *out, const char *what, const char *file, uint32_t line)
{
	char *plain;

	if (!file)
		return;
	plain = output_text_escape(file);
	fprintf(out, "%s %s:%u", what, plain, line);
	free(plain);
}

static void write_place_title(const struct listing *l)
{
	const struct analyze_place *p = l->place;
	char *name = output_text_escape(p->function.symbol ? p->function.symbol : p->function.name);
	char *body = output_text_escape(p->is_inlined ? p->body.name : "");
	char *chain = p->chain ? output_text_escape(p->chain) : NULL;

	fputc('\n', l->out);
	if (p->is_inlined)
		fprintf(l->out, "%s, inlined into %s%s%s", body, chain ? chain : "",
			chain ? PROFILE_CHAIN : "", name);
	else
		fputs(name, l->out);
	write_position(l->out, p->is_inlined ? ", called at" : ", declared at",
		       p->is_inlined ? p->body.call_file : p->function.file,
		       p->is_inlined ? p->body.call_line : p->function.line);
	fputs(":\n", l->out);
	write_columns(l, "SHARE", "SELF", "BELOW", "EXECUTED", "ADDRESS");
	fputs("CODE\n", l->out);
	free(body);
	free(chain);
	free(name);
}

static void write_place(struct listing *l, const struct annotate_options *o)
{
	uint64_t next = 0; /* where code without a gap goes on */
	bool gap = false;

	write_place_title(l);
	l->fresh = true;
	for (uint32_t n = 0; n < l->place->n_insns; n++) {
		const struct analyze_instruction *i = &l->f->a.insns[l->place->first_insn + n];

		if (n && i->insn.addr != next)
			gap = l->fresh = true;
		next = i->insn.addr + i->insn.len;
		if (!is_shown(l, n, o)) {
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
	if (l->place->problems & SYMBOL_FLOW_CUT)
		fputs("(parts of it that are too large, or too many, are left out)\n", l->out);
}

void annotate_page_write(const struct annotated *f, struct symbol_disasm *disasm,
			 const struct annotate_options *o)
{
	struct listing l = { .out = stdout, .f = f, .disasm = disasm };
	struct view v;

	view_init(&v, stdout, &o->view);
	l.color = output_color_wanted(o->annotated.color);
	output_pager_start();
	write_summary(&v, f);
	l.counted = f->a.counted;
	l.sampled = f->a.samples > 0;
	for (uint32_t i = 0; i < f->a.n_places; i++) {
		l.place = &f->a.places[i];
		write_place(&l, o);
	}
}
