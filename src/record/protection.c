// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/protection.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "catalogue/state.h"
#include "record/sites.h"
#include "symbol/index.h"

struct expansion {
	struct record_symbols *symbols;
	struct record_features *features;
	struct record_options *out;
	const struct symbol_index *index; /* NULL: none */
	uint32_t version;
	bool functions, ranges; /* whether this kernel can time such at all */
	uint32_t added; /* by the protection at hand */
};

/* What is known of a function by record's own way to look at it. */
static void note_mechanism(const struct symbol_sym *sym, enum profile_mechanism mech,
			   const char *why, void *arg)
{
	bool *timed = arg;

	(void)sym;
	(void)why;
	if (mech != PROFILE_MECH_NONE)
		*timed = true;
}

static bool is_function(struct expansion *e, const char *name)
{
	bool timed = false;

	if (e->functions)
		record_sites_list(e->symbols, e->features, name, note_mechanism, &timed);
	return timed;
}

static int count_body(const struct symbol_body *body, void *arg)
{
	uint32_t *n = arg;

	(void)body;
	return ++*n > RECORD_PROTECTION_PLACES ? -E2BIG : 0;
}

/*
 * How many bodies of the inlined function can be timed, as far as can be told before their code is read.
 * -E2BIG: too many, which is said.
 */
static int count_bodies(struct expansion *e, const char *name)
{
	uint32_t n = 0;
	int err;

	if (!e->ranges || !e->index)
		return 0;
	err = symbol_index_bodies_each(e->index, name, count_body, &n, NULL);
	if (err == -E2BIG)
		log_note(
			"'%s' is inlined at more than %d places, which are not timed; --range=%s@FUNC "
			"times those in FUNC",
			name, RECORD_PROTECTION_PLACES, name);
	return err ? err : (int)n;
}

static void push_once(char ***list, uint32_t *n, uint32_t *cap, const char *name)
{
	uint32_t i;

	for (i = 0; i < *n; i++)
		if (!strcmp((*list)[i], name))
			return;
	if (*n == *cap) {
		*cap = *cap ? 2 * *cap : 8;
		*list = alloc_resize(*list, *cap, sizeof(**list));
	}
	(*list)[(*n)++] = (char *)name;
}

/* A function that this kernel has inlined is timed as such, and the other way round. */
static void expand_function(struct expansion *e, const struct catalogue_function *function)
{
	struct record_options *o = e->out;
	int bodies = 0;

	if (function->code > CATALOGUE_INLINE || !catalogue_span_has(function->span, e->version))
		return;
	if (is_function(e, function->name))
		push_once(&o->functions, &o->n_functions, &o->cap_functions, function->name);
	else if ((bodies = count_bodies(e, function->name)) > 0)
		push_once(&o->ranges, &o->n_ranges, &o->cap_ranges, function->name);
	else {
		if (bodies != -E2BIG)
			log_verbose(
				1,
				"'%s' is not timed: neither a function nor inlined in this kernel",
				function->name);
		return;
	}
	e->added++;
}

static void note_state(const struct catalogue_protection *protection, struct profile *p)
{
	char *how, *key, *value;
	enum catalogue_state state = catalogue_state(protection, p, true, &how);

	key = alloc_printf(PROFILE_ENV_PROTECTION "%s", protection->name);
	value = alloc_printf("%s: %s", catalogue_state_name(state), how);
	profile_env_set(p, key, value);
	if (state != CATALOGUE_ON)
		log_note("%s is %s here: %s", protection->name, catalogue_state_name(state), how);
	free(value);
	free(key);
	free(how);
}

static void expand_protection(struct expansion *e, const struct catalogue_protection *protection)
{
	const struct catalogue_function *function = protection->functions;

	e->added = 0;
	for (; function && function->name; function++)
		expand_function(e, function);
	if (!e->added)
		log_note("%s: no function of it can be timed here; %s", protection->name,
			 protection->in_syscall == CATALOGUE_NO ?
				 "the workload's own time is what shows it" :
				 "system calls, samples and the workload's own time show it");
}

static void copy_names(char ***list, uint32_t *n, uint32_t *cap, char *const *from, uint32_t n_from)
{
	*list = NULL;
	*n = *cap = 0;
	for (uint32_t i = 0; i < n_from; i++)
		push_once(list, n, cap, from[i]);
}

int record_protections_expand(const struct record_options *options, struct record_symbols *symbols,
			      struct record_features *features, struct profile *p,
			      struct record_options *out)
{
	struct expansion e = { symbols, features, out, NULL, catalogue_linux(p) };
	int err = 0;

	*out = *options;
	copy_names(&out->functions, &out->n_functions, &out->cap_functions, options->functions,
		   options->n_functions);
	copy_names(&out->ranges, &out->n_ranges, &out->cap_ranges, options->ranges,
		   options->n_ranges);
	if (!options->n_protections)
		return 0;
	e.functions = !features->fentry || !features->kprobe;
	e.ranges = !features->kprobe;
	if (e.functions)
		err = record_symbols_load_functions(symbols);
	if (!err && e.ranges)
		err = record_symbols_index(symbols, &e.index);
	for (uint32_t i = 0; !err && i < options->n_protections; i++) {
		note_state(options->protections[i], p);
		expand_protection(&e, options->protections[i]);
	}
	return err;
}

void record_protections_deinit(struct record_options *out)
{
	free(out->functions);
	free(out->ranges);
	out->functions = out->ranges = NULL;
	out->n_functions = out->n_ranges = 0;
}
