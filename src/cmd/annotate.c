// SPDX-License-Identifier: GPL-2.0-or-later
#include <argp.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cmd/annotated.h"
#include "cmd/cmd.h"
#include "output/csv.h"
#include "output/json.h"
#include "output/number.h"
#include "output/text.h"

#define SCHEMA "kprotperf-annotate/1"

/* What stands above the code belongs on the first screen. */
#define TOP_PLACES 6
#define TOP_BODIES 8
#define TOP_LINES  10

#define AROUND 3 /* instructions shown before and after one with a cost */

/* Shares of a function's samples from which on they are set off. */
#define HOT  0.05
#define WARM 0.005

enum section {
	SECTION_INSTRUCTIONS, /* the default */
	SECTION_LINES,
	SECTION_BODIES,
	SECTION_PLACES,
};

static const char *const section_names[] = { "instructions", "lines", "bodies", "places", NULL };

struct options {
	struct view_options view;
	struct annotated_options annotated;
	enum section section;
	bool section_given, intel;
	int around;
	const char *file, *func, *vmlinux;
};

enum {
	KEY_SECTION = 256,
	KEY_VMLINUX,
	KEY_AROUND,
	KEY_INTEL,
	KEY_FORMAT,
	KEY_TOP
};

static const struct argp_option argp_options[] = {
	{ "around", KEY_AROUND, "N", 0,
	  "Instructions shown before and after one with samples (default 3)" },
	{ "format", KEY_FORMAT, "FORMAT", 0, "table (default), json or csv" },
	{ "intel", KEY_INTEL, NULL, 0, "Instructions in Intel's syntax, not AT&T's" },
	{ "section", KEY_SECTION, "SECTION", 0,
	  "What CSV holds: instructions (default), lines, bodies or places" },
	{ "top", KEY_TOP, "N", 0, "Rows of the tables above the code; 0: all" },
	{ "vmlinux", KEY_VMLINUX, "FILE", 0, "The recorded kernel's vmlinux" },
	{ 0 },
};

static int parse_number(const char *arg, const char *what, struct argp_state *state)
{
	char *end;
	long n = strtol(arg, &end, 10);

	if (end == arg || *end || n < 0 || n > 1000000)
		argp_error(state, "%s: '%s' is not a number", what, arg);
	return (int)n;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *o = state->input;
	int n;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->annotated;
		break;
	case KEY_AROUND:
		o->around = parse_number(arg, "--around", state);
		break;
	case KEY_FORMAT:
		o->view.format = view_format_parse(state, arg);
		break;
	case KEY_INTEL:
		o->intel = true;
		break;
	case KEY_SECTION:
		o->section = view_section_parse(state, arg, section_names) - 1;
		o->section_given = true;
		break;
	case KEY_TOP:
		n = parse_number(arg, "--top", state);
		o->view.top = n ? n : -1;
		break;
	case KEY_VMLINUX:
		o->vmlinux = arg;
		break;
	case ARGP_KEY_ARG:
		if (state->arg_num >= 2)
			argp_error(state, "one FILE and one FUNC");
		*(state->arg_num ? &o->func : &o->file) = arg;
		break;
	case ARGP_KEY_END:
		if (!o->func || !*o->func)
			argp_error(state, "FILE and FUNC are needed: a recording, and a function");
		if (o->section_given && o->view.format != VIEW_CSV)
			argp_error(state, "--section goes with --format=csv");
		break;
	default:
		return ARGP_ERR_UNKNOWN;
	}
	return 0;
}

static const struct argp_child children[] = { { &annotated_argp, 0, NULL, 0 }, { 0 } };

static const struct argp argp = {
	.options = argp_options,
	.parser = parse,
	.args_doc = "FILE FUNC[@FUNCTION]",
	.doc = "A function's source lines and instructions, with the samples that each has, and the "
	       "inlined body that each belongs to.\v"
	       "FUNC is a name, of the source or the symbol table; where it is inlined its bodies are shown "
	       "in each function that they are part of, FUNC@FUNCTION in that one alone. SHARE is of the "
	       "function's samples, SELF how many were taken at the instruction, BELOW in what it called. A "
	       "sample's address is that of the instruction that was to come next. Without --all only what "
	       "has samples is shown. docs/json.md explains --format=json and csv.",
	.children = children,
};

/* --- rows ----------------------------------------------------------------------------------- */

/* Figures that all rows have. */
struct figures {
	double share, low, high, cost, self, below, late, executions;
};

struct row {
	struct figures figures;
	char *address, *text, *where, *source, *lines, *called;
	const char *path, *chain, *name, *function, *symbol, *file, *declared, *measured;
	double offset, addr, length, line, n_insns, first_line, last_line, depth, exact, calls,
		at_return;
	bool inlined;
};

struct rows {
	struct row *items;
	uint32_t n_items, cap_items;
};

static void rows_deinit(struct rows *rows)
{
	while (rows->n_items) {
		struct row *row = &rows->items[--rows->n_items];

		free(row->address);
		free(row->text);
		free(row->where);
		free(row->source);
		free(row->lines);
		free(row->called);
	}
	free(rows->items);
}

static struct figures figures_of(const struct analyze_annotation *a,
				 const struct analyze_hits *hits, double executions)
{
	struct analyze_estimated share = analyze_annotation_share(a, hits);

	return (struct figures){ .share = share.value,
				 .low = share.low,
				 .high = share.high,
				 .cost = analyze_annotation_cost(a, hits),
				 .self = hits->self,
				 .below = hits->below,
				 .late = hits->late,
				 .executions = executions };
}

static double known_line(uint32_t line)
{
	return line ? line : NAN;
}

static void instruction_rows(const struct annotated *f, struct symbol_disasm *disasm,
			     struct rows *rows)
{
	for (uint32_t p = 0; p < f->a.n_places; p++) {
		const struct analyze_place *place = &f->a.places[p];

		for (uint32_t n = 0; n < place->n_insns; n++) {
			const struct analyze_instruction *i = &f->a.insns[place->first_insn + n];
			const struct analyze_line *line = &f->a.lines[i->line];
			struct row row = {
				.figures = figures_of(&f->a, &i->hits, i->executions),
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

static void line_rows(const struct annotated *f, struct rows *rows)
{
	for (uint32_t i = 0; i < f->a.n_lines; i++) {
		const struct analyze_line *line = &f->a.lines[i];
		struct row row = {
			.figures = figures_of(&f->a, &line->hits, line->executions),
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

static void body_rows(const struct annotated *f, struct rows *rows)
{
	for (uint32_t i = 0; i < f->a.n_bodies; i++) {
		const struct analyze_code_body *b = &f->a.bodies[i];
		const struct analyze_range *range = b->range;
		struct row row = {
			.figures = figures_of(&f->a, &b->hits, NAN),
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

static void place_rows(const struct annotated *f, struct rows *rows)
{
	for (uint32_t i = 0; i < f->a.n_places; i++) {
		const struct analyze_place *place = &f->a.places[i];
		struct row row = {
			.figures = figures_of(&f->a, &place->hits, NAN),
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

/* --- columns -------------------------------------------------------------------------------- */

#define N(array) (sizeof(array) / sizeof((array)[0]))
#define COLUMN(key, field, header, type, rank)                       \
	{                                                            \
		key, header, type, rank, offsetof(struct row, field) \
	}
#define DATA(key, field, type) COLUMN(key, field, "", type, OUTPUT_DATA_ONLY)

#define SHARE COLUMN("share", figures.share, "SHARE", OUTPUT_FRACTION, OUTPUT_ALWAYS)
#define SHARE_ENDS                                       \
	DATA("share_low", figures.low, OUTPUT_FRACTION), \
		DATA("share_high", figures.high, OUTPUT_FRACTION)
/* Prefixed: of a call, or of a run. */
#define COST                                                                                      \
	{                                                                                         \
		"cost", "", OUTPUT_TIME, OUTPUT_ALWAYS, offsetof(struct row, figures.cost), true, \
			true                                                                      \
	}
#define COUNTS                                                                        \
	COLUMN("self", figures.self, "SELF", OUTPUT_COUNT, OUTPUT_ALWAYS),            \
		COLUMN("below", figures.below, "BELOW", OUTPUT_COUNT, OUTPUT_ALWAYS), \
		DATA("late", figures.late, OUTPUT_COUNT)
#define EXECUTIONS DATA("executions", figures.executions, OUTPUT_COUNT)

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
	COLUMN("", where, "LINE", OUTPUT_TEXT, OUTPUT_TABLE_ONLY),
	COLUMN("body", path, "IN", OUTPUT_TEXT, 2),
	COLUMN("source", source, "SOURCE", OUTPUT_TEXT, 1),
};

static const struct output_column body_columns[] = {
	SHARE,
	SHARE_ENDS,
	COST,
	COLUMN("exact", exact, "EXACT", OUTPUT_TIME, 1),
	COUNTS,
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
	[SECTION_INSTRUCTIONS] = { { NULL, 0, instruction_columns, N(instruction_columns) } },
	[SECTION_LINES] = { { NULL, 0, line_columns, N(line_columns) } },
	[SECTION_BODIES] = { { NULL, 0, body_columns, N(body_columns) } },
	[SECTION_PLACES] = { { NULL, 0, place_columns, N(place_columns) } },
};

static const char *mark_estimate(const void *row, const struct output_group *group)
{
	(void)row;
	(void)group;
	return "~";
}

static const char *cost_header(const struct analyze_annotation *a)
{
	if (a->clock == PROFILE_CLOCK_INSN)
		return a->tick_is_of_call ? "INSN/CALL" : "INSN/RUN";
	return a->tick_is_of_call ? "TIME/CALL" : "TIME/RUN";
}

static struct output_section section_of(const struct annotated *f, const struct rows *rows,
					enum section section)
{
	return (struct output_section){ .groups = groups[section],
					.n_groups = 1,
					.rows = rows->items,
					.n_rows = rows->n_items,
					.row_size = sizeof(struct row),
					.clock = f->a.clock,
					.prefix = cost_header(&f->a),
					.mark = mark_estimate };
}

static int row_compare(const void *left, const void *right)
{
	const struct row *a = left, *b = right;
	double hits_a = a->figures.self + a->figures.below;
	double hits_b = b->figures.self + b->figures.below;

	if (hits_a != hits_b)
		return hits_a < hits_b ? 1 : -1;
	if (a->depth != b->depth)
		return a->depth < b->depth ? -1 : 1;
	return a->figures.self < b->figures.self ? 1 : a->figures.self > b->figures.self ? -1 : 0;
}

/* ROWS with samples only, most first. */
static void rows_rank(struct rows *rows)
{
	struct rows kept = { 0 };

	for (uint32_t i = 0; i < rows->n_items; i++) {
		struct rows one = { 0 };

		if (rows->items[i].figures.self + rows->items[i].figures.below > 0) {
			vec_push(&kept, items, rows->items[i]);
			continue;
		}
		vec_push(&one, items, rows->items[i]);
		rows_deinit(&one);
	}
	free(rows->items);
	*rows = kept;
	if (kept.n_items)
		qsort(kept.items, kept.n_items, sizeof(*kept.items), row_compare);
}

/* "57.2 %": a share where there is no column to say what it is. */
static const char *percent_text(char buf[OUTPUT_NUMBER_MAX], double share)
{
	snprintf(buf, OUTPUT_NUMBER_MAX, "%.*f %%", share < 0.1 ? 2 : 1, share * 100);
	return buf;
}

/* --- the page: what stands on top ------------------------------------------------------------ */

static void write_title(const struct view *v, const struct annotated *f)
{
	const struct analyze_annotation *a = &f->a;
	const char *release = profile_env_get(f->p, PROFILE_ENV_RELEASE);
	char *kernel = output_text_escape(release ? release : "of unknown release");
	char *command = view_command(f->p), *path = output_text_escape(symbol_image_path(f->image));
	char *name = output_text_escape(f->name);
	char *context = output_text_escape(a->context ? a->context : "all contexts");
	char calls[OUTPUT_NUMBER_MAX], mean[OUTPUT_NUMBER_MAX], unplaced[128] = "";

	view_text(v, "%s in %s: kernel %s, %s", name, context, kernel, command);
	if (!isnan(a->figures.calls))
		view_text(v, "%s calls timed, %s%s each on-CPU, with what they call.",
			  output_number(calls, OUTPUT_COUNT, a->figures.calls, a->clock),
			  output_number(mean, OUTPUT_TIME, a->figures.mean, a->clock),
			  a->clock == PROFILE_CLOCK_INSN ? " insn" : "");
	if (a->unplaced > 0)
		snprintf(unplaced, sizeof(unplaced),
			 ", %.0f at its return: due with interrupts off, nobody knows where in it",
			 a->unplaced);
	view_text(
		v,
		"Samples: %.0f, of %.0f in the kernel: %.0f in its own code (!: %.0f came late, held up by "
		"interrupts off), %.0f in what it calls%s.",
		a->samples, a->kernel, a->hits.self, a->hits.late, a->hits.below, unplaced);
	view_text(
		v,
		"An address is that of the instruction to come when the sample was taken: what took the "
		"time may be the one before. ~: estimated from samples.");
	view_text(
		v,
		"Code is that of %s, not of the running kernel, which has patched some: alternatives, "
		"static keys and calls, ftrace's calls, returns.",
		path);
	if (!symbol_source_dir(f->source))
		view_text(v, "No source tree at hand: --source=DIR shows the lines' text.");
	free(context);
	free(name);
	free(path);
	free(command);
	free(kernel);
}

/*
 * "78 % of 5,937 calls' time in shuffle_freelist (mm/slub.c:1905-1921)": the body that explains most, and of
 * bodies that all their time is in one inlined into them that one.
 */
static void write_headline(const struct view *v, const struct annotated *f,
			   const struct rows *bodies, const struct rows *lines)
{
	const struct row *body = NULL, *line = lines->n_items ? lines->items : NULL;
	char share[OUTPUT_NUMBER_MAX], calls[OUTPUT_NUMBER_MAX], cost[OUTPUT_NUMBER_MAX];
	const struct row *what;
	char *text, *of;

	for (uint32_t i = 0; i < bodies->n_items; i++)
		if (!body || bodies->items[i].figures.share > body->figures.share * 0.95)
			body = &bodies->items[i];
	if (f->a.unplaced > 0 && (!body || f->a.unplaced / f->a.samples > body->figures.share)) {
		fputc('\n', v->out);
		view_text(v,
			  "%s of its samples were due with interrupts off, and nobody knows where: "
			  "record --func of what it calls tells more.",
			  percent_text(share, f->a.unplaced / f->a.samples));
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
	text = what == body ? alloc_printf("%s%s%s%s", body->name, body->lines ? " (" : "",
					   body->lines ? body->lines : "", body->lines ? ")" : "") :
			      alloc_printf("%s%s%s", line->where, line->source ? ": " : "",
					   line->source ? line->source : "");
	fputc('\n', v->out);
	view_text(v, "%s of %s in %s: ~%s%s a %s.", percent_text(share, what->figures.share), of,
		  text, output_number(cost, OUTPUT_TIME, what->figures.cost, f->a.clock),
		  f->a.clock == PROFILE_CLOCK_INSN ? " insn" : "",
		  f->a.tick_is_of_call ? "call" : "run");
	free(text);
	free(of);
}

static void write_rows(const struct view *v, const struct annotated *f, const struct rows *rows,
		       enum section which, unsigned int top, const char *title)
{
	struct output_section section = section_of(f, rows, which);

	if (!rows->n_items)
		return;
	fputc('\n', v->out);
	view_text(v, "%s", title);
	view_section(v, &section, top);
}

static void write_summary(const struct view *v, const struct annotated *f)
{
	struct rows places = { 0 }, bodies = { 0 }, lines = { 0 };

	write_title(v, f);
	place_rows(f, &places);
	body_rows(f, &bodies);
	line_rows(f, &lines);
	rows_rank(&bodies);
	rows_rank(&lines);
	write_headline(v, f, &bodies, &lines);
	if (f->a.n_places > 1)
		write_rows(v, f, &places, SECTION_PLACES, TOP_PLACES, "Places:");
	if (f->a.n_other_places)
		view_text(v, "And %u place%s without samples (--all).", f->a.n_other_places,
			  f->a.n_other_places == 1 ? "" : "s");
	write_rows(v, f, &bodies, SECTION_BODIES, TOP_BODIES,
		   "Inlined bodies, with what is inlined into them:");
	write_rows(v, f, &lines, SECTION_LINES, TOP_LINES, "Lines:");
	rows_deinit(&places);
	rows_deinit(&bodies);
	rows_deinit(&lines);
}

/* --- the page: code -------------------------------------------------------------------------- */

#define COLUMNS_FORMAT "%8s %7s %7s%s %12s  "
#define COLUMNS_WIDTH  (8 + 1 + 7 + 1 + 7 + 1 + 12 + 2)

/* A place while its code is printed. */
struct listing {
	FILE *out;
	const struct annotated *f;
	const struct analyze_place *place;
	struct symbol_disasm *disasm;
	bool color, counted; /* COUNTED: there are executions to show */
	uint32_t body, line; /* of what was printed last; body of none: ANALYZE_NO_BODY */
	bool fresh; /* nothing was, or something was left out since */
};

static bool is_shown(const struct listing *l, uint32_t n, const struct options *o)
{
	uint32_t around = (uint32_t)o->around;
	uint32_t first = n > around ? n - around : 0, last = n + around;

	if (o->annotated.all)
		return true;
	for (uint32_t i = first; i <= last && i < l->place->n_insns; i++)
		if (analyze_hits_all(&l->f->a.insns[l->place->first_insn + i].hits) > 0)
			return true;
	return false;
}

static void write_empty_columns(const struct listing *l)
{
	fprintf(l->out, "%*s", COLUMNS_WIDTH + (l->counted ? 13 : 0), "");
}

static void write_indent(const struct listing *l, uint32_t depth)
{
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

static void write_instruction(const struct listing *l, const struct analyze_instruction *i)
{
	struct analyze_estimated share = analyze_annotation_share(&l->f->a, &i->hits);
	char share_text[OUTPUT_NUMBER_MAX] = "", self[OUTPUT_NUMBER_MAX + 1],
	     below[OUTPUT_NUMBER_MAX], number[OUTPUT_NUMBER_MAX],
	     executions[OUTPUT_NUMBER_MAX + 2] = "";
	char *address = annotated_address(l->f, l->place, i);
	char *text = annotated_text(l->f, l->disasm, l->place, i);
	char *plain_address = output_text_escape(address), *plain = output_text_escape(text);
	enum output_style style = share.value >= HOT  ? OUTPUT_STYLE_HOT :
				  share.value >= WARM ? OUTPUT_STYLE_WARM :
							OUTPUT_STYLE_DIM;
	bool any = analyze_hits_all(&i->hits) > 0;

	if (any)
		percent_text(share_text, share.value);
	snprintf(self, sizeof(self), "%s%s", i->hits.late > 0 ? "!" : "",
		 count_text(number, i->hits.self));
	if (l->counted)
		snprintf(executions, sizeof(executions), " %12s",
			 count_text(number, i->executions));
	fprintf(l->out, "%s" COLUMNS_FORMAT "%s", any ? output_style_begin(l->color, style) : "",
		share_text, self, count_text(below, i->hits.below), executions, plain_address,
		any ? output_style_end(l->color) : "");
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
	char *chain = p->chain ? output_text_escape(p->chain) : NULL;

	fputc('\n', l->out);
	if (p->is_inlined)
		fprintf(l->out, "%s, inlined into %s%s%s", p->body.name, chain ? chain : "",
			chain ? PROFILE_CHAIN : "", name);
	else
		fputs(name, l->out);
	write_position(l->out, p->is_inlined ? ", called at" : ", declared at",
		       p->is_inlined ? p->body.call_file : p->function.file,
		       p->is_inlined ? p->body.call_line : p->function.line);
	fputs(":\n", l->out);
	fprintf(l->out, COLUMNS_FORMAT "%s\n", "SHARE", "SELF", "BELOW",
		l->counted ? "        COUNT" : "", "ADDRESS", "CODE");
	free(chain);
	free(name);
}

static void write_place(struct listing *l, const struct options *o)
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
			fprintf(l->out, "%*s\n", COLUMNS_WIDTH - 2, "...");
		gap = false;
		write_bodies(l, i->body);
		if (l->fresh || i->line != l->line)
			write_line(l, i->line);
		l->fresh = false;
		write_instruction(l, i);
	}
	if (gap)
		fprintf(l->out, "%*s\n", COLUMNS_WIDTH - 2, "...");
	if (l->place->problems & SYMBOL_FLOW_CUT)
		fputs("(parts of it that are too large, or too many, are left out)\n", l->out);
}

static void write_page(const struct annotated *f, struct symbol_disasm *disasm,
		       const struct options *o)
{
	struct listing l = { .out = stdout, .f = f, .disasm = disasm };
	struct view v;

	view_init(&v, stdout, &o->view);
	l.color = output_color_wanted(o->annotated.color);
	output_pager_start();
	write_summary(&v, f);
	for (uint32_t i = 0; i < f->a.n_insns && !l.counted; i++)
		l.counted = !isnan(f->a.insns[i].executions);
	for (uint32_t i = 0; i < f->a.n_places; i++) {
		l.place = &f->a.places[i];
		write_place(&l, o);
	}
}

/* --- json, csv ------------------------------------------------------------------------------- */

static void rows_of(const struct annotated *f, struct symbol_disasm *disasm, enum section section,
		    struct rows *rows)
{
	switch (section) {
	case SECTION_INSTRUCTIONS:
		instruction_rows(f, disasm, rows);
		break;
	case SECTION_LINES:
		line_rows(f, rows);
		break;
	case SECTION_BODIES:
		body_rows(f, rows);
		break;
	case SECTION_PLACES:
		place_rows(f, rows);
		break;
	}
}

static void write_csv(const struct annotated *f, struct symbol_disasm *disasm,
		      const struct options *o)
{
	struct output_section section;
	struct rows rows = { 0 };

	rows_of(f, disasm, o->section, &rows);
	section = section_of(f, &rows, o->section);
	output_csv_write(stdout, &section);
	rows_deinit(&rows);
}

static json_t *samples_json(const struct analyze_annotation *a)
{
	json_t *samples = json_object();

	output_json_set(samples, "function", output_json_number(a->samples));
	output_json_set(samples, "self", output_json_number(a->hits.self));
	output_json_set(samples, "below", output_json_number(a->hits.below));
	output_json_set(samples, "late", output_json_number(a->hits.late));
	output_json_set(samples, "at_return", output_json_number(a->at_return));
	output_json_set(samples, "unplaced", output_json_number(a->unplaced));
	output_json_set(samples, "kernel", output_json_number(a->kernel));
	return samples;
}

static void write_json(const struct annotated *f, struct symbol_disasm *disasm)
{
	const struct analyze_annotation *a = &f->a;
	json_t *root = json_object();

	output_json_set(root, "schema", json_string(SCHEMA));
	output_json_set(root, "unit", json_string(profile_clock_unit(a->clock)));
	output_json_set(root, "function", output_json_text(f->name));
	output_json_set(root, "within", output_json_text(f->within));
	output_json_set(root, "context", output_json_text(a->context ? a->context : "*"));
	output_json_set(root, "kernel",
			output_json_text(profile_env_get(f->p, PROFILE_ENV_RELEASE)));
	output_json_set(root, "build_id",
			output_json_text(profile_env_get(f->p, PROFILE_ENV_BUILD_ID)));
	output_json_set(root, "vmlinux", output_json_text(symbol_image_path(f->image)));
	output_json_set(root, "code", json_string("file"));
	output_json_set(root, "source", output_json_text(symbol_source_dir(f->source)));
	output_json_set(root, "runs", json_integer(a->runs));
	output_json_set(root, "calls", output_json_number(a->figures.calls));
	output_json_set(root, "mean", output_json_number(a->figures.mean));
	output_json_set(root, "cost_of", json_string(a->tick_is_of_call ? "call" : "run"));
	output_json_set(root, "samples", samples_json(a));
	output_json_set(root, "places_without_samples", json_integer(a->n_other_places));
	for (enum section i = 0; section_names[i]; i++) {
		struct output_section section;
		struct rows rows = { 0 };

		rows_of(f, disasm, i, &rows);
		section = section_of(f, &rows, i);
		output_json_set(root, section_names[i], output_json_rows(&section));
		rows_deinit(&rows);
	}
	output_json_write(stdout, root);
}

int cmd_annotate(int argc, char **argv)
{
	struct options o = { .around = AROUND };
	struct symbol_disasm *disasm;
	struct annotated f;
	int status;

	argp_parse(&argp, argc, argv, 0, NULL, &o);
	status = annotated_open(&f, o.file, o.func, o.vmlinux, &o.annotated, false);
	if (!status) {
		disasm = symbol_disasm_create(o.intel ? SYMBOL_SYNTAX_INTEL : SYMBOL_SYNTAX_ATT);
		if (o.view.format == VIEW_JSON)
			write_json(&f, disasm);
		else if (o.view.format == VIEW_CSV)
			write_csv(&f, disasm, &o);
		else
			write_page(&f, disasm, &o);
		status = view_finish();
		output_pager_finish();
		symbol_disasm_destroy(disasm);
	}
	annotated_close(&f);
	return status;
}
