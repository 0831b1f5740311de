// SPDX-License-Identifier: GPL-2.0-or-later
#include <argp.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "cmd/cmd.h"
#include "cmd/protections.h"
#include "cmd/view.h"
#include "output/csv.h"
#include "output/json.h"
#include "profile/profile.h"
#include "record/range_plan.h"
#include "record/sites.h"

#define SCHEMA "kprotperf-list/1"

enum {
	KEY_VMLINUX = 256,
	KEY_FORMAT
};

struct list_options {
	const char *glob; /* NULL: none was given */
	const char *vmlinux;
	struct view_options view;
	bool protections;
};

static const struct argp_option options[] = {
	{ "protections", 'P', NULL, 0,
	  "The kernel's protections, or the one that GLOB names, with their state on this kernel" },
	{ "format", KEY_FORMAT, "FORMAT", 0, "table (default), json or csv" },
	{ "vmlinux", KEY_VMLINUX, "FILE", 0,
	  "The running kernel's vmlinux, or another kernel's, to see what is in that" },
	{}
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct list_options *o = state->input;

	switch (key) {
	case KEY_VMLINUX:
		o->vmlinux = arg;
		return 0;
	case 'P':
		o->protections = true;
		return 0;
	case KEY_FORMAT:
		o->view.format = view_format_parse(state, arg);
		return 0;
	case ARGP_KEY_ARG:
		if (state->arg_num)
			argp_error(state, "one GLOB at a time");
		o->glob = arg;
		return 0;
	case ARGP_KEY_END:
		/* A protection is explained under its name alone, too. */
		if (o->glob && catalogue_find(o->glob))
			o->protections = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static const char *glob_of(const struct list_options *o)
{
	return o->glob ? o->glob : "*";
}

/* One function, or one inlined body. All text is the row's own, but for what is const. */
struct row {
	const char *kind; /* "function", "inlined" */
	char *name;
	const char *how; /* how it would be timed; NULL: not known, or not at all */
	char *note;
	char *module;
	char *function; /* around an inlined body, as in the symbol table */
	char *chain; /* the bodies between */
	char *place; /* where it is called */
	char *entry, *addresses; /* from the symbols they lie in */
	double n_bytes;
	struct symbol_body body;
};

struct rows {
	struct row *items;
	uint32_t n_items, cap_items;
};

struct list {
	struct rows functions, bodies;
	const struct symbol_index *index; /* NULL: none */
	const char *into; /* what the function around bodies must match; NULL: any does */
	uint32_t n_empty; /* bodies that matched, and have no code */
	bool inlined_known; /* the name of some inlined function matched */
	bool is_other_kernel;
};

static void rows_free(struct rows *r)
{
	for (uint32_t i = 0; i < r->n_items; i++) {
		struct row *row = &r->items[i];

		free(row->name);
		free(row->note);
		free(row->module);
		free(row->function);
		free(row->chain);
		free(row->place);
		free(row->entry);
		free(row->addresses);
	}
	free(r->items);
}

static char *copy(const char *text)
{
	return text ? alloc_strdup(text) : NULL;
}

/* --- functions ------------------------------------------------------------------------------ */

static void add_function(const struct symbol_sym *sym, enum profile_mechanism mech, const char *why,
			 void *arg)
{
	struct list *list = arg;
	struct row row = { .kind = "function", .name = alloc_strdup(sym->name), .n_bytes = NAN };

	row.module = copy(sym->module);
	if (mech != PROFILE_MECH_NONE)
		row.how = profile_mechanism_name(mech);
	if (why)
		row.note = alloc_printf("%s%s", row.how ? "only by name: " : "", why);
	vec_push(&list->functions, items, row);
}

static int add_other_function(const struct symbol_function *f, void *arg)
{
	struct list *list = arg;
	struct row row = { .kind = "function", .n_bytes = 0 };

	row.name = alloc_strdup(f->symbol ? f->symbol : f->name);
	if (f->file)
		row.place = alloc_printf("%s:%u", f->file, f->line);
	for (size_t i = 0; i < f->n_ranges; i++)
		row.n_bytes += (double)(f->ranges[i].end - f->ranges[i].start);
	vec_push(&list->functions, items, row);
	return 0;
}

/* --- inlined bodies ------------------------------------------------------------------------- */

/* ADDR as "+0x11e" in the function SYMBOL, as "other+0x2" outside. For free(). */
static char *address_text(const struct list *list, uint64_t addr, const char *symbol)
{
	struct symbol_place place;

	if (symbol_index_at(list->index, addr, &place) || !place.symbol)
		return alloc_printf("0x%" PRIx64, addr);
	return alloc_printf("%s+0x%" PRIx64,
			    symbol && !strcmp(place.symbol, symbol) ? "" : place.symbol,
			    place.offset);
}

/* "+0x11e-0x135, split.cold+0x0-0x12": each range from its start to the first byte after it. */
static char *addresses_text(const struct list *list, const struct symbol_body *body)
{
	char *text = NULL;

	for (size_t i = 0; i < body->n_ranges; i++) {
		const struct symbol_range *r = &body->ranges[i];
		char *start = address_text(list, r->start, body->function.symbol), *longer;
		struct symbol_place place;

		if (symbol_index_at(list->index, r->start, &place))
			place.offset = r->start;
		longer = alloc_printf("%s%s%s-0x%" PRIx64, text ? text : "", text ? ", " : "",
				      start, place.offset + (r->end - r->start));
		free(start);
		free(text);
		text = longer;
	}
	return text;
}

static int add_body(const struct symbol_body *body, void *arg)
{
	struct list *list = arg;
	struct row row = { .kind = "inlined", .n_bytes = 0, .body = *body };

	if (list->into && fnmatch(list->into, body->function.name, 0))
		return 0;
	row.name = alloc_strdup(body->name);
	row.function =
		alloc_strdup(body->function.symbol ? body->function.symbol : body->function.name);
	row.chain = symbol_index_chain(list->index, body->id, PROFILE_CHAIN);
	if (body->call_file)
		row.place = alloc_printf("%s:%u", body->call_file, body->call_line);
	row.entry = address_text(list, body->entry, body->function.symbol);
	row.addresses = addresses_text(list, body);
	for (size_t i = 0; i < body->n_ranges; i++)
		row.n_bytes += (double)(body->ranges[i].end - body->ranges[i].start);
	vec_push(&list->bodies, items, row);
	return 0;
}

/* A kernel has 200,000 bodies: only those asked for, by INLINED or INLINED@FUNC. */
static void list_bodies(struct list *list, const struct list_options *o)
{
	const char *at = o->glob ? strchr(o->glob, '@') : NULL;
	char *name;

	if (!list->index)
		return;
	if (!o->glob) {
		log_note(
			"and %u inlined bodies, of which those are listed whose name matches a GLOB",
			symbol_index_n_bodies(list->index));
		return;
	}
	name = alloc_strndup(o->glob, at ? (size_t)(at - o->glob) : strlen(o->glob));
	list->into = at ? at + 1 : NULL;
	list->inlined_known =
		!symbol_index_bodies_each(list->index, name, add_body, list, &list->n_empty) && !at;
	free(name);
}

/* How record --range would measure the body of ROW, and what there is to say of it. */
static void note_how(struct row *row, const struct record_range *r)
{
	if (r->why_not) {
		row->how = "samples";
		row->note = alloc_strdup(r->why_not);
		return;
	}
	row->how = profile_mechanism_name(PROFILE_MECH_RANGE);
	row->note = r->n_breakpoints ? alloc_printf("%u probes, %u of them breakpoints",
						    r->n_probes, r->n_breakpoints) :
				       alloc_printf("%u probes", r->n_probes);
}

/* Fills in how each of the listed bodies would be measured on the running kernel. */
static void survey_bodies(struct list *list, struct record_symbols *symbols,
			  const struct record_features *features)
{
	bool named = list->into && !strpbrk(list->into, "*?[");
	struct record_ranges ranges = {};
	struct rows *rows = &list->bodies;

	if (rows->n_items > RECORD_MAX_RANGES) {
		log_note(
			"%u places: how each would be measured is shown for %u at most, as many as "
			"record times at once; name the function around them: INLINED@FUNC",
			rows->n_items, RECORD_MAX_RANGES);
		return;
	}
	for (uint32_t i = 0; i < rows->n_items; i++)
		record_ranges_add(&ranges, list->index, &rows->items[i].body, named);
	if (!features->kprobe)
		record_ranges_survey(&ranges, symbols, list->index);
	for (uint32_t i = 0; i < rows->n_items; i++) {
		struct row *row = &rows->items[i];

		if (!features->kprobe) {
			note_how(row, record_ranges_find(&ranges, &row->body));
			continue;
		}
		row->how = "samples";
		row->note = alloc_printf("kprobes: %s", record_features_why_not_kprobe(features));
	}
	record_ranges_deinit(&ranges);
}

/* --- output --------------------------------------------------------------------------------- */

#define N(array) (sizeof(array) / sizeof((array)[0]))
#define COLUMN(key, field, header, type, rank)                       \
	{                                                            \
		key, header, type, rank, offsetof(struct row, field) \
	}

static struct output_section section_of(const struct rows *rows, const struct output_group *groups)
{
	return (struct output_section){ .groups = groups,
					.n_groups = 1,
					.rows = rows->items,
					.n_rows = rows->n_items,
					.row_size = sizeof(struct row) };
}

static struct output_section functions_section(const struct rows *rows, bool is_other_kernel)
{
	static const struct output_column columns[] = {
		COLUMN("name", name, "FUNCTION", OUTPUT_TEXT, OUTPUT_ALWAYS),
		COLUMN("how", how, "HOW", OUTPUT_TEXT, OUTPUT_ALWAYS),
		COLUMN("module", module, "MODULE", OUTPUT_TEXT, 1),
		COLUMN("note", note, "NOTE", OUTPUT_TEXT, OUTPUT_ALWAYS),
	};
	static const struct output_column other_columns[] = {
		COLUMN("name", name, "FUNCTION", OUTPUT_TEXT, OUTPUT_ALWAYS),
		COLUMN("place", place, "DECLARED AT", OUTPUT_TEXT, OUTPUT_ALWAYS),
		COLUMN("bytes", n_bytes, "BYTES", OUTPUT_COUNT, 1),
	};
	static const struct output_group groups[] = { { NULL, 0, columns, N(columns) } };
	static const struct output_group other_groups[] = { { NULL, 0, other_columns,
							      N(other_columns) } };

	return section_of(rows, is_other_kernel ? other_groups : groups);
}

static struct output_section bodies_section(const struct rows *rows)
{
	static const struct output_column columns[] = {
		COLUMN("name", name, "INLINED", OUTPUT_TEXT, OUTPUT_ALWAYS),
		COLUMN("function", function, "INTO", OUTPUT_TEXT, OUTPUT_ALWAYS),
		COLUMN("chain", chain, "BY WAY OF", OUTPUT_TEXT, 1),
		COLUMN("place", place, "CALLED AT", OUTPUT_TEXT, OUTPUT_ALWAYS),
		COLUMN("how", how, "HOW", OUTPUT_TEXT, OUTPUT_ALWAYS),
		COLUMN("bytes", n_bytes, "BYTES", OUTPUT_COUNT, 2),
		COLUMN("entry", entry, "ENTRY", OUTPUT_TEXT, OUTPUT_ALWAYS),
		COLUMN("addresses", addresses, "ADDRESSES", OUTPUT_TEXT, OUTPUT_ALWAYS),
		COLUMN("note", note, "NOTE", OUTPUT_TEXT, 3),
	};
	static const struct output_group groups[] = { { NULL, 0, columns, N(columns) } };

	return section_of(rows, groups);
}

static void print_tables(const struct list *list)
{
	struct view_options o = { .top = -1 };
	struct output_section section;
	struct view view;

	view_init(&view, stdout, &o);
	if (list->functions.n_items) {
		section = functions_section(&list->functions, list->is_other_kernel);
		view_section(&view, &section, 0);
	}
	if (list->functions.n_items && list->bodies.n_items)
		putchar('\n');
	if (list->bodies.n_items) {
		section = bodies_section(&list->bodies);
		view_section(&view, &section, 0);
	}
}

static void print_csv(const struct list *list)
{
	static const struct output_column columns[] = {
		COLUMN("kind", kind, "", OUTPUT_TEXT, OUTPUT_ALWAYS),
		COLUMN("name", name, "", OUTPUT_TEXT, OUTPUT_ALWAYS),
		COLUMN("how", how, "", OUTPUT_TEXT, OUTPUT_ALWAYS),
		COLUMN("note", note, "", OUTPUT_TEXT, OUTPUT_ALWAYS),
		COLUMN("module", module, "", OUTPUT_TEXT, OUTPUT_ALWAYS),
		COLUMN("function", function, "", OUTPUT_TEXT, OUTPUT_ALWAYS),
		COLUMN("chain", chain, "", OUTPUT_TEXT, OUTPUT_ALWAYS),
		COLUMN("place", place, "", OUTPUT_TEXT, OUTPUT_ALWAYS),
		COLUMN("bytes", n_bytes, "", OUTPUT_COUNT, OUTPUT_ALWAYS),
		COLUMN("entry", entry, "", OUTPUT_TEXT, OUTPUT_ALWAYS),
		COLUMN("addresses", addresses, "", OUTPUT_TEXT, OUTPUT_ALWAYS),
	};
	static const struct output_group groups[] = { { NULL, 0, columns, N(columns) } };
	struct output_section section;
	struct rows all = {};

	for (uint32_t i = 0; i < list->functions.n_items; i++)
		vec_push(&all, items, list->functions.items[i]);
	for (uint32_t i = 0; i < list->bodies.n_items; i++)
		vec_push(&all, items, list->bodies.items[i]);
	section = section_of(&all, groups);
	output_csv_write(stdout, &section);
	free(all.items);
}

static json_t *place_json(const char *file, uint32_t line)
{
	json_t *place;

	if (!file)
		return json_null();
	place = json_object();
	output_json_set(place, "file", output_json_text(file));
	output_json_set(place, "line", json_integer(line));
	return place;
}

static json_t *function_json(const struct list *list, const struct row *row)
{
	json_t *object = json_object();

	output_json_set(object, "name", output_json_text(row->name));
	output_json_set(object, "module", output_json_text(row->module));
	output_json_set(object, "how", output_json_text(row->how));
	output_json_set(object, "note", output_json_text(row->note));
	if (list->is_other_kernel)
		output_json_set(object, "declared", output_json_text(row->place));
	return object;
}

static json_t *body_json(const struct row *row)
{
	const struct symbol_body *b = &row->body;
	json_t *object = json_object(), *ranges = json_array();

	output_json_set(object, "name", output_json_text(row->name));
	output_json_set(object, "declared", place_json(b->file, b->line));
	output_json_set(object, "function", output_json_text(b->function.name));
	output_json_set(object, "symbol", output_json_text(b->function.symbol));
	output_json_set(object, "symbol_addr", json_integer((json_int_t)b->function.addr));
	output_json_set(object, "chain", output_json_text(row->chain));
	output_json_set(object, "called", place_json(b->call_file, b->call_line));
	output_json_set(object, "entry", json_integer((json_int_t)b->entry));
	for (size_t i = 0; i < b->n_ranges; i++)
		json_array_append_new(ranges, json_pack("[I, I]", (json_int_t)b->ranges[i].start,
							(json_int_t)b->ranges[i].end));
	output_json_set(object, "ranges", ranges);
	output_json_set(object, "bytes", output_json_number(row->n_bytes));
	output_json_set(object, "how", output_json_text(row->how));
	output_json_set(object, "note", output_json_text(row->note));
	return object;
}

static void print_json(const struct list *list)
{
	json_t *root = json_object(), *functions = json_array(), *bodies = json_array();
	char hex[2 * SYMBOL_BUILD_ID_MAX + 1] = "";

	for (uint32_t i = 0; i < list->functions.n_items; i++)
		json_array_append_new(functions, function_json(list, &list->functions.items[i]));
	for (uint32_t i = 0; i < list->bodies.n_items; i++)
		json_array_append_new(bodies, body_json(&list->bodies.items[i]));
	if (list->index)
		symbol_build_id_format(symbol_index_build_id(list->index), hex, sizeof(hex));
	output_json_set(root, "schema", json_string(SCHEMA));
	output_json_set(root, "build_id", output_json_text(*hex ? hex : NULL));
	output_json_set(root, "functions", functions);
	output_json_set(root, "inlined", list->index ? bodies : json_null());
	if (list->index)
		output_json_set(root, "inlined_empty", json_integer(list->n_empty));
	else
		json_decref(bodies);
	output_json_write(stdout, root);
}

/* Prints LIST; CMD_FAILED where nothing matched GLOB. */
static int print_list(const struct list *list, const struct list_options *o)
{
	bool any = list->functions.n_items || list->bodies.n_items;

	if (!any && list->inlined_known) {
		log_note("'%s' is inlined, but no instruction of it is left", o->glob);
		any = true;
	}
	if (!any)
		log_error("no function matches '%s'%s", glob_of(o),
			  list->index ? ", inlined or not" : "");
	if (o->view.format == VIEW_JSON)
		print_json(list);
	else if (o->view.format == VIEW_CSV)
		print_csv(list);
	else
		print_tables(list);
	if (view_finish())
		return CMD_FAILED;
	return any ? CMD_DONE : CMD_FAILED;
}

/* --- the running kernel, another kernel ------------------------------------------------------- */

static int list_running(struct list *list, const struct list_options *o)
{
	struct record_features features = {};
	struct record_symbols symbols;
	int n, status = CMD_FAILED;

	n = record_symbols_init(&symbols, o->vmlinux);
	if (!n)
		n = record_sites_list(&symbols, &features, glob_of(o), add_function, list);
	if (n >= 0 && !record_symbols_index(&symbols, &list->index)) {
		if (!list->index || !symbol_index_has_dwarf(list->index))
			log_note("inlined functions are not known: %s",
				 symbols.image_why_not ?: "the vmlinux has no DWARF");
		list_bodies(list, o);
		if (list->bodies.n_items) {
			if (!n)
				record_features_probe(&features);
			survey_bodies(list, &symbols, &features);
		}
		status = print_list(list, o);
	}
	record_symbols_deinit(&symbols);
	return status;
}

/* Functions and inlined bodies of a kernel that does not run here. */
static int list_other(struct list *list, const struct list_options *o, struct symbol_image *image)
{
	struct symbol_index *index;
	int err, status;

	if (!symbol_image_has_dwarf(image)) {
		log_error("%s has no DWARF: it tells nothing of its functions", o->vmlinux);
		return CMD_FAILED;
	}
	err = symbol_index_get(NULL, image, &index);
	if (err) {
		log_error("cannot read %s: %s", o->vmlinux, log_strerror(err));
		return CMD_FAILED;
	}
	log_note("%s is not the running kernel's: how its functions would be measured is not known",
		 o->vmlinux);
	list->index = index;
	list->is_other_kernel = true;
	symbol_index_functions_each(index, glob_of(o), add_other_function, list);
	list_bodies(list, o);
	status = print_list(list, o);
	symbol_index_destroy(index);
	return status;
}

static int list_protections(const struct list_options *o)
{
	const struct catalogue_protection *only = NULL;

	if (o->glob) {
		only = catalogue_find(o->glob);
		if (!only) {
			log_error("no protection '%s'; kprotperf list --protections names them",
				  o->glob);
			return CMD_FAILED;
		}
	}
	return protections_list(only, &o->view);
}

int cmd_list(int argc, char **argv)
{
	static const struct argp argp = {
		options, parse, "[GLOB]",
		"Lists the kernel's functions that match GLOB (default: all), with the mechanism by "
		"which record would time each, or why it cannot; and, where there is a GLOB, every "
		"place where a function whose name matches is inlined (INLINED@FUNC: into FUNC). Or "
		"the kernel's protections."
	};
	struct list_options o = {};
	struct symbol_build_id running;
	struct symbol_image *image = NULL;
	struct list list = {};
	int status;

	argp_parse(&argp, argc, argv, 0, NULL, &o);
	if (o.protections)
		return list_protections(&o);
	if (symbol_build_id_read(SYMBOL_NOTES_PATH, &running))
		running.len = 0;
	if (o.vmlinux && symbol_image_open(o.vmlinux, &image))
		return CMD_FAILED;
	if (image && !symbol_build_id_equal(&running, symbol_image_build_id(image)))
		status = list_other(&list, &o, image);
	else
		status = list_running(&list, &o);
	symbol_image_destroy(image);
	rows_free(&list.functions);
	rows_free(&list.bodies);
	return status;
}
