// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "base/log.h"
#include "base/sorted.h"
#include "cmd/annotated.h"
#include "cmd/cmd.h"
#include "cmd/view.h"

#define AROUND 3 /* instructions shown before and after an instruction with a cost */

struct annotate_options {
	struct annotated_options annotated;
	struct view_request request;
	const char *section; /* name of a table; NULL: not given */
	int around; /* number of instructions shown before and after one with samples */
	bool intel;
	const char *vmlinux;
	char **args; /* the operands FILE and FUNC */
};

static void parse_section(void *o, const struct cmd_argument *argument)
{
	((struct annotate_options *)o)->section =
		view_table_parse(argument->state, &view_annotate_list, argument->text)->name;
}

static const struct cmd_option options[] = {
	{ "around", "N", "Show N instructions around each instruction with samples (default 3)",
	  CMD_SET(annotate_options, around), .max = 1000000 },
	{ "format", "FORMAT", .help_of = view_format_help,
	  CMD_SET(annotate_options, request.format), .choices = view_writer_names },
	{ "intel", NULL, "Show instructions in Intel syntax instead of AT&T",
	  CMD_SET(annotate_options, intel) },
	{ "section", "SECTION",
	  "Table to print as CSV: instructions (default), lines, bodies or places",
	  .parse = parse_section },
	{ "top", "N", "Rows per table above the code; 0: all",
	  CMD_SET(annotate_options, request.top), .max = 1000000, .zero = -1 },
	{ "vmlinux", "FILE", "vmlinux of the recorded kernel", CMD_SET(annotate_options, vmlinux) },
	{ 0 },
};

static void check_usage(void *input, struct argp_state *state)
{
	const struct annotate_options *o = input;

	if (!*o->args[1])
		argp_error(state, "FUNC is empty");
	if (o->section && view_writers[o->request.format].place != VIEW_IN_CSV)
		argp_error(state, "--section needs --format=csv");
	view_check_format(o->request.format, NULL, state);
}

static const struct cmd_syntax syntax = {
	.options = options,
	.args_doc = "FILE FUNC[@FUNCTION]",
	.doc = "Print a function's source lines and instructions with their samples, and the "
	       "inlined body that each belongs to.\vFUNC is a name from the source or the symbol "
	       "table. If it is inlined, its bodies are shown in every function that contains "
	       "them; FUNC@FUNCTION selects one. SHARE is of the function's samples, SELF counts "
	       "samples taken at the instruction, CALLEES those in functions it called. A sample's "
	       "address is that of the next instruction to execute. Without --all, only code with "
	       "samples is shown. --format=json and csv are described in docs/json.md.",
	.operands = offsetof(struct annotate_options, args),
	.least = 2,
	.most = 2,
	.too_few = "FILE and FUNC are required: a recording and a function",
	.too_many = "too many arguments: expected one FILE and one FUNC",
	.end = check_usage,
	.parts =
		(const struct cmd_part[]){
			{ &annotated_syntax, offsetof(struct annotate_options, annotated) },
			{ 0 },
		},
};

int cmd_annotate(int argc, char **argv)
{
	struct annotate_options o = {
		.around = AROUND, .request = { .list = &view_annotate_list, .sections = &o.section }
	};
	struct annotated f;
	struct view_annotation v = { .f = &f };
	int status;

	cmd_parse(&syntax, argc, argv, &o);
	o.request.n_sections = o.section != NULL;
	o.request.all = o.annotated.all;
	status = annotated_open(&f, o.args[0], o.args[1], o.vmlinux, &o.annotated);
	if (!status)
		status = annotated_check(&f, &o.annotated);
	if (!status) {
		v.common =
			(struct view_data){ f.a.clock,
					    annotate_cost_header(f.a.clock, f.a.tick_is_of_call) };
		v.disasm = arch_disasm_create(o.intel ? ARCH_SYNTAX_INTEL : ARCH_SYNTAX_ATT);
		v.around = o.around;
		v.color = output_color_wanted(o.annotated.color);
		view_write(&o.request, &v);
		arch_disasm_destroy(v.disasm);
	}
	annotated_close(&f);
	return status;
}

/* ---- `diff --annotate`: one function on two kernels ---- */

#define N_SIDES 2

static const char *line_text(unsigned int side, const char *file, uint32_t line, void *arg)
{
	const struct view_annotate_diff *c = arg;
	const char *text = kernel_source_line(c->sides[side].source, file, line);

	return text ? text + strspn(text, " \t") : NULL;
}

static int open_sides(struct view_annotate_diff *c, char *const files[],
		      const char *const vmlinux[], const struct annotated_options *shared)
{
	static const char *const names[] = { "--baseline-vmlinux", "--hardened-vmlinux" };
	struct annotated_options o = *shared;
	const struct annotated *a = c->sides, *b = c->sides + 1;

	for (unsigned int i = 0; i < N_SIDES; i++) {
		o.vmlinux_option = names[i];
		if (annotated_open(&c->sides[i], files[i], c->func, vmlinux[i], &o))
			return CMD_FAILED;
	}
	if (a->p->clock != b->p->clock) {
		log_error("%s is in %s, but %s is in %s: cannot compare them", a->path,
			  profile_clock_words(a->p->clock), b->path,
			  profile_clock_words(b->p->clock));
		return CMD_FAILED;
	}
	/* Do not fail if only one kernel has the function: its code there is shown. */
	if (!a->a.n_places && !b->a.n_places)
		return annotated_check(b, &o);
	if (!(a->a.samples > 0) && !(b->a.samples > 0) && !a->a.counted && !b->a.counted)
		return annotated_check(b->a.n_places ? b : a, &o);
	return CMD_DONE;
}

int annotate_diff(const char *func, char *const files[2], const char *const vmlinux[2],
		  const struct annotated_options *o, const struct view_request *request)
{
	struct view_annotate_diff c = { .func = func, .context = o->context };
	struct view_request of_diff = *request;
	int status = open_sides(&c, files, vmlinux, o);

	if (!status) {
		analyze_annotate_diff_init(&c.diff, &c.sides[0].a, &c.sides[1].a, line_text, &c);
		c.common.clock = c.sides[0].a.clock;
		c.common.prefix = annotate_cost_header(c.common.clock, c.diff.is_of_call);
		of_diff.list = &view_annotate_diff_list;
		view_write(&of_diff, &c);
	}
	analyze_annotate_diff_deinit(&c.diff);
	annotated_close(&c.sides[0]);
	annotated_close(&c.sides[1]);
	return status;
}
