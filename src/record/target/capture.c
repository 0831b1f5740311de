// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/target/capture.h"

#include <bpf/btf.h>
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/plural.h"
#include "kernel/image/btf.h"
#include "record/target/capture_body.h"
#include "record/target/capture_expression.h"
#include "record/target/symbols.h"

static bool is_flags(const struct record_place *at)
{
	return strstr(at->expression, "flags") || strstr(at->expression, "gfp");
}

static bool has(const struct record_capture *c, const char *name)
{
	for (uint32_t i = 0; i < c->n_values; i++)
		if (c->values[i].base != RECORD_BASE_NAME_END &&
		    !strcmp(c->values[i].variable.name, name))
			return true;
	return false;
}

static struct record_value *add(struct record_capture *c, const char *name)
{
	struct record_value *v = &c->values[c->n_values];

	*v = (struct record_value){ .variable.name = alloc_strdup(name) };
	return v;
}

/* Keeps what add() began. False: there is no room for a name, which takes two. */
static bool keep(struct record_capture *c)
{
	bool is_name = c->values[c->n_values].variable.kind == PROFILE_VARIABLE_NAME;

	if (c->n_values + is_name == ENGINE_VALUES) {
		free((char *)c->values[c->n_values].variable.name);
		return false;
	}
	c->n_values++;
	if (is_name)
		c->values[c->n_values++] = (struct record_value){ .base = RECORD_BASE_NAME_END };
	return true;
}

/* Return whether ERR means that a body's parameter is nowhere to be had, which is noted and no error. */
static bool is_left_out(const struct record_place *at, int err)
{
	const struct record_range *r = at->body ? at->body->range : NULL;
	scoped_free char *text = NULL;

	if (!r || (err != -ENODATA && err != -ENOSPC))
		return false;
	text = alloc_printf("'%s' of '%s' inlined in '%s' is not captured: ",
			    at->value->variable.name, r->name, r->into);
	if (err == -ENODATA)
		alloc_append(
			&text,
			"DWARF gives no register or memory location for it at the entry of the body");
	else
		alloc_append(&text, "the limit is %d parameters per body", ENGINE_ARGS);
	/* The user did not name each function that a glob matches. */
	if (r->named)
		log_note("%s", text);
	else
		log_verbose(1, "%s", text);
	return true;
}

/* Add values worth capturing unasked: NAMES, as in expressions, are those of this function. */
static void add_automatic(struct record_capture *c, struct record_place *at,
			  const struct alloc_texts *names)
{
	int err;

	for (size_t i = 0; i < names->n_texts && c->n_values < ENGINE_VALUES; i++) {
		if (has(c, names->texts[i]))
			continue;
		at->expression = names->texts[i];
		at->value = add(c, at->expression);
		err = record_expression_parse(at, at->expression);
		if (err) {
			is_left_out(at, err);
			free((char *)at->value->variable.name);
			continue;
		}
		at->value->variable.is_flags =
			at->value->variable.kind != PROFILE_VARIABLE_NAME && is_flags(at);
		keep(c);
	}
}

static int full(const struct record_place *at, const char *function)
{
	log_error("--capture=%s: at most %d values of %s can be captured (a name counts as two)",
		  at->expression, ENGINE_VALUES, function);
	return -E2BIG;
}

/* Return whether the first N bytes of EXPRESSION name FUNCTION, "INLINED@FUNC" of a body. */
static bool is_named(const char *function, const char *expression, size_t n)
{
	return !strncmp(expression, function, n) && (!function[n] || function[n] == '@');
}

/* Adds EXPRESSION to what is captured of C's function; *FITS becomes true if it is one of it. */
static int add_expression(struct record_capture *c, struct record_place *at, const char *function,
			  const char *expression, bool *fits)
{
	size_t n = strspn(expression,
			  "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.@");
	bool named = expression[n] == ':';
	int err;

	if (named && !is_named(function, expression, n))
		return 0;
	at->expression = expression;
	expression += named ? n + 1 : 0;
	if (has(c, expression)) {
		*fits = true;
		return 0;
	}
	if (c->n_values == ENGINE_VALUES)
		return full(at, function);
	at->value = add(c, expression);
	err = record_expression_parse(at, at->value->variable.name);
	if (is_left_out(at, err)) {
		*fits = true;
		err = -ENOENT;
	}
	if (err)
		free((char *)at->value->variable.name);
	else if (!keep(c))
		err = full(at, function);
	*fits |= !err;
	return err == -ENOENT ? 0 : err;
}

/*
 * The prototype of SITE's function; NULL: BTF has none, or that of another function of the name. For fentry that was looked into
 * before; of kprobes those arguments are seen that are in registers.
 */
static const struct btf_type *prototype_of(const struct kernel_btf *btf, struct record_site *site,
					   struct record_symbols *symbols)
{
	const struct btf_type *func;
	size_t same_name;
	int n;

	if (profile_mechanism(site->mech)->arguments != PROFILE_ARGUMENTS_ALL) {
		kernel_kallsyms_named(symbols->ks, site->sym->name, &same_name);
		site->target.btf_id =
			btf && same_name == 1 ? kernel_btf_function(btf, site->sym->name) : -ENOENT;
		n = site->target.btf_id > 0 ?
			    kernel_btf_function_registers(btf, site->target.btf_id) :
			    -ENOENT;
		if (n < 0 ||
		    record_arguments_beyond(symbols, site->sym, (unsigned int)n) == KERNEL_YES)
			return NULL;
	}
	func = btf__type_by_id(kernel_btf_raw(btf), (uint32_t)site->target.btf_id);
	return btf__type_by_id(kernel_btf_raw(btf), func->type);
}

static void capture_deinit(struct record_capture *c)
{
	for (uint32_t v = 0; v < c->n_values; v++)
		free((char *)c->values[v].variable.name);
}

/* *KNOWN becomes false where the arguments of site I are not known. *LEFT: one more than there is room for. */
static int resolve_site(struct record_captures *all, const struct record_capture_wanted *w,
			bool *fits, uint32_t i, bool *known, uint32_t *left)
{
	struct record_site *site = &w->sites->items[i];
	int fd, err = 0;
	const struct kernel_btf *btf = record_symbols_btf(w->symbols, site->sym, &fd);
	struct record_place at = { .symbols = w->symbols,
				   .proto = prototype_of(btf, site, w->symbols) };
	struct record_capture c = { .site = i };
	scoped(alloc_texts_free) struct alloc_texts names = {};

	*known = at.proto;
	if (!at.proto)
		return 0;
	at.btf = kernel_btf_raw(btf);
	c.cast = record_kernel_type(at.btf, "bpf_rdonly_cast", BTF_KIND_FUNC);
	for (uint32_t e = 0; e < w->expressions->n_items && !err; e++)
		err = add_expression(&c, &at, site->name, w->expressions->items[e], &fits[e]);
	if (w->automatic && !err) {
		record_capture_names(at.btf, at.proto, site->sym, w->symbols, &names);
		add_automatic(&c, &at, &names);
	}
	if (!c.n_values)
		return err;
	if (all->n_items == ENGINE_CAPTURED) {
		capture_deinit(&c);
		++*left;
		return err;
	}
	vec_push(all, items, c);
	if (profile_mechanism(site->mech)->arguments == PROFILE_ARGUMENTS_ALL)
		all->fentry = true;
	else
		all->saves = true;
	return err;
}

static int resolve_sites(struct record_captures *c, const struct record_capture_wanted *w,
			 bool *fits)
{
	uint32_t without = 0, left = 0;
	int err = 0;

	for (uint32_t i = 0; i < w->sites->n_items && !err; i++) {
		const struct record_site *site = &w->sites->items[i];
		bool known = false;

		if (profile_mechanism(site->mech)->arguments != PROFILE_ARGUMENTS_NONE)
			err = resolve_site(c, w, fits, i, &known, &left);
		without += !known;
	}
	if (without && !err)
		log_note("no values are captured in %u %s: BTF lacks the arguments, or "
			 "kprobe.multi is the probe",
			 without, plural(without, "function", "functions"));
	if (left && !err)
		log_note("no values are captured in %u %s: the limit is %d functions", left,
			 plural(left, "function", "functions"), ENGINE_CAPTURED);
	return err;
}

/* The program of all bodies has room for so many. */
#define MAX_BODIES  32
#define MAX_ENTRIES 256

/* Resolve the captures of range I. *LEFT counts those for which there is no room. */
static int resolve_body(struct record_captures *all, const struct record_capture_wanted *w,
			bool *fits, uint32_t i, uint32_t *left)
{
	const struct record_range *r = &w->ranges->items[i];
	const struct kernel_sym *sym =
		kernel_kallsyms_covering(w->symbols->ks, r->in->base + r->into_addr, NULL);
	int fd, err = 0;
	/* A module may have none: then its structs have no members. */
	const struct kernel_btf *btf =
		(sym ? record_symbols_btf(w->symbols, sym, &fd) : NULL) ?: w->symbols->btf;
	struct record_capture c = { .site = w->ranges->first_site + i - 1, .is_range = true };
	struct record_place at = { .symbols = w->symbols };
	scoped(record_body_deinit) struct record_body body = {};
	scoped(alloc_texts_free) struct alloc_texts names = {};
	scoped_free char *name = alloc_printf("%s@%s", r->name, r->into);

	if (r->why_not || !btf)
		return 0;
	at.btf = kernel_btf_raw(btf);
	at.body = &body;
	record_body_init(&body, w->ranges, i, at.btf);
	c.cast = record_kernel_type(at.btf, "bpf_rdonly_cast", BTF_KIND_FUNC);
	for (uint32_t e = 0; e < w->expressions->n_items && !err; e++)
		err = add_expression(&c, &at, name, w->expressions->items[e], &fits[e]);
	if (w->automatic && !err) {
		record_body_names(&body, w->symbols, &names);
		add_automatic(&c, &at, &names);
	}
	if (!c.n_values)
		return err;
	if (all->n_bodies == MAX_BODIES || all->n_items == ENGINE_CAPTURED ||
	    all->n_entries + body.n_entries > MAX_ENTRIES) {
		capture_deinit(&c);
		++*left;
		return err;
	}
	record_body_finish(&body, w->ranges, all, &c, all->n_items);
	vec_push(all, items, c);
	all->n_bodies++;
	return err;
}

static int resolve_bodies(struct record_captures *c, const struct record_capture_wanted *w,
			  bool *fits)
{
	uint32_t left = 0;
	int err = 0;

	for (uint32_t i = 0; i < w->ranges->n_items && !err; i++)
		err = resolve_body(c, w, fits, i, &left);
	if (left && !err)
		log_note("no values are captured in %u inlined %s: the limit is %d bodies with %d "
			 "entries in total",
			 left, plural(left, "body", "bodies"), MAX_BODIES, MAX_ENTRIES);
	return err;
}

int record_captures_resolve(struct record_captures *c, const struct record_capture_wanted *w)
{
	const struct record_names *expressions = w->expressions;
	scoped_free bool *fits = alloc_array(expressions->n_items, sizeof(*fits));
	int err = 0;

	if (!w->automatic && !expressions->n_items)
		return 0;
	err = resolve_sites(c, w, fits);
	err = err ?: resolve_bodies(c, w, fits);
	for (uint32_t e = 0; e < expressions->n_items && !err; e++)
		if (!fits[e]) {
			log_error("--capture=%s: no function with known arguments has such an "
				  "argument, and the kernel has no such variable",
				  expressions->items[e]);
			err = -ENOENT;
		}
	for (uint32_t i = 0; i < c->n_items; i++) {
		if (c->items[i].is_range)
			continue;
		w->sites->items[c->items[i].site].target.capture = &c->items[i];
		w->sites->items[c->items[i].site].target.capture_slot = i;
	}
	return err;
}

void record_captures_store(const struct record_captures *c, struct profile *p)
{
	for (uint32_t i = 0; i < c->n_items; i++)
		for (uint32_t v = 0; v < c->items[i].n_values; v++) {
			struct profile_variable variable = c->items[i].values[v].variable;

			variable.site = c->items[i].site + 1;
			if (variable.name)
				profile_variable_add(p, &variable);
		}
}

void record_captures_deinit(struct record_captures *c)
{
	for (uint32_t i = 0; i < c->n_items; i++)
		capture_deinit(&c->items[i]);
	free(c->items);
	free(c->entries);
	*c = (struct record_captures){};
}
