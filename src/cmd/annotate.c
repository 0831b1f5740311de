// SPDX-License-Identifier: GPL-2.0-or-later
#include <argp.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/number.h"
#include "cmd/annotated.h"
#include "cmd/cmd.h"

#define AROUND 3 /* instructions shown before and after one with a cost */

enum {
	KEY_SECTION = 256,
	KEY_VMLINUX,
	KEY_AROUND,
	KEY_INTEL,
	KEY_FORMAT,
	KEY_TOP
};

struct annotate_options {
	const struct view_writer *writer;
	struct annotated_options annotated;
	struct view_annotate_options page;
	const char *section; /* a table's name; NULL: none was given */
	bool intel;
	const char *file, *func, *vmlinux;
};

static const struct argp_option argp_options[] = {
	{ "around", KEY_AROUND, "N", 0,
	  "Show N instructions before and after one with samples (default 3)" },
	{ "format", KEY_FORMAT, "FORMAT", 0, "Output format: table (default), json or csv" },
	{ "intel", KEY_INTEL, NULL, 0, "Show instructions in Intel syntax, not AT&T" },
	{ "section", KEY_SECTION, "SECTION", 0,
	  "Table that CSV holds: instructions (default), lines, bodies or places" },
	{ "top", KEY_TOP, "N", 0, "Rows per table above the code; 0: all" },
	{ "vmlinux", KEY_VMLINUX, "FILE", 0, "vmlinux of the recorded kernel" },
	{ 0 },
};

static int parse_number(const char *arg, const char *what, struct argp_state *state)
{
	uint64_t n = 0;

	if (!number_unsigned(arg, 0, 1000000, &n))
		argp_error(state, "%s: '%s' is not a number", what, arg);
	return (int)n;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct annotate_options *o = state->input;
	int n;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &o->annotated;
		break;
	case KEY_AROUND:
		o->page.around = parse_number(arg, "--around", state);
		break;
	case KEY_FORMAT:
		o->writer = view_writer_parse(state, arg);
		break;
	case KEY_INTEL:
		o->intel = true;
		break;
	case KEY_SECTION:
		o->section = view_table_parse(state, &view_annotate_list, arg)->name;
		break;
	case KEY_TOP:
		n = parse_number(arg, "--top", state);
		o->page.top = n ? n : -1;
		break;
	case KEY_VMLINUX:
		o->vmlinux = arg;
		break;
	case ARGP_KEY_ARG:
		if (state->arg_num >= 2)
			argp_error(state, "takes one FILE and one FUNC");
		*(state->arg_num ? &o->func : &o->file) = arg;
		break;
	case ARGP_KEY_END:
		if (!o->func || !*o->func)
			argp_error(state, "FILE and FUNC are needed: a recording, and a function");
		if (o->section && o->writer->place != VIEW_IN_CSV)
			argp_error(state, "--section needs --format=csv");
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
	.doc = "Print a function's source lines and instructions with their samples, and the inlined body "
	       "that each belongs to.\v"
	       "FUNC is a name in the source or in the symbol table. Where it is inlined, its bodies are "
	       "shown in every function that they are part of; FUNC@FUNCTION selects one. SHARE is of the "
	       "function's samples, SELF counts those taken at the instruction, CALLEES those in what it "
	       "called. A sample's address is that of the instruction due next. Without --all only what "
	       "has samples is shown. docs/json.md explains --format=json and csv.",
	.children = children,
};

static void write_page(const struct view_annotation *v, struct annotate_options *o)
{
	o->page.all = o->annotated.all;
	o->page.color = output_color_wanted(o->annotated.color);
	output_pager_start();
	view_annotate_page(v, &o->page);
}

int cmd_annotate(int argc, char **argv)
{
	struct annotate_options o = { .page.around = AROUND, .writer = view_writer_find("table") };
	struct annotated f;
	struct view_annotation v = { .f = &f };
	struct view_request request = { .list = &view_annotate_list,
					.data = &v,
					.sections = &o.section };
	int status;

	argp_parse(&argp, argc, argv, 0, NULL, &o);
	request.n_sections = o.section != NULL;
	status = annotated_open(&f, o.file, o.func, o.vmlinux, &o.annotated);
	if (!status)
		status = annotated_check(&f, &o.annotated);
	if (!status) {
		v.disasm = kernel_disasm_create(o.intel ? KERNEL_SYNTAX_INTEL : KERNEL_SYNTAX_ATT);
		if (o.writer->place == VIEW_IN_PAGE)
			write_page(&v, &o);
		else
			o.writer->write(stdout, &request);
		status = view_finish();
		output_pager_finish();
		kernel_disasm_destroy(v.disasm);
	}
	annotated_close(&f);
	return status;
}
