/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From the names a user gives to the functions to probe, and how each is to be probed.
 */
#ifndef KPROTPERF_RECORD_SITES_H
#define KPROTPERF_RECORD_SITES_H

#include <stdbool.h>
#include <stdint.h>

#include "profile/profile.h"
#include "record/features.h"
#include "record/symbols.h"

/* The kernel's own test function, which does next to nothing. */
#define RECORD_EMPTY_FUNCTION "bpf_fentry_test1"

/* With more functions than this, auto takes kprobe.multi for those of globs. */
#define RECORD_MAX_FENTRY 32

enum record_attach {
	RECORD_ATTACH_AUTO,
	RECORD_ATTACH_FENTRY,
	RECORD_ATTACH_MULTI,
	RECORD_ATTACH_KPROBE,
};

struct record_site {
	const struct symbol_sym *sym; /* belongs to the kallsyms table */
	char *name; /* less the clone suffixes */
	enum profile_mechanism mech;
	int32_t btf_id; /* for fentry, in the object BTF_FD (0: the kernel's own) */
	int btf_fd; /* belongs to the symbols */
	const char *why_not_fentry; /* NULL: it is, or was not asked for; a static string */
	uint32_t n_args; /* which fentry passes on */
	uint32_t extra; /* see struct record_target */
	bool named; /* by name, not by a glob: a refusal is an error */
	bool entered; /* a kprobe is on its entry, and none on its return yet */
};

/* Why functions that a glob matched are left out. */
enum record_skip {
	RECORD_SKIP_UNSAFE, /* would harm the kernel or the measurement */
	RECORD_SKIP_NOT_FTRACE, /* no ftrace location: perhaps no function entry */
	RECORD_SKIP_BLACKLISTED, /* the kernel's own list */
	RECORD_SKIP_MECHANISM, /* cannot be had by the mechanism asked for */
	RECORD_N_SKIPS,
};

struct record_sites {
	struct record_site *items;
	uint32_t n_items, cap_items;
	uint32_t skipped[RECORD_N_SKIPS];
	const char **inlined; /* patterns of functions that are only inlined on this kernel */
	uint32_t n_inlined, cap_inlined;
};

const char *record_skip_text(enum record_skip skip);

/*
 * Resolves the PATTERNS (names or globs) of --func. Reports, one line each, every name that cannot
 * be measured, with the reason and what to measure instead, and returns -EINVAL if there was any. Names
 * of functions that are only inlined here are left to record_ranges_resolve(), which is said.
 */
int record_sites_resolve(struct record_sites *sites, struct record_symbols *symbols,
			 struct record_features *features, enum record_attach attach,
			 char *const *patterns, uint32_t n_patterns);
/*
 * Adds the functions at the N ENTRIES (absolute) to SITES, which have been resolved, where that can be; those
 * that cannot be measured are left out, as functions are that a glob matches. None goes to kprobe.multi for
 * being many: what its probes cost varies from one function to the next, and these are for exact self times.
 */
void record_sites_add(struct record_sites *sites, struct record_symbols *symbols,
		      struct record_features *features, enum record_attach attach,
		      const uint64_t *entries, uint32_t n);
/*
 * Tells FN of each function whose name, less clone suffixes, matches GLOB: how `record` would probe
 * it, and WHY it leaves it out of globs, if it does; or, with MECH NONE, WHY it would not at all.
 * Returns how many matched, or -errno, reported. Only where some do are SYMBOLS' functions loaded and
 * FEATURES probed, both of which take a while.
 */
typedef void (*record_site_fn)(const struct symbol_sym *sym, enum profile_mechanism mech,
			       const char *why, void *arg);
int record_sites_list(struct record_symbols *symbols, struct record_features *features,
		      const char *glob, record_site_fn fn, void *arg);

void record_sites_deinit(struct record_sites *sites);

#endif
