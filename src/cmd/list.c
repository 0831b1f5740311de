// SPDX-License-Identifier: GPL-2.0-or-later
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/plural.h"
#include "cmd/cmd.h"
#include "cmd/view.h"
#include "kernel/image/name.h"
#include "record/collect/environment.h"
#include "view/list.h"
#include "profile/profile.h"
#include "record/target/range_plan.h"
#include "record/engine/features.h"
#include "record/probe/choose.h"

struct list_options {
	char **args; /* the operand GLOB; NULL: none */
	const char *glob; /* GLOB; NULL: not given */
	const char *vmlinux;
	uint32_t format; /* index into view_writers */
	bool protections;
};

static const struct cmd_option options[] = {
	{ "protections", NULL,
	  "List the kernel's protections, or the one named GLOB, with their state on this kernel",
	  CMD_SET(list_options, protections), .short_name = 'P' },
	{ "format", "FORMAT", .help_of = view_format_help, CMD_SET(list_options, format),
	  .choices = view_writer_names },
	{ "vmlinux", "FILE",
	  "vmlinux of the running kernel, or of another kernel to list its functions",
	  CMD_SET(list_options, vmlinux) },
	{ 0 },
};

static void check_usage(void *input, struct argp_state *state)
{
	view_check_format(((const struct list_options *)input)->format, NULL, state);
}

static const struct cmd_syntax syntax = {
	.options = options,
	.end = check_usage,
	.args_doc = "[GLOB]",
	.doc = "List the kernel's functions that match GLOB (default: all) and how record would "
	       "time each, or why it cannot. With a GLOB, also list every place where a matching "
	       "function is inlined (INLINED@FUNC: into FUNC, which may be in a module). With "
	       "--protections, list the kernel's protections instead; the name of a protection as GLOB explains it.",
	.operands = offsetof(struct list_options, args),
	.most = 1,
	.too_many = "too many arguments: expected one GLOB",
};

static const char *glob_of(const struct list_options *o)
{
	return o->glob ? o->glob : "*";
}

struct list {
	struct view_code code;
	const struct kernel_index *index; /* index of the image that is being searched */
	struct record_symbols symbols; /* symbols of the running kernel */
	struct record_image *in; /* image of INDEX; NULL: INDEX is of another kernel */
	char *inlined; /* glob for inlined functions */
	const char *into; /* glob for the functions that contain the inlined code; NULL: any */
	bool named; /* INTO is a name without wildcards */
	bool inlined_known; /* INLINED matches the name of an inlined function */
	/* Images of CODE's BODIES, in the same order. */
	vec_of(struct record_image *, images);
};

/* Return TEXT. LIST takes ownership of TEXT. */
static const char *keep(struct list *list, char *text)
{
	return alloc_keep(&list->code.texts, text);
}

/* --- functions ------------------------------------------------------------------------------ */

static void add_function(const struct kernel_sym *sym, enum profile_mechanism mech, const char *why,
			 void *arg)
{
	struct list *list = arg;
	struct view_code_row row = {
		.kind = "function", .name = sym->name, .module = sym->module, .n_bytes = NAN
	};

	if (mech != PROFILE_UNTIMED)
		row.how = profile_mechanism_name(mech);
	if (why)
		row.note = keep(list, alloc_printf("%s%s", row.how ? "only by name: " : "", why));
	vec_push(&list->code.functions, items, row);
}

static int add_other_function(const struct kernel_function *f, void *arg)
{
	struct list *list = arg;
	struct view_code_row row = { .kind = "function", .n_bytes = 0 };

	row.name = f->symbol ? f->symbol : f->name;
	if (f->file)
		row.place = keep(list, alloc_printf("%s:%u", f->file, f->line));
	for (size_t i = 0; i < f->n_ranges; i++)
		row.n_bytes += (double)(f->ranges[i].end - f->ranges[i].start);
	vec_push(&list->code.functions, items, row);
	return 0;
}

/* --- inlined functions ---------------------------------------------------------------------- */

/* Return ADDR as "+0x11e" if it is in the function SYMBOL, else as "other+0x2", for free(). */
static char *address_text(const struct list *list, uint64_t addr, const char *symbol)
{
	struct kernel_place place;

	if (kernel_index_at(list->index, addr, &place) || !place.symbol)
		return alloc_printf("0x%" PRIx64, addr);
	return alloc_printf("%s+0x%" PRIx64,
			    symbol && !strcmp(place.symbol, symbol) ? "" : place.symbol,
			    place.offset);
}

/* Return the address ranges of BODY, "+0x11e-0x135, split.cold+0x0-0x12", for free(). The end of a range is exclusive. */
static char *addresses_text(const struct list *list, const struct kernel_body *body)
{
	char *text = NULL;

	vec_each(const struct kernel_range, r, body, ranges) {
		scoped_free char *start = address_text(list, r->start, body->function.symbol);
		struct kernel_place place;

		if (kernel_index_at(list->index, r->start, &place))
			place.offset = r->start;
		alloc_append(&text, "%s%s-0x%" PRIx64, text ? ", " : "", start,
			     place.offset + (r->end - r->start));
	}
	return text;
}

static int add_body(const struct kernel_body *body, void *arg)
{
	struct list *list = arg;
	struct view_code_row row = { .kind = "inlined", .n_bytes = 0, .body = *body };

	if (list->into && !kernel_name_matches(list->into, body->function.name))
		return 0;
	row.name = body->name;
	row.function = body->function.symbol ? body->function.symbol : body->function.name;
	row.chain = keep(list, kernel_index_chain(list->index, body->id, PROFILE_CHAIN));
	if (body->call_file)
		row.place = keep(list, alloc_printf("%s:%u", body->call_file, body->call_line));
	row.module = list->in ? list->in->module : NULL;
	row.entry = keep(list, address_text(list, body->entry, body->function.symbol));
	row.addresses = keep(list, addresses_text(list, body));
	for (size_t i = 0; i < body->n_ranges; i++)
		row.n_bytes += (double)(body->ranges[i].end - body->ranges[i].start);
	vec_push(&list->code.bodies, items, row);
	vec_push(list, images, list->in);
	return 0;
}

/* Add the inlined functions of INDEX that match LIST's globs. IN is the image of INDEX; NULL: INDEX is of another kernel. */
static void add_bodies(struct list *list, const struct kernel_index *index, struct record_image *in)
{
	uint32_t n_empty = 0;

	list->index = index;
	list->in = in;
	list->inlined_known |=
		!kernel_index_bodies_each(index, list->inlined, add_body, list, &n_empty) &&
		!list->into;
	list->code.n_empty += n_empty;
}

static int add_image(struct record_image *in, void *arg)
{
	struct list *list = arg;
	int err = record_image_index(&list->symbols, in);

	if (err)
		return err;
	if ((!in->index || !kernel_index_has_dwarf(in->index)) && (!in->module || list->named))
		log_note("inlined functions%s%s are unknown: %s", in->module ? " of module " : "",
			 in->module ?: "", in->why_not ?: "the vmlinux has no DWARF");
	if (in->index && list->inlined)
		add_bodies(list, in->index, in);
	return 0;
}

/* List inlined functions that match INLINED or INLINED@FUNC; without GLOB, only count them. Return 0 or -errno, reported. */
static int list_bodies(struct list *list, const struct list_options *o)
{
	const char *at = o->glob ? strchr(o->glob, '@') : NULL;
	int err = 0;

	list->into = at ? at + 1 : NULL;
	list->named = at && !kernel_name_is_pattern(list->into);
	if (o->glob)
		list->inlined =
			alloc_strndup(o->glob, at ? (size_t)(at - o->glob) : strlen(o->glob));
	if (!list->code.is_other_kernel)
		err = record_range_images_each(&list->symbols, list->into, add_image, list);
	else if (list->inlined)
		add_bodies(list, list->code.index, NULL);
	if (!o->glob && list->code.index)
		log_note("inlined bodies (%u) not listed: give a GLOB to list those that match",
			 kernel_index_n_bodies(list->code.index));
	free(list->inlined);
	return err;
}

/* Set ROW's HOW and NOTE: the method by which `record --range` would time the inlined function, and the number of probes. */
static void note_how(struct list *list, struct view_code_row *row, const struct record_range *r)
{
	char *probes = r->why_not ? alloc_strdup(r->why_not) :
				    alloc_printf("%u %s", r->n_probes,
						 plural(r->n_probes, "probe", "probes"));

	row->how = r->why_not ? "samples" : profile_mechanism_name(profile_mechanism_of_ranges());
	if (!r->why_not && r->n_breakpoints)
		alloc_append(&probes, ", %u by breakpoint", r->n_breakpoints);
	row->note = keep(list, probes);
}

/* Set HOW and NOTE of all listed inlined functions as in note_how(), for the running kernel. */
static void survey_bodies(struct list *list, const struct record_features *features)
{
	scoped(record_ranges_deinit) struct record_ranges ranges = {};
	struct view_code_rows *rows = &list->code.bodies;

	if (rows->n_items > RECORD_MAX_RANGES) {
		log_note(
			"%u places: how each would be timed is not shown for more than %u, the limit of "
			"record; use INLINED@FUNC to select a function",
			rows->n_items, RECORD_MAX_RANGES);
		return;
	}
	for (uint32_t i = 0; i < rows->n_items; i++)
		record_ranges_add(&ranges, list->images[i], &rows->items[i].body, list->named);
	if (!features->kprobe)
		record_ranges_survey(&ranges, &list->symbols);
	for (uint32_t i = 0; i < rows->n_items; i++) {
		struct view_code_row *row = &rows->items[i];

		if (!features->kprobe) {
			note_how(list, row,
				 record_ranges_find(&ranges, list->images[i], &row->body));
			continue;
		}
		row->how = "samples";
		row->note = keep(list, alloc_printf("kprobes: %s",
						    record_features_why_not_kprobe(features)));
	}
}

/* --- output --------------------------------------------------------------------------------- */

static void write_list(const struct list_options *o, const struct view_list *list, const void *data)
{
	view_write(&(struct view_request){ .format = o->format, .list = list, .all = true }, data);
}

/* Print LIST. If nothing matches GLOB, return CMD_FAILED after a message. */
static int print_list(const struct list *list, const struct list_options *o)
{
	bool any = list->code.functions.n_items || list->code.bodies.n_items;

	if (!any && list->inlined_known) {
		log_note("'%s' is inlined, but has no instructions left", o->glob);
		any = true;
	}
	if (!any)
		log_error("no function matches '%s'%s", glob_of(o),
			  list->code.index ? ", inlined or not" : "");
	write_list(o, &view_code_list, &list->code);
	return any ? CMD_DONE : CMD_FAILED;
}

/* --- the running kernel, another kernel ------------------------------------------------------- */

static int list_running(struct list *list, const struct list_options *o)
{
	struct record_features features = {};
	const struct record_kernel kernel = { &list->symbols, &features };
	int n, status = CMD_FAILED;

	n = record_symbols_init(&list->symbols, o->vmlinux, NULL);
	if (!n) {
		record_features_probe(&features);
		n = record_sites_list(&kernel, glob_of(o), add_function, list);
	}
	if (n >= 0 && !record_symbols_index(&list->symbols, &list->code.index) &&
	    !list_bodies(list, o)) {
		if (list->code.bodies.n_items)
			survey_bodies(list, &features);
		status = print_list(list, o);
	}
	record_symbols_deinit(&list->symbols);
	return status;
}

/* List the functions and inlined functions of a kernel other than the running one. */
static int list_other(struct list *list, const struct list_options *o, struct kernel_image *image)
{
	struct kernel_index *index;
	int err, status;

	if (!kernel_image_has_dwarf(image)) {
		log_error("%s has no DWARF: its functions are unknown", o->vmlinux);
		return CMD_FAILED;
	}
	err = kernel_index_get(NULL, image, &index);
	if (err) {
		log_error("cannot read %s: %s", o->vmlinux, log_strerror(err));
		return CMD_FAILED;
	}
	log_note("%s is not the running kernel's: how its functions would be timed is unknown",
		 o->vmlinux);
	list->code.index = index;
	list->code.is_other_kernel = true;
	kernel_index_functions_each(index, glob_of(o), add_other_function, list);
	list_bodies(list, o);
	status = print_list(list, o);
	kernel_index_destroy(index);
	return status;
}

/* --- protections ------------------------------------------------------------------------------ */

/* List the known protections, or only the protection GLOB, with their state on the running kernel. */
static int list_protections(const struct list_options *o)
{
	const struct catalogue_protection *only = o->glob ? catalogue_find(o->glob) : NULL;
	struct view_protections protections = {};
	scoped(profile_destroy_at) struct profile *p = NULL;

	if (o->glob && !only) {
		scoped_free char *text = catalogue_unknown(o->glob);

		log_error("%s", text);
		return CMD_FAILED;
	}
	p = profile_create();
	record_environment_read(p, NULL);
	protections.rows = alloc_array(catalogue_size, sizeof(*protections.rows));
	for (size_t i = 0; i < catalogue_size; i++) {
		struct view_protection *row = &protections.rows[protections.n];

		if (only && only != &catalogue[i])
			continue;
		row->protection = &catalogue[i];
		row->state = catalogue_state(row->protection, p, true, &row->how);
		protections.n++;
	}
	write_list(o, only ? &view_protection_list : &view_protections_list, &protections);
	while (protections.n)
		free(protections.rows[--protections.n].how);
	free(protections.rows);
	return CMD_DONE;
}

int cmd_list(int argc, char **argv)
{
	struct list_options o = { 0 };
	struct kernel_build_id running;
	struct kernel_image *image = NULL;
	struct list list = {};
	int status;

	cmd_parse(&syntax, argc, argv, &o);
	o.glob = o.args ? *o.args : NULL;
	/* The name of a protection implies --protections. */
	if (o.protections || (o.glob && catalogue_find(o.glob)))
		return list_protections(&o);
	if (kernel_build_id_read(KERNEL_NOTES_PATH, &running))
		running.len = 0;
	if (o.vmlinux && kernel_image_open(o.vmlinux, &image))
		return CMD_FAILED;
	if (image && !kernel_build_id_equal(&running, kernel_image_build_id(image)))
		status = list_other(&list, &o, image);
	else
		status = list_running(&list, &o);
	kernel_image_destroy(image);
	free(list.code.functions.items);
	free(list.code.bodies.items);
	alloc_texts_free(&list.code.texts);
	free(list.images);
	return status;
}
