// SPDX-License-Identifier: GPL-2.0-or-later
/* list --protections: the catalogue, with each one's state on this kernel. */
#include "cmd/protections.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "catalogue/state.h"
#include "cmd/cmd.h"
#include "output/csv.h"
#include "output/json.h"
#include "record/environment.h"

#define SCHEMA "kprotperf-protections/1"

#define HOW_WIDTH 44 /* of the table's column, so that others have room */

struct row {
	const struct catalogue_protection *protection;
	const char *name, *state, *origin, *position, *runs, *in_syscall, *by, *title;
	char *how, *how_short;
};

struct rows {
	struct row *rows;
	size_t n;
};

#define COLUMN(key, header, rank)                                          \
	{                                                                  \
#key, header, OUTPUT_TEXT, rank, offsetof(struct row, key) \
	}

static const struct output_column columns[] = {
	COLUMN(name, "PROTECTION", OUTPUT_ALWAYS),
	COLUMN(state, "STATE", OUTPUT_ALWAYS),
	COLUMN(runs, "RUNS", 2),
	COLUMN(origin, "ORIGIN", 3),
	COLUMN(position, "POSITION", 4),
	COLUMN(in_syscall, "IN SYSCALL", 5),
	COLUMN(by, "SWITCHED BY", 6),
	COLUMN(how_short, "HOW IT IS KNOWN", OUTPUT_TABLE_ONLY),
	COLUMN(how, "HOW IT IS KNOWN", OUTPUT_DATA_ONLY),
	COLUMN(title, "WHAT", OUTPUT_DATA_ONLY),
};

static const struct output_group group = {
	.columns = columns,
	.n_columns = sizeof(columns) / sizeof(columns[0]),
};

static void row_fill(struct row *row, const struct catalogue_protection *protection,
		     const struct profile *p)
{
	*row = (struct row){
		.protection = protection,
		.name = protection->name,
		.title = protection->title,
		.origin = catalogue_origin_name(protection->origin),
		.position = catalogue_position_name(protection->position),
		.runs = catalogue_runs_name(protection->runs),
		.in_syscall = catalogue_extent_name(protection->in_syscall),
		.by = catalogue_switch_name(protection->by),
	};
	row->state = catalogue_state_name(catalogue_state(protection, p, true, &row->how));
	row->how_short = strlen(row->how) <= HOW_WIDTH ?
				 alloc_strdup(row->how) :
				 alloc_printf("%.*s...", HOW_WIDTH - 3, row->how);
}

static json_t *json_span(json_t *object, struct catalogue_span span)
{
	char *text;

	if (span.from) {
		text = alloc_printf("%u.%u", span.from / 1000, span.from % 1000);
		output_json_set(object, "since", output_json_text(text));
		free(text);
	}
	if (span.until) {
		text = alloc_printf("%u.%u", span.until / 1000, span.until % 1000);
		output_json_set(object, "until", output_json_text(text));
		free(text);
	}
	return object;
}

static json_t *json_options(const struct catalogue_option *option)
{
	json_t *list = json_array(), *object;

	for (; option && option->symbol; option++) {
		object = json_object();
		output_json_set(object, "symbol", output_json_text(option->symbol));
		output_json_set(object, "role",
				output_json_text(catalogue_role_name(option->role)));
		output_json_set(object, "off", output_json_text(option->off));
		output_json_set(object, "on", output_json_text(option->on));
		json_array_append_new(list, json_span(object, option->span));
	}
	return list;
}

/* Of values that mean the same the one to give. */
static json_t *json_value(const char *values)
{
	char *first;
	json_t *text;

	if (!values)
		return json_null();
	first = alloc_strndup(values, strcspn(values, "|"));
	text = output_json_text(first);
	free(first);
	return text;
}

static json_t *json_parameters(const struct catalogue_parameter *parameter)
{
	json_t *list = json_array(), *object;

	for (; parameter && parameter->name; parameter++) {
		object = json_object();
		output_json_set(object, "name", output_json_text(parameter->name));
		output_json_set(object, "off", json_value(parameter->off));
		output_json_set(object, "on", json_value(parameter->on));
		json_array_append_new(list, json_span(object, parameter->span));
	}
	return list;
}

static json_t *json_functions(const struct catalogue_function *function)
{
	json_t *list = json_array(), *object;

	for (; function && function->name; function++) {
		object = json_object();
		output_json_set(object, "name", output_json_text(function->name));
		output_json_set(object, "file", output_json_text(function->file));
		output_json_set(object, "code",
				output_json_text(catalogue_code_name(function->code)));
		json_array_append_new(list, json_span(object, function->span));
	}
	return list;
}

static json_t *json_names(const char *const *names)
{
	json_t *list = json_array();

	for (; names && *names; names++)
		json_array_append_new(list, output_json_text(*names));
	return list;
}

static json_t *json_row(const struct row *row)
{
	const struct catalogue_protection *p = row->protection;
	json_t *object = json_object();

	output_json_set(object, "name", output_json_text(p->name));
	output_json_set(object, "title", output_json_text(p->title));
	output_json_set(object, "against", output_json_text(p->against));
	output_json_set(object, "state", output_json_text(row->state));
	output_json_set(object, "how", output_json_text(row->how));
	output_json_set(object, "origin", output_json_text(row->origin));
	output_json_set(object, "position", output_json_text(row->position));
	output_json_set(object, "runs", output_json_text(row->runs));
	output_json_set(object, "in_syscall", output_json_text(row->in_syscall));
	output_json_set(object, "in_instructions",
			output_json_text(catalogue_extent_name(p->in_instructions)));
	output_json_set(object, "switched_by", output_json_text(row->by));
	output_json_set(object, "options", json_options(p->options));
	output_json_set(object, "parameters", json_parameters(p->parameters));
	output_json_set(object, "file", output_json_text(p->file ? p->file->path : NULL));
	output_json_set(object, "functions", json_functions(p->functions));
	output_json_set(object, "contexts", output_json_text(p->contexts));
	output_json_set(object, "workloads", json_names(p->workloads));
	output_json_set(object, "lab_cpu", output_json_text(p->lab_cpu));
	output_json_set(object, "missing", output_json_text(p->missing));
	output_json_set(object, "note", output_json_text(p->note));
	return json_span(object, p->span);
}

static char *span_text(struct catalogue_span span)
{
	if (span.from)
		return alloc_printf(" (since %u.%u)", span.from / 1000, span.from % 1000);
	if (span.until)
		return alloc_printf(" (before %u.%u)", span.until / 1000, span.until % 1000);
	return alloc_strdup("");
}

static void explain_options(const struct view *view, const struct catalogue_option *option)
{
	const char *name = "options";

	for (; option && option->symbol; option++) {
		char *span = span_text(option->span);
		char *text = alloc_printf("CONFIG_%s: off %s, on %s%s%s", option->symbol,
					  option->off, option->on,
					  option->role == CATALOGUE_DEFAULT ? ", by default" :
					  option->role == CATALOGUE_ALONG   ? ", along with it" :
					  option->role == CATALOGUE_TOOL    ? ", which it needs" :
									      "",
					  span);

		view_fact(view, name, text);
		name = "";
		free(text);
		free(span);
	}
}

/* "NAME=VALUE" with the value to give, "NAME" without one. To be freed. */
static char *parameter_text(const char *name, const char *values)
{
	return alloc_printf("%s%s%.*s", name, *values ? "=" : "", (int)strcspn(values, "|"),
			    values);
}

static void explain_parameters(const struct view *view, const struct catalogue_parameter *parameter)
{
	const char *name = "parameters";

	for (; parameter && parameter->name; parameter++) {
		char *span = span_text(parameter->span);
		char *off = parameter->off ? parameter_text(parameter->name, parameter->off) : NULL;
		char *on = parameter->on ? parameter_text(parameter->name, parameter->on) : NULL;
		char *text = alloc_printf("%s%s%s%s%s%s", off ? "off: " : "", off ?: "",
					  off && on ? "; " : "", on ? "on: " : "", on ?: "", span);

		view_fact(view, name, text);
		name = "";
		free(text);
		free(on);
		free(off);
		free(span);
	}
}

static void explain_functions(const struct view *view, const struct catalogue_function *function)
{
	const char *name = "functions";

	for (; function && function->name; function++) {
		char *span = span_text(function->span);
		char *text =
			alloc_printf("%s (%s, %s)%s", function->name,
				     catalogue_code_name(function->code), function->file, span);

		view_fact(view, name, text);
		name = "";
		free(text);
		free(span);
	}
}

static void explain_workloads(const struct view *view, const char *const *names)
{
	char *text = alloc_strdup(""), *longer;

	for (; names && *names; names++) {
		longer = alloc_printf("%s%s%s", text, *text ? ", " : "", *names);
		free(text);
		text = longer;
	}
	view_fact(view, "workloads", text);
	free(text);
}

static void explain(const struct row *row, const struct view *view)
{
	const struct catalogue_protection *p = row->protection;
	char *text = alloc_printf("%s: %s", row->state, row->how);
	char *kind = alloc_printf("%s, %s; runs: %s", row->origin, row->position, row->runs);

	fprintf(view->out, "%s: %s\n\n", p->name, p->title);
	view_fact(view, "against", p->against);
	view_fact(view, "on this kernel", text);
	view_fact(view, "kind", kind);
	view_fact(view, "switched by", row->by);
	explain_options(view, p->options);
	explain_parameters(view, p->parameters);
	if (p->file)
		view_fact(view, "file", p->file->path);
	explain_functions(view, p->functions);
	view_fact(view, "triggered by", p->contexts);
	explain_workloads(view, p->workloads);
	view_fact(view, "in a syscall", row->in_syscall);
	view_fact(view, "in instructions", catalogue_extent_name(p->in_instructions));
	if (p->note)
		view_fact(view, "note", p->note);
	if (p->lab_cpu)
		view_fact(view, "QEMU's CPU", p->lab_cpu);
	if (p->missing)
		view_fact(view, "not in the lab", p->missing);
	free(kind);
	free(text);
}

static void write_json(const struct rows *rows)
{
	json_t *list = json_array(), *root = json_object();
	size_t i;

	for (i = 0; i < rows->n; i++)
		json_array_append_new(list, json_row(&rows->rows[i]));
	output_json_set(root, "schema", output_json_text(SCHEMA));
	output_json_set(root, "protections", list);
	output_json_write(stdout, root);
}

static void rows_read(struct rows *rows, const struct catalogue_protection *only)
{
	struct symbol_build_id none = { 0 };
	struct profile *p = profile_create();
	size_t i;

	record_environment_read(p, &none);
	rows->rows = alloc_array(catalogue_size, sizeof(*rows->rows));
	for (i = 0; i < catalogue_size; i++)
		if (!only || only == &catalogue[i])
			row_fill(&rows->rows[rows->n++], &catalogue[i], p);
	profile_destroy(p);
}

int protections_list(const struct catalogue_protection *only, const struct view_options *options)
{
	struct rows rows = { 0 };
	struct output_section section = { .groups = &group, .n_groups = 1 };
	struct view view;
	size_t i;

	rows_read(&rows, only);
	section.rows = rows.rows;
	section.n_rows = rows.n;
	section.row_size = sizeof(*rows.rows);
	view_init(&view, stdout, options);
	if (options->format == VIEW_JSON)
		write_json(&rows);
	else if (options->format == VIEW_CSV)
		output_csv_write(stdout, &section);
	else if (only)
		explain(&rows.rows[0], &view);
	else
		view_section(&view, &section, 0);
	for (i = 0; i < rows.n; i++)
		free(rows.rows[i].how), free(rows.rows[i].how_short);
	free(rows.rows);
	return view_finish();
}
