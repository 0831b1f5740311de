// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/target/sites.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "kernel/image/name.h"
#include "profile/resolve.h"

#define SUGGESTIONS 4

struct finder {
	struct record_sites *sites;
	struct record_symbols *symbols;
	struct record_names *inlined; /* functions that this kernel has only inlined */
};

void record_names_add(struct record_names *names, const char *name)
{
	for (uint32_t i = 0; i < names->n_items; i++)
		if (!strcmp(names->items[i], name))
			return;
	vec_push(names, items, name);
}

void record_names_add_all(struct record_names *names, const struct record_names *more)
{
	for (uint32_t i = 0; i < more->n_items; i++)
		record_names_add(names, more->items[i]);
}

void record_names_deinit(struct record_names *names)
{
	free(names->items);
	*names = (struct record_names){};
}

static void add_site(struct record_sites *sites, const struct kernel_kallsyms *ks,
		     const struct kernel_sym *sym, bool named, const char *glob)
{
	struct record_site site = {
		.sym = sym,
		.name = alloc_strndup(sym->name, kernel_kallsyms_reported_len(ks, sym->name)),
		.glob = glob,
		.named = named,
		.target.addr = sym->addr,
	};

	vec_push(sites, items, site);
}

#define PLACES 3

/* Names of the first PLACES functions that contain an inlined call of a function, as text, and the number N of all such calls. */
struct inlined_places {
	char *where;
	unsigned int n;
};

static int note_inlined(const struct kernel_body *body, void *arg)
{
	struct inlined_places *places = arg;

	if (places->n++ < PLACES)
		alloc_append_item(&places->where,
				  alloc_printf("%s (%s:%u)", body->function.name,
					       body->call_file ?: "?", body->call_line));
	return 0;
}

/* NAME has no symbol. If NAME is an inlined function, add it to the inlined functions to time, tell the user, and return true. */
static bool add_inlined(struct finder *f, const char *name)
{
	struct inlined_places places = {};
	const struct kernel_index *idx;

	if (record_symbols_index(f->symbols, &idx) || !idx)
		return false;
	kernel_index_bodies_each(idx, name, note_inlined, &places, NULL);
	if (!places.n)
		return false;
	log_note("'%s' is inlined on this kernel: timing its inlined bodies in %s%s", name,
		 places.where, places.n > PLACES ? " and elsewhere" : "");
	free(places.where);
	record_names_add(f->inlined, name);
	return true;
}

/* Report that the kernel has no function NAME, and suggest similar names. */
static void report_missing(struct finder *f, const char *name)
{
	const char *near[SUGGESTIONS];
	const struct kernel_index *index;
	scoped_free char *guesses = NULL;
	size_t n;

	if (record_symbols_index(f->symbols, &index))
		return;
	n = kernel_kallsyms_suggest(f->symbols->ks, name, near, SUGGESTIONS);
	for (size_t i = 0; i < n; i++)
		alloc_append_item(&guesses, alloc_strdup(near[i]));
	log_error("no function '%s' in this kernel%s%s%s%s", name, guesses ? "; did you mean " : "",
		  guesses ?: "", guesses ? "?" : "",
		  index && kernel_index_has_dwarf(index) ?
			  "" :
			  " (if it is inlined, a vmlinux with DWARF shows where: --vmlinux)");
}

const struct kernel_sym **record_sites_named(const struct kernel_kallsyms *ks, const char *name,
					     size_t *n)
{
	const struct kernel_sym *const *named;
	const struct kernel_sym **copy;

	if (kernel_name_base_len(name) == strlen(name))
		return kernel_kallsyms_clones(ks, name, n);
	named = kernel_kallsyms_named(ks, name, n);
	copy = alloc_array(*n, sizeof(*copy));
	for (size_t i = 0; i < *n; i++)
		copy[i] = named[i];
	return copy;
}

static int find_name(struct finder *f, const char *name)
{
	size_t n;
	const struct kernel_sym **syms = record_sites_named(f->symbols->ks, name, &n);
	uint32_t before = f->sites->n_items;

	for (size_t i = 0; i < n; i++)
		if (!kernel_kallsyms_is_init(f->symbols->ks, syms[i]))
			add_site(f->sites, f->symbols->ks, syms[i], true, NULL);
	free(syms);
	if (f->sites->n_items > before || add_inlined(f, name))
		return 0;
	report_missing(f, name);
	return -ENOENT;
}

bool record_site_matches(const struct kernel_kallsyms *ks, const struct kernel_sym *sym,
			 const char *glob)
{
	size_t len = kernel_name_base_len(sym->name);
	char base[256];

	if (len >= sizeof(base) || kernel_name_is_padding(sym->name) ||
	    kernel_kallsyms_is_init(ks, sym))
		return false;
	memcpy(base, sym->name, len);
	base[len] = '\0';
	return kernel_name_matches(glob, base);
}

static int find_glob(struct finder *f, const char *glob)
{
	uint32_t before = f->sites->n_items;

	vec_each(const struct kernel_sym, sym, f->symbols->ks, syms)
		if (record_site_matches(f->symbols->ks, sym, glob))
			add_site(f->sites, f->symbols->ks, sym, false, glob);
	if (f->sites->n_items > before)
		return 0;
	log_error("no function matches '%s'", glob);
	return -ENOENT;
}

int record_sites_find(struct record_sites *sites, struct record_symbols *symbols,
		      const struct record_names *patterns, struct record_names *inlined)
{
	struct finder f = { sites, symbols, inlined };
	int err = 0, one;

	/* Find functions given by name before globs: a function that is also matched by a glob then counts as found by name. */
	for (int globs = 0; globs < 2; globs++)
		for (uint32_t i = 0; i < patterns->n_items; i++) {
			const char *pattern = patterns->items[i];

			if (kernel_name_is_pattern(pattern) != globs)
				continue;
			one = globs ? find_glob(&f, pattern) : find_name(&f, pattern);
			err = err ?: one;
		}
	return err;
}

void record_sites_store(const struct record_sites *sites, const struct record_symbols *symbols,
			struct profile *p)
{
	vec_each(const struct record_site, rs, sites, items) {
		uint32_t site = profile_function_add(p, symbols->ks, rs->sym);

		/* Call profile_function_add() before this access: the call may move the array. */
		p->sites[site].mech = rs->mech;
	}
}

void record_sites_deinit(struct record_sites *sites)
{
	for (uint32_t i = 0; i < sites->n_items; i++)
		free(sites->items[i].name);
	free(sites->items);
	*sites = (struct record_sites){};
}
