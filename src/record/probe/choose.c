// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/probe/choose.h"

#include <errno.h>
#include <linux/types.h>

#include "base/alloc.h"
#include "base/log.h"
#include "base/plural.h"
#include "kernel/image/btf.h"
#include "kernel/image/name.h"
#include "kprotperf/engine.h"
#include "record/engine/features.h"
#include "record/probe/probes.h"

const char *record_skip_text(enum record_skip skip)
{
	static const char *const texts[RECORD_N_SKIPS] = {
		[RECORD_SKIP_UNSAFE] = "unsafe or used by probes themselves",
		[RECORD_SKIP_NOT_FTRACE] = "not traceable",
		[RECORD_SKIP_BLACKLISTED] = "on the kernel's kprobe blacklist",
		[RECORD_SKIP_MECHANISM] = "not reachable by the requested mechanism",
	};

	return texts[skip];
}

static bool is_asked(enum profile_mechanism how, const struct record_mechanism *m)
{
	return how == PROFILE_UNTIMED || how == m->mech;
}

/* Choose a mechanism for SITE, and return NULL. If none can probe SITE, return the reason, and set *SKIP to its kind. */
static const char *choose(const struct record_kernel *kernel, enum profile_mechanism how,
			  struct record_site *site, enum record_skip *skip)
{
	const char *why;
	enum kernel_safety safety = kernel_name_safety(site->sym->name, &why);

	*skip = RECORD_SKIP_UNSAFE;
	if (safety == KERNEL_REFUSE || (safety == KERNEL_SKIP_IN_GLOB && !site->named))
		return why;
	for (const struct record_mechanism *const *m = record_mechanisms; *m; m++) {
		if (!is_asked(how, *m))
			continue;
		why = (*m)->refuse(kernel, site, skip);
		if (!why) {
			site->mech = (*m)->mech;
			return NULL;
		}
		if ((*m)->mech == PROFILE_MECH_FENTRY && how == PROFILE_UNTIMED)
			site->why_not_fentry = why;
	}
	return why;
}

/* Return the element of MARKS for the address of SYM. All symbols at that address have the same element. */
static bool *mark_of(const struct kernel_kallsyms *ks, bool *marks, const struct kernel_sym *sym)
{
	while (sym > ks->syms && sym[-1].addr == sym->addr)
		sym--;
	return &marks[sym - ks->syms];
}

/* Choose SITE's mechanism. Return 0; -EEXIST if the function occurred before; else -errno, after a message to the user. */
static int choose_one(struct record_sites *sites, const struct record_kernel *kernel,
		      enum profile_mechanism how, struct record_site *site, bool *is_taken)
{
	enum record_skip skip;
	const char *why;

	if (*is_taken)
		return -EEXIST;
	*is_taken = true;
	if (site->mech != PROFILE_UNTIMED)
		return 0;
	why = choose(kernel, how, site, &skip);
	if (!why)
		return 0;
	*is_taken = false;
	if (site->named) {
		log_error("'%s' cannot be measured: %s", site->sym->name, why);
		return -EOPNOTSUPP;
	}
	sites->skipped[skip]++;
	log_verbose(1, "skipped %s: %s", site->sym->name, why);
	return -EOPNOTSUPP;
}

/* Numbers of functions that a glob matches, and of usable ones. If none is usable, an error is reported before the next glob. */
struct glob {
	const char *pattern;
	uint32_t matched, usable;
};

static int end_glob(const struct glob *g)
{
	if (!g->pattern || g->usable)
		return 0;
	log_error("'%s' matches %u %s be measured (-v lists why)", g->pattern, g->matched,
		  plural(g->matched, "function, which cannot", "functions, none of which can"));
	return -ENOENT;
}

static int choose_all(struct record_sites *sites, const struct record_kernel *kernel,
		      enum profile_mechanism how, bool *marks)
{
	struct glob glob = {};
	uint32_t kept = 0;
	int err = 0, one;

	vec_each(struct record_site, site, sites, items) {
		if (site->glob != glob.pattern) {
			err = err ?: end_glob(&glob);
			glob = (struct glob){ .pattern = site->glob };
		}
		one = choose_one(sites, kernel, how, site,
				 mark_of(kernel->symbols->ks, marks, site->sym));
		glob.matched++;
		glob.usable += !one || one == -EEXIST;
		if (site->named && one != -EEXIST)
			err = err ?: one;
		if (one)
			free(site->name);
		else
			sites->items[kept++] = *site;
	}
	sites->n_items = kept;
	return err ?: end_glob(&glob);
}

/* Report an error if no mechanism works on this kernel. Try kprobe.multi last, because that takes a while. */
static int say_if_none(const struct record_kernel *kernel)
{
	const struct record_features *f = kernel->features;
	scoped_free char *whys = alloc_strdup("");

	if (!f->fentry || !f->kprobe || !record_kernel_try_multi(kernel))
		return 0;
	for (const struct record_mechanism *const *m = record_mechanisms; *m; m++) {
		const char *why = (*m)->why_not(f);

		if (!why)
			return 0;
		alloc_append(&whys, "%s%s: %s", m == record_mechanisms ? "" : "; ",
			     profile_mechanism_name((*m)->mech), why);
	}
	log_error("functions cannot be measured on this kernel: %s. Without --func, syscalls and "
		  "samples are recorded",
		  whys);
	return -EOPNOTSUPP;
}

int record_sites_choose(struct record_sites *sites, const struct record_kernel *kernel,
			enum profile_mechanism how)
{
	scoped_free bool *marks = NULL;
	int err;

	if (!sites->n_items)
		return 0;
	err = say_if_none(kernel) ?: record_symbols_load_functions(kernel->symbols);
	if (err)
		return err;
	marks = alloc_array(kernel->symbols->ks->n_syms, sizeof(*marks));
	return choose_all(sites, kernel, how, marks);
}

void record_sites_limit_fentry(struct record_sites *sites, const struct record_kernel *kernel,
			       enum profile_mechanism how)
{
	enum profile_mechanism many;
	enum record_skip skip;
	uint32_t n = 0;

	for (uint32_t i = 0; i < sites->n_items; i++)
		n += sites->items[i].mech == PROFILE_MECH_FENTRY;
	if (n <= RECORD_MAX_FENTRY || how != PROFILE_UNTIMED)
		return;
	many = record_kernel_try_multi(kernel) ? PROFILE_MECH_KPROBE : PROFILE_MECH_MULTI;
	vec_each(struct record_site, site, sites, items)
		if (site->mech == PROFILE_MECH_FENTRY && !site->named &&
		    !record_mechanism(many)->refuse(kernel, site, &skip))
			site->mech = many;
}

void record_sites_prefer_kprobe(struct record_sites *sites, const struct record_kernel *kernel,
				enum profile_mechanism how)
{
	enum record_skip skip;

	vec_each(struct record_site, site, sites, items)
		if (how == PROFILE_UNTIMED && sites->n_items <= ENGINE_CAPTURED &&
		    site->mech == PROFILE_MECH_MULTI &&
		    !record_mechanism(PROFILE_MECH_KPROBE)->refuse(kernel, site, &skip))
			site->mech = PROFILE_MECH_KPROBE;
}

enum profile_mechanism record_choose_faults(const struct record_features *features)
{
	if (!features->fentry)
		return PROFILE_MECH_FENTRY;
	return features->kprobe || features->ftrace ? PROFILE_UNTIMED : PROFILE_MECH_KPROBE;
}

enum profile_mechanism record_choose_after(const struct record_features *features,
					   enum profile_mechanism refused)
{
	bool after = false;

	for (const struct record_mechanism *const *m = record_mechanisms; *m; m++) {
		if (after && !(*m)->why_not(features))
			return (*m)->mech;
		after |= (*m)->mech == refused;
	}
	return PROFILE_UNTIMED;
}

static void list_one(const struct record_kernel *kernel, const struct kernel_sym *sym,
		     record_site_fn fn, void *arg)
{
	struct record_site by_glob = { .sym = sym }, by_name = { .sym = sym, .named = true };
	enum record_skip skip;
	const char *why_not = choose(kernel, PROFILE_UNTIMED, &by_glob, &skip), *not_by_name;

	if (!why_not) {
		fn(sym, by_glob.mech, NULL, arg);
		return;
	}
	if (skip == RECORD_SKIP_NOT_FTRACE)
		why_not = "it has no ftrace location";
	not_by_name = choose(kernel, PROFILE_UNTIMED, &by_name, &skip);
	fn(sym, by_name.mech, not_by_name ?: why_not, arg);
}

int record_sites_list(const struct record_kernel *kernel, const char *glob, record_site_fn fn,
		      void *arg)
{
	const struct kernel_kallsyms *ks = kernel->symbols->ks;
	int matched = 0, err = 0;

	vec_each(const struct kernel_sym, sym, ks, syms) {
		if (!record_site_matches(ks, sym, glob))
			continue;
		if (!matched++)
			err = record_symbols_load_functions(kernel->symbols);
		if (err)
			return err;
		list_one(kernel, sym, fn, arg);
	}
	return matched;
}

/* Kernel memory of a kprobe inside a function, in bytes. The two kprobes of a timed function together need as much. */
#define POINT_MEMORY (8u << 10)

/* Return how many bytes the kernel allocates if asked for SIZE bytes: small sizes are rounded up, mostly to a power of two. */
static size_t allocated(size_t size)
{
	size_t power = 8;

	if (size > 64 && size <= 96)
		return 96;
	if (size > 128 && size <= 192)
		return 192;
	while (power < size)
		power *= 2;
	return power;
}

size_t record_call_memory(const struct record_machine *machine, const char *type)
{
	int size = machine->btf ? kernel_btf_offset(machine->btf, type, NULL) : -1;

	return size > 0 ? allocated((size_t)size) : 0;
}

size_t record_probe_memory(const struct record_machine *machine, enum profile_mechanism mech,
			   uint32_t n)
{
	const struct record_mechanism *m = record_mechanism(mech);

	return n && m ? n * m->memory(machine) : 0;
}

size_t record_point_memory(uint32_t n)
{
	return (size_t)n * POINT_MEMORY;
}
