/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Function sites: from the names or globs that the user gives to functions to probe.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"
#include "profile/profile.h"
#include "record/target/symbols.h"

/* A set of names. It does not own the strings. */
struct record_names {
	vec_of(const char *, items);
};

void record_names_add(struct record_names *names, const char *name);
void record_names_add_all(struct record_names *names, const struct record_names *more);
void record_names_deinit(struct record_names *names);

struct record_capture;

/* The function that a mechanism attaches to, and what it needs for that. */
struct record_target {
	uint32_t site; /* the engine's number */
	uint64_t addr; /* absolute */
	int32_t btf_id; /* BTF id of the function, for fentry */
	int btf_fd; /* BTF object that has BTF_ID: a module's, owned by the symbols; 0: the kernel's */
	uint32_t n_args; /* arguments that fentry passes on */
	const struct record_capture *capture; /* values to capture; NULL: none */
	uint32_t capture_slot;
	int err; /* result of attaching: 0 or -errno */
};

struct record_site {
	const struct kernel_sym *sym; /* belongs to the kallsyms table */
	char *name; /* without clone suffixes */
	const char *glob; /* the glob that matched it; NULL: found by name or address */
	bool named; /* the user gave its name: if the kernel refuses the probe, that is an error */
	enum profile_mechanism mech; /* PROFILE_UNTIMED until one is chosen */
	struct record_target target;
	bool attached; /* true for kprobes once the entry's probe is attached */
	const char *why_not_fentry; /* NULL: fentry is used, or was not asked for; static */
};

/* Reasons to leave out functions that were not named. */
enum record_skip {
	RECORD_SKIP_UNSAFE, /* would harm the kernel or the measurement */
	RECORD_SKIP_NOT_FTRACE, /* no ftrace location: perhaps no function entry */
	RECORD_SKIP_BLACKLISTED, /* the kernel's own list */
	RECORD_SKIP_MECHANISM, /* the mechanism asked for cannot probe it */
	RECORD_N_SKIPS,
};

struct record_sites {
	vec_of(struct record_site, items);
	uint32_t skipped[RECORD_N_SKIPS];
};

/*
 * Find the functions that match the PATTERNS (names or globs) of --func, those of names first. A function may be found
 * several times. Report every pattern that matches nothing, and return -ENOENT if there is any. Names of functions that
 * this kernel has only inlined go into INLINED, with a note.
 */
int record_sites_find(struct record_sites *sites, struct record_symbols *symbols,
		      const struct record_names *patterns, struct record_names *inlined);
/* Add the sites to P, numbered as in the engine: site 0 is the context's. */
void record_sites_store(const struct record_sites *sites, const struct record_symbols *symbols,
			struct profile *p);
void record_sites_deinit(struct record_sites *sites);

/* Return whether SYM's name without clone suffixes matches GLOB, and its code is not freed after boot. */
bool record_site_matches(const struct kernel_kallsyms *ks, const struct kernel_sym *sym,
			 const char *glob);

/*
 * Return the *N functions called NAME or, if NAME has no compiler suffixes, those called NAME plus such suffixes: an
 * array for free().
 */
const struct kernel_sym **record_sites_named(const struct kernel_kallsyms *ks, const char *name,
					     size_t *n);
