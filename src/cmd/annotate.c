// SPDX-License-Identifier: GPL-2.0-or-later
#include <argp.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "cmd/annotate.h"
#include "cmd/cmd.h"
#include "output/csv.h"
#include "output/json.h"

#define SCHEMA "kprotperf-annotate/1"

#define AROUND 3 /* instructions shown before and after one with a cost */

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
	struct annotate_options *o = state->input;
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
		o->section = view_section_parse(state, arg, annotate_section_names) - 1;
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

/* --- json, csv ------------------------------------------------------------------------------- */

static void write_csv(const struct annotated *f, struct symbol_disasm *disasm,
		      const struct annotate_options *o)
{
	struct output_section section;
	struct annotate_rows rows;

	annotate_rows_init(&rows, f, disasm, o->section);
	section = annotate_rows_section(&rows, f, o->section);
	output_csv_write(stdout, &section);
	annotate_rows_deinit(&rows);
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
	output_json_set(samples, "astray", output_json_number(a->astray));
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
	output_json_set(
		root, "code",
		json_string(a->n_places && annotated_is_live(f, a->places) ? "live" : "file"));
	output_json_set(root, "source", output_json_text(symbol_source_dir(f->source)));
	output_json_set(root, "runs", json_integer(a->runs));
	output_json_set(root, "calls", output_json_number(a->figures.calls));
	output_json_set(root, "mean", output_json_number(a->figures.mean));
	output_json_set(root, "cost_of", json_string(a->tick_is_of_call ? "call" : "run"));
	output_json_set(root, "samples", samples_json(a));
	output_json_set(root, "places_without_samples", json_integer(a->n_other_places));
	for (enum annotate_section i = 0; annotate_section_names[i]; i++) {
		struct output_section section;
		struct annotate_rows rows;

		annotate_rows_init(&rows, f, disasm, i);
		section = annotate_rows_section(&rows, f, i);
		output_json_set(root, annotate_section_names[i], output_json_rows(&section));
		annotate_rows_deinit(&rows);
	}
	output_json_write(stdout, root);
}

int cmd_annotate(int argc, char **argv)
{
	struct annotate_options o = { .around = AROUND };
	struct symbol_disasm *disasm;
	struct annotated f;
	int status;

	argp_parse(&argp, argc, argv, 0, NULL, &o);
	status = annotated_open(&f, o.file, o.func, o.vmlinux, &o.annotated);
	if (!status)
		status = annotated_check(&f, &o.annotated);
	if (!status) {
		disasm = symbol_disasm_create(o.intel ? SYMBOL_SYNTAX_INTEL : SYMBOL_SYNTAX_ATT);
		if (o.view.format == VIEW_JSON)
			write_json(&f, disasm);
		else if (o.view.format == VIEW_CSV)
			write_csv(&f, disasm, &o);
		else
			annotate_page_write(&f, disasm, &o);
		status = view_finish();
		output_pager_finish();
		symbol_disasm_destroy(disasm);
	}
	annotated_close(&f);
	return status;
}
