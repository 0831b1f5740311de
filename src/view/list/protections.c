// SPDX-License-Identifier: GPL-2.0-or-later
/* The list of known protections with their state, or an explanation of a single protection. */
#include <string.h>

#include "base/alloc.h"
#include "output/json.h"
#include "view/page/columns.h"
#include "view/list.h"

#define EVIDENCE_WIDTH 44 /* maximum width of the column EVIDENCE */

struct row {
	const char *name, *state, *origin, *position, *runs, *in_syscall, *by, *title, *how;
	const char *how_short;
};

static const struct output_column columns[] = {
	COLUMN("name", TEXT, row, name, .header = "PROTECTION"),
	COLUMN("state", TEXT, row, state, .header = "STATE"),
	COLUMN("runs", TEXT, row, runs, .header = "RUNS", .rank = 2),
	COLUMN("origin", TEXT, row, origin, .header = "ORIGIN", .rank = 3),
	COLUMN("position", TEXT, row, position, .header = "POSITION", .rank = 4),
	COLUMN("in_syscall", TEXT, row, in_syscall, .header = "IN SYSCALL", .rank = 5),
	COLUMN("by", TEXT, row, by, .header = "SWITCHED BY", .rank = 6),
	COLUMN(NULL, TEXT, row, how_short, .header = "EVIDENCE"),
	COLUMN("how", TEXT, row, how),
	COLUMN("title", TEXT, row, title),
};

static struct row row_of(const struct view_protection *of)
{
	const struct catalogue_protection *p = of->protection;

	return (struct row){
		.name = p->name,
		.state = catalogue_state_name(of->state),
		.origin = catalogue_origin_name(p->origin),
		.position = catalogue_position_name(p->position),
		.runs = catalogue_runs_name(p->runs),
		.in_syscall = catalogue_extent_name(p->in_syscall),
		.by = catalogue_switch_name(p->by),
		.title = p->title,
		.how = of->how,
		.how_short = of->how,
	};
}

static void rows(struct view_rows *rows, const void *data)
{
	const struct view_protections *p = data;
	struct row *all = view_rows_new(rows, p->n, sizeof(*all));

	for (size_t i = 0; i < p->n; i++) {
		all[i] = row_of(&p->rows[i]);
		if (strlen(all[i].how) > EVIDENCE_WIDTH)
			all[i].how_short =
				alloc_keep(&rows->texts,
					   alloc_printf("%.*s...", EVIDENCE_WIDTH - 3, all[i].how));
	}
}

/* --- json ----------------------------------------------------------------------------------- */

static void set_text(json_t *object, const char *key, const char *text)
{
	output_json_set(object, key, output_json_text(text));
}

static void set_version(json_t *object, const char *key, uint32_t version)
{
	char text[32];

	if (!version)
		return;
	snprintf(text, sizeof(text), "%u.%u", version / 1000, version % 1000);
	set_text(object, key, text);
}

static json_t *set_span(json_t *object, struct catalogue_span span)
{
	set_version(object, "since", span.from);
	set_version(object, "until", span.until);
	return object;
}

/* Set KEY to the first of several synonyms in VALUES, which "|" separates. */
static void set_value(json_t *object, const char *key, const char *values)
{
	scoped_free char *first = values ? alloc_strndup(values, strcspn(values, "|")) : NULL;

	set_text(object, key, first);
}

static json_t *option_json(const void *entry)
{
	const struct catalogue_option *option = entry;
	json_t *object = json_object();

	set_text(object, "symbol", option->symbol);
	set_text(object, "role", catalogue_role_name(option->role));
	set_text(object, "off", option->off);
	set_text(object, "on", option->on);
	return set_span(object, option->span);
}

static json_t *parameter_json(const void *entry)
{
	const struct catalogue_parameter *parameter = entry;
	json_t *object = json_object();

	set_text(object, "name", parameter->name);
	set_value(object, "off", parameter->off);
	set_value(object, "on", parameter->on);
	return set_span(object, parameter->span);
}

static json_t *function_json(const void *entry)
{
	const struct catalogue_function *function = entry;
	json_t *object = json_object();

	set_text(object, "name", function->name);
	set_text(object, "file", function->file);
	set_text(object, "code", catalogue_code_name(function->code));
	return set_span(object, function->span);
}

static json_t *name_json(const void *entry)
{
	return output_json_text(*(const char *const *)entry);
}

/* Iterate over LIST, an array of the catalogue. AT points to an entry of SIZE bytes that begins with a name; NULL ends LIST. */
#define for_each_entry(at, list, size)                                                            \
	for (const char *at = (const char *)(list); at && *(const char *const *)(const void *)at; \
	     at += (size))

static void set_list(json_t *object, const char *key, const void *list, size_t size,
		     json_t *(*entry_json)(const void *entry))
{
	json_t *array = json_array();

	for_each_entry(at, list, size)
		json_array_append_new(array, entry_json(at));
	output_json_set(object, key, array);
}

static json_t *protection_json(const struct view_protection *of)
{
	const struct catalogue_protection *p = of->protection;
	const struct row row = row_of(of);
	json_t *object = json_object();

	set_text(object, "name", p->name);
	set_text(object, "title", p->title);
	set_text(object, "against", p->against);
	set_text(object, "state", row.state);
	set_text(object, "how", row.how);
	set_text(object, "origin", row.origin);
	set_text(object, "position", row.position);
	set_text(object, "runs", row.runs);
	set_text(object, "in_syscall", row.in_syscall);
	set_text(object, "in_instructions", catalogue_extent_name(p->in_instructions));
	set_text(object, "switched_by", row.by);
	set_list(object, "options", p->options, sizeof(*p->options), option_json);
	set_list(object, "parameters", p->parameters, sizeof(*p->parameters), parameter_json);
	set_text(object, "file", p->file ? p->file->path : NULL);
	set_list(object, "functions", p->functions, sizeof(*p->functions), function_json);
	set_text(object, "contexts", p->contexts);
	set_list(object, "workloads", p->workloads, sizeof(*p->workloads), name_json);
	set_text(object, "lab_cpu", p->lab_cpu);
	set_text(object, "missing", p->missing);
	set_text(object, "note", p->note);
	return set_span(object, p->span);
}

static json_t *json(const void *data)
{
	const struct view_protections *p = data;
	json_t *list = json_array();

	for (size_t i = 0; i < p->n; i++)
		json_array_append_new(list, protection_json(&p->rows[i]));
	return list;
}

/* --- the explanation of a single protection -------------------------------------------------- */

static char *with_span(char *text, struct catalogue_span span)
{
	if (span.from || span.until)
		alloc_append(&text, " (%s %u.%u)", span.from ? "since" : "before",
			     (span.from ?: span.until) / 1000, (span.from ?: span.until) % 1000);
	return text;
}

static char *option_text(const void *entry)
{
	static const char *const roles[] = {
		[CATALOGUE_BUILDS] = "",
		[CATALOGUE_DEFAULT] = ", sets the default",
		[CATALOGUE_ALONG] = ", set along with it",
		[CATALOGUE_TOOL] = ", required by it",
	};
	const struct catalogue_option *option = entry;

	return with_span(alloc_printf("CONFIG_%s: off %s, on %s%s", option->symbol, option->off,
				      option->on, roles[option->role]),
			 option->span);
}

/* Append the parameter that switches a protection WHAT ("on" or "off"): NAME with the first of its VALUES, which "|" separates. */
static void append_value(char **text, const char *what, const char *name, const char *values)
{
	if (values)
		alloc_append(text, "%s%s: %s%s%.*s", *text ? "; " : "", what, name,
			     *values ? "=" : "", (int)strcspn(values, "|"), values);
}

static char *parameter_text(const void *entry)
{
	const struct catalogue_parameter *parameter = entry;
	char *text = NULL;

	append_value(&text, "off", parameter->name, parameter->off);
	append_value(&text, "on", parameter->name, parameter->on);
	return with_span(text, parameter->span);
}

static char *function_text(const void *entry)
{
	const struct catalogue_function *function = entry;

	return with_span(alloc_printf("%s (%s, %s)", function->name,
				      catalogue_code_name(function->code), function->file),
			 function->span);
}

static void write_list(const struct view *view, const char *name, const void *list, size_t size,
		       char *(*entry_text)(const void *entry))
{
	for_each_entry(at, list, size) {
		scoped_free char *text = entry_text(at);

		view_fact(view, name, text);
		name = "";
	}
}

static void write_optional(const struct view *view, const char *name, const char *text)
{
	if (text)
		view_fact(view, name, text);
}

static void explain(const struct view *view, const void *data)
{
	const struct view_protection *of = ((const struct view_protections *)data)->rows;
	const struct catalogue_protection *p = of->protection;
	const struct row row = row_of(of);
	scoped_free char *state = alloc_printf("%s: %s", row.state, row.how);
	scoped_free char *kind =
		alloc_printf("%s, %s; runs: %s", row.origin, row.position, row.runs);
	scoped_free char *workloads = NULL;

	for_each_entry(at, p->workloads, sizeof(*p->workloads))
		alloc_append(&workloads, "%s%s", workloads ? ", " : "",
			     *(const char *const *)(const void *)at);
	fprintf(view->out, "%s: %s\n\n", p->name, p->title);
	view_fact(view, "against", p->against);
	view_fact(view, "on this kernel", state);
	view_fact(view, "kind", kind);
	view_fact(view, "switched by", row.by);
	write_list(view, "options", p->options, sizeof(*p->options), option_text);
	write_list(view, "parameters", p->parameters, sizeof(*p->parameters), parameter_text);
	write_optional(view, "file", p->file ? p->file->path : NULL);
	write_list(view, "functions", p->functions, sizeof(*p->functions), function_text);
	view_fact(view, "triggered by", p->contexts);
	view_fact(view, "workloads", workloads ?: "");
	view_fact(view, "runs in syscalls", row.in_syscall);
	view_fact(view, "in instruction counts", catalogue_extent_name(p->in_instructions));
	write_optional(view, "note", p->note);
	write_optional(view, "QEMU's CPU", p->lab_cpu);
	write_optional(view, "not in the lab", p->missing);
}

#define PROTECTIONS .name = "protections", ONE_GROUP(columns), .rows = rows, .json = json

static const struct view_table protections = { PROTECTIONS };
static const struct view_table protection = { PROTECTIONS, .page = explain };

#define LIST(table)                                                              \
	.tables = (const struct view_table *const[]){ &(table) }, .n_tables = 1, \
	.schema = "kprotperf-protections/1", .csv = "protections"

const struct view_list view_protections_list = { LIST(protections) };
const struct view_list view_protection_list = { LIST(protection) };
