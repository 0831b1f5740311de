// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/sites.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "record/kprobe.h"
#include "symbol/name.h"

/* What a trampoline can pass on in registers. */
#define FENTRY_MAX_ARGS 6

#define SUGGESTIONS 4

struct resolver {
	struct record_sites *sites;
	struct record_symbols *symbols;
	struct record_features *features;
	enum record_attach attach;
	/* What came of trying a kprobe on a function without ftrace location; 1: not tried. */
	int notrace;
	bool *marks; /* by symbol: see site_mark() */
};

const char *record_skip_text(enum record_skip skip)
{
	static const char *const texts[RECORD_N_SKIPS] = {
		[RECORD_SKIP_UNSAFE] = "unsafe or used by probes themselves",
		[RECORD_SKIP_NOT_FTRACE] = "not traceable",
		[RECORD_SKIP_BLACKLISTED] = "on the kernel's kprobe blacklist",
		[RECORD_SKIP_MECHANISM] = "not reachable by the mechanism asked for",
	};

	return texts[skip];
}

static bool is_glob(const char *pattern)
{
	return strpbrk(pattern, "*?[") != NULL;
}

/* The BTF of the kernel, or of SYM's module; NULL: none. Its object, 0 for the kernel's, in *FD. */
static const struct symbol_btf *btf_of(const struct resolver *r, const struct symbol_sym *sym,
				       int *fd)
{
	const struct record_module_btf *m;

	*fd = 0;
	if (!sym->module)
		return r->symbols->btf;
	m = record_symbols_module_btf(r->symbols, sym->module);
	if (!m)
		return NULL;
	*fd = m->fd;
	return m->btf;
}

/* Of a name: where the function that has a symbol is declared, and whether an inlined one is elsewhere. */
struct namesake {
	const char *file;
	uint32_t line;
	bool other;
};

static int note_namesake(const struct symbol_body *body, void *arg)
{
	struct namesake *n = arg;

	n->other |= !body->file || strcmp(body->file, n->file) || body->line != n->line;
	return 0;
}

/*
 * Is there another function of SYM's name, which is inlined wherever it is called? BTF may have that one's
 * arguments, and a trampoline made for them loses SYM's: fentry on 6.1's mm_init() of kernel/fork.c saves none,
 * as init/main.c's has none, and the kernel panics at the next fork.
 */
static bool has_namesake(const struct resolver *r, const struct symbol_sym *sym)
{
	struct namesake n = {};
	const struct symbol_index *idx;

	if (sym->module || record_symbols_index(r->symbols, &idx) || !idx ||
	    symbol_index_declaration(idx, sym->addr - symbol_kallsyms_stext(r->symbols->ks),
				     &n.file, &n.line) ||
	    !n.file)
		return false;
	symbol_index_bodies_each(idx, sym->name, note_namesake, &n, NULL);
	return n.other;
}

/* The BTF id by which fentry can attach to exactly this symbol, and its object in *FD, or -errno. */
static int32_t fentry_id(const struct resolver *r, const struct symbol_sym *sym, int *fd,
			 uint32_t *n_args)
{
	const struct symbol_btf *btf;
	size_t same_name = 0;
	int32_t id;
	int n;

	if (r->features->fentry)
		return r->features->fentry;
	btf = btf_of(r, sym, fd);
	if (!btf || symbol_tracing_is_ftrace(r->symbols->tracing, sym) != SYMBOL_YES)
		return -ENOENT;
	/* BTF tells functions apart by name only. */
	symbol_kallsyms_named(r->symbols->ks, sym->name, &same_name);
	if (same_name != 1)
		return -ENOTUNIQ;
	id = symbol_btf_function(btf, sym->name);
	if (id < 0)
		return id;
	if (has_namesake(r, sym))
		return -ENOTUNIQ;
	n = symbol_btf_function_nargs(btf, id);
	if (n > FENTRY_MAX_ARGS)
		return -E2BIG;
	*n_args = n > 0 ? n : 0;
	return id;
}

/*
 * Is a return probe at SYM on a real function's entry? The kernel would also take one in the
 * middle of a function and then overwrite the stack of a live frame.
 */
static bool is_entry(const struct resolver *r, const struct symbol_sym *sym)
{
	struct symbol_image *image;

	switch (symbol_tracing_is_ftrace(r->symbols->tracing, sym)) {
	case SYMBOL_YES:
		return true;
	case SYMBOL_UNKNOWN:
	case SYMBOL_NO:
		break;
	}
	if (sym->module || record_symbols_image(r->symbols, &image) || !image)
		return false;
	return symbol_image_is_function(image, sym->name,
					sym->addr - symbol_kallsyms_stext(r->symbols->ks), NULL);
}

static int choose_fentry(const struct resolver *r, struct record_site *site, const char **why)
{
	site->btf_id = fentry_id(r, site->sym, &site->btf_fd, &site->n_args);
	if (site->btf_id > 0) {
		site->mech = PROFILE_MECH_FENTRY;
		return 0;
	}
	*why = record_features_why_not_fentry(r->features) ?:
		       site->btf_id == -ENOTUNIQ ?
		       "several functions have that name, which fentry cannot tell apart" :
	       site->btf_id == -E2BIG ? "it has more arguments than fentry passes on" :
					"fentry cannot reach it (no BTF or no ftrace location)";
	return -EOPNOTSUPP;
}

/* Is there kprobe.multi? Tried when first asked, which takes a while. */
static bool has_multi(const struct resolver *r)
{
	const struct symbol_sym *const *named;
	size_t n;

	named = symbol_kallsyms_named(r->symbols->ks, RECORD_EMPTY_FUNCTION, &n);
	return !record_features_try_multi(r->features, n == 1 ? named[0]->addr : 0);
}

static int choose_multi(const struct resolver *r, struct record_site *site, const char **why)
{
	enum symbol_answer ftrace = symbol_tracing_is_ftrace(r->symbols->tracing, site->sym);

	/* Where it is not known the kernel refuses what is none: it takes ftrace locations only. */
	if (ftrace == SYMBOL_NO || (ftrace == SYMBOL_UNKNOWN && !site->named)) {
		*why = "kprobe.multi cannot reach it (no ftrace location)";
		return -EOPNOTSUPP;
	}
	if (!has_multi(r)) {
		*why = record_features_why_not_multi(r->features);
		return -EOPNOTSUPP;
	}
	site->mech = PROFILE_MECH_MULTI;
	return 0;
}

/* SYM is "name.isra.0" or the like, and there is a "name" that has an ftrace location. */
static bool is_copy_of_traced(const struct resolver *r, const struct symbol_sym *sym)
{
	const char *dot = strchr(sym->name, '.');
	const struct symbol_sym *const *named;
	char *base;
	size_t n;

	if (!dot)
		return false;
	base = alloc_printf("%.*s", (int)(dot - sym->name), sym->name);
	named = symbol_kallsyms_named(r->symbols->ks, base, &n);
	free(base);
	return n && symbol_tracing_is_ftrace(r->symbols->tracing, named[0]) != SYMBOL_NO;
}

/*
 * Without CONFIG_KPROBE_EVENTS_ON_NOTRACE the kernel's probe events refuse functions that have no ftrace
 * location, copies of those that have one excepted. Tried on the first that comes along.
 */
static bool is_notrace(struct resolver *r, const struct symbol_sym *sym)
{
	if (symbol_tracing_is_ftrace(r->symbols->tracing, sym) != SYMBOL_NO ||
	    is_copy_of_traced(r, sym))
		return false;
	if (r->notrace > 0)
		r->notrace = record_kprobe_try(sym->addr);
	return r->notrace == -EINVAL;
}

static int choose_kprobe(struct resolver *r, struct record_site *site, enum record_skip *skip,
			 const char **why)
{
	*why = record_features_why_not_kprobe(r->features);
	if (*why)
		return -EOPNOTSUPP;
	*skip = RECORD_SKIP_BLACKLISTED;
	*why = "it is on the kernel's kprobe blacklist";
	if (symbol_tracing_is_blacklisted(r->symbols->tracing, site->sym->addr) == SYMBOL_YES)
		return -EPERM;
	*skip = RECORD_SKIP_NOT_FTRACE;
	*why = "it is not known to be a function's entry (no ftrace location; a vmlinux with "
	       "symbols could tell, see --vmlinux), and a return probe elsewhere corrupts the kernel";
	if (site->named ? !is_entry(r, site->sym) :
			  symbol_tracing_is_ftrace(r->symbols->tracing, site->sym) != SYMBOL_YES)
		return -EPERM;
	*why = "it has no ftrace location, and this kernel takes no probes there (it is built without "
	       "CONFIG_KPROBE_EVENTS_ON_NOTRACE)";
	if (is_notrace(r, site->sym))
		return -EPERM;
	site->mech = PROFILE_MECH_KPROBE;
	return 0;
}

/* Chooses the mechanism. 0, or the reason why not in *SKIP and, in words, in *WHY. */
static int choose(struct resolver *r, struct record_site *site, enum record_skip *skip,
		  const char **why)
{
	const char *reason;
	enum symbol_safety safety = symbol_name_safety(site->sym->name, &reason);

	*skip = RECORD_SKIP_UNSAFE;
	*why = reason;
	if (safety == SYMBOL_REFUSE || (safety == SYMBOL_SKIP_IN_GLOB && !site->named))
		return -EPERM;
	*skip = RECORD_SKIP_MECHANISM;
	switch (r->attach) {
	case RECORD_ATTACH_FENTRY:
		return choose_fentry(r, site, why);
	case RECORD_ATTACH_MULTI:
		return choose_multi(r, site, why);
	case RECORD_ATTACH_KPROBE:
		return choose_kprobe(r, site, skip, why);
	case RECORD_ATTACH_AUTO:
		break;
	}
	if (!choose_fentry(r, site, why))
		return 0;
	site->why_not_fentry = *why;
	if (!choose_multi(r, site, why))
		return 0;
	return choose_kprobe(r, site, skip, why);
}

/* Whether there is a site at SYM's address; symbols of one address share the answer. */
static bool *site_mark(struct resolver *r, const struct symbol_sym *sym)
{
	const struct symbol_sym *all;
	size_t n;

	all = symbol_kallsyms_all(r->symbols->ks, &n);
	if (!r->marks)
		r->marks = alloc_array(n, sizeof(*r->marks));
	while (sym > all && sym[-1].addr == sym->addr)
		sym--;
	return &r->marks[sym - all];
}

/* 0 where there is a site now, or was already. */
static int site_add(struct resolver *r, const struct symbol_sym *sym, bool named)
{
	struct record_site site = { .sym = sym, .named = named };
	enum record_skip skip;
	const char *why;
	int err;

	if (*site_mark(r, sym))
		return 0;
	err = choose(r, &site, &skip, &why);
	if (!err) {
		site.name = alloc_strndup(sym->name, symbol_name_base_len(sym->name));
		vec_push(r->sites, items, site);
		*site_mark(r, sym) = true;
		return 0;
	}
	if (named) {
		log_error("'%s' cannot be measured: %s", sym->name, why);
	} else {
		r->sites->skipped[skip]++;
		log_verbose(1, "skipped %s: %s", sym->name, why);
	}
	return err;
}

#define PLACES 3

/* Where a function is inlined, in words. */
struct inlined_places {
	char *where;
	unsigned int n;
};

static void append(char **text, const char *separator, char *word)
{
	char *longer = *text ? alloc_printf("%s%s%s", *text, separator, word) : alloc_strdup(word);

	free(*text);
	free(word);
	*text = longer;
}

static int note_inlined(const struct symbol_body *body, void *arg)
{
	struct inlined_places *places = arg;

	if (places->n++ < PLACES)
		append(&places->where, ", ",
		       alloc_printf("%s (%s:%u)", body->function.name, body->call_file ?: "?",
				    body->call_line));
	return 0;
}

/* Is NAME a function that this kernel has only inlined? Then its bodies are to be timed, which is said. */
static bool add_inlined(struct resolver *r, const char *name)
{
	struct inlined_places places = {};
	const struct symbol_index *idx;

	if (record_symbols_index(r->symbols, &idx) || !idx)
		return false;
	symbol_index_bodies_each(idx, name, note_inlined, &places, NULL);
	if (!places.n)
		return false;
	log_note("'%s' is inlined on this kernel, into %s%s: its inlined bodies are timed there",
		 name, places.where, places.n > PLACES ? " and elsewhere" : "");
	free(places.where);
	vec_push(r->sites, inlined, name);
	return true;
}

/* Says why there is no function NAME: misspelt, mostly. */
static void report_missing(struct resolver *r, const char *name)
{
	const char *near[SUGGESTIONS];
	const struct symbol_index *index;
	char *guesses = NULL;
	size_t n;

	if (record_symbols_index(r->symbols, &index))
		return;
	n = symbol_kallsyms_suggest(r->symbols->ks, name, near, SUGGESTIONS);
	for (size_t i = 0; i < n; i++)
		append(&guesses, ", ", alloc_strdup(near[i]));
	log_error("no function '%s' in this kernel%s%s%s%s", name, guesses ? "; did you mean " : "",
		  guesses ?: "", guesses ? "?" : "",
		  index && symbol_index_has_dwarf(index) ?
			  "" :
			  " (if it is inlined, a vmlinux with DWARF tells: --vmlinux)");
	free(guesses);
}

static int resolve_name(struct resolver *r, const char *name)
{
	const struct symbol_sym **clones;
	unsigned int usable = 0;
	int err = 0, one;
	size_t n;

	if (symbol_name_base_len(name) == strlen(name)) {
		clones = symbol_kallsyms_clones(r->symbols->ks, name, &n);
	} else {
		const struct symbol_sym *const *named =
			symbol_kallsyms_named(r->symbols->ks, name, &n);

		clones = alloc_array(n, sizeof(*clones));
		for (size_t i = 0; i < n; i++)
			clones[i] = named[i];
	}
	for (size_t i = 0; i < n; i++) {
		if (symbol_kallsyms_is_init(r->symbols->ks, clones[i]))
			continue;
		usable++;
		one = site_add(r, clones[i], true);
		err = err ?: one;
	}
	if (!usable && !add_inlined(r, name)) {
		report_missing(r, name);
		err = -ENOENT;
	}
	free(clones);
	return err;
}

/* Does SYM's name, less clone suffixes, match, and is its code still there after boot? */
static bool matches(const struct symbol_kallsyms *ks, const struct symbol_sym *sym,
		    const char *pattern)
{
	size_t len = symbol_name_base_len(sym->name);
	char base[256];

	if (len >= sizeof(base) || symbol_kallsyms_is_init(ks, sym))
		return false;
	memcpy(base, sym->name, len);
	base[len] = '\0';
	return fnmatch(pattern, base, 0) == 0;
}

static int resolve_glob(struct resolver *r, const char *pattern)
{
	const struct symbol_sym *all;
	uint32_t matched = 0, sites = 0;
	size_t n;

	all = symbol_kallsyms_all(r->symbols->ks, &n);
	for (size_t i = 0; i < n; i++) {
		if (!matches(r->symbols->ks, &all[i], pattern))
			continue;
		matched++;
		sites += !site_add(r, &all[i], false);
	}
	if (!sites) {
		if (matched)
			log_error(
				"'%s' matches %u functions, none of which can be measured (-v lists why)",
				pattern, matched);
		else
			log_error("no function matches '%s'", pattern);
		return -ENOENT;
	}
	return 0;
}

/*
 * Many functions are attached by kprobe.multi, those that were named excepted: the kernel takes 0.1 s to
 * take down each trampoline of fentry.
 */
static void prefer_multi(struct resolver *r)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < r->sites->n_items; i++)
		n += r->sites->items[i].mech == PROFILE_MECH_FENTRY;
	if (n <= RECORD_MAX_FENTRY || r->attach != RECORD_ATTACH_AUTO || !has_multi(r))
		return;
	for (uint32_t i = 0; i < r->sites->n_items; i++)
		if (r->sites->items[i].mech == PROFILE_MECH_FENTRY && !r->sites->items[i].named)
			r->sites->items[i].mech = PROFILE_MECH_MULTI;
}

/* Tells FN of SYM, which matches. */
static void list_one(struct resolver *r, const struct symbol_sym *sym, record_site_fn fn, void *arg)
{
	struct record_site by_glob = { .sym = sym }, by_name = { .sym = sym, .named = true };
	const char *why_not = NULL, *why_not_by_name = NULL;
	enum record_skip skip;

	if (!choose(r, &by_glob, &skip, &why_not)) {
		fn(sym, by_glob.mech, NULL, arg);
		return;
	}
	if (skip == RECORD_SKIP_NOT_FTRACE)
		why_not = "it has no ftrace location";
	if (!choose(r, &by_name, &skip, &why_not_by_name))
		fn(sym, by_name.mech, why_not, arg);
	else
		fn(sym, PROFILE_MECH_NONE, why_not_by_name, arg);
}

int record_sites_list(struct record_symbols *symbols, struct record_features *features,
		      const char *glob, record_site_fn fn, void *arg)
{
	struct resolver r = { NULL, symbols, features, RECORD_ATTACH_AUTO, 1 };
	const struct symbol_sym *all;
	int matched = 0, err = 0;
	size_t n;

	all = symbol_kallsyms_all(symbols->ks, &n);
	for (size_t i = 0; i < n; i++) {
		if (!matches(symbols->ks, &all[i], glob))
			continue;
		if (!matched++) {
			record_features_probe(features);
			err = record_symbols_load_functions(symbols);
		}
		if (err)
			return err;
		list_one(&r, &all[i], fn, arg);
	}
	return matched;
}

int record_sites_resolve(struct record_sites *sites, struct record_symbols *symbols,
			 struct record_features *features, enum record_attach attach,
			 char *const *patterns, uint32_t n_patterns)
{
	struct resolver r = { sites, symbols, features, attach, 1 };
	int err = 0, one;

	if (features->fentry && features->kprobe && !has_multi(&r)) {
		log_error("functions cannot be measured on this kernel: fentry: %s; kprobes: %s; "
			  "kprobe.multi: %s. Without --func, syscalls and samples are recorded",
			  record_features_why_not_fentry(features),
			  record_features_why_not_kprobe(features),
			  record_features_why_not_multi(features));
		return -EOPNOTSUPP;
	}
	err = record_symbols_load_functions(symbols);
	if (err)
		return err;
	/* Names first: what is named and matches too, counts as named. */
	for (uint32_t i = 0; i < 2 * n_patterns; i++) {
		char *pattern = patterns[i % n_patterns];

		if (is_glob(pattern) != (i >= n_patterns))
			continue;
		one = is_glob(pattern) ? resolve_glob(&r, pattern) : resolve_name(&r, pattern);
		err = err ?: one;
	}
	prefer_multi(&r);
	free(r.marks);
	return err;
}

void record_sites_add(struct record_sites *sites, struct record_symbols *symbols,
		      struct record_features *features, enum record_attach attach,
		      const uint64_t *entries, uint32_t n)
{
	struct resolver r = { sites, symbols, features, attach, 1 };

	for (uint32_t i = 0; i < sites->n_items; i++)
		*site_mark(&r, sites->items[i].sym) = true;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t offset;
		const struct symbol_sym *sym =
			symbol_kallsyms_covering(symbols->ks, entries[i], &offset);

		if (sym && !offset)
			site_add(&r, sym, false);
	}
	free(r.marks);
}

void record_sites_deinit(struct record_sites *sites)
{
	for (uint32_t i = 0; i < sites->n_items; i++)
		free(sites->items[i].name);
	free(sites->items);
	free(sites->inlined);
	*sites = (struct record_sites){};
}
