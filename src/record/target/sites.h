/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * From the names a user gives to the functions to probe.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"
#include "profile/profile.h"
#include "record/target/symbols.h"

/* Names, each once; the strings are somebody else's. */
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
	int32_t btf_id; /* for fentry, */
	int btf_fd; /* in the BTF object of a module, the symbols', or 0 in the kernel's own */
	uint32_t n_args; /* arguments that fentry passes on */
	const struct record_capture *capture; /* values to capture; NULL: none */
	uint32_t capture_slot;
	int err; /* result of attaching: 0 or -errno */
};

struct record_site {
	const struct kernel_sym *sym; /* belongs to the kallsyms table */
	char *name; /* less the clone suffixes */
	const char *glob; /* by which it was found; NULL: by its name, or by its address */
	bool named; /* by its name: a refusal is an error */
	enum profile_mechanism mech; /* PROFILE_UNTIMED until one is chosen */
	struct record_target target;
	bool attached; /* a kprobe's is true once its entry probe is attached */
	const char *why_not_fentry; /* NULL: it is, or was not asked for; a static string */
};

/* Reasons to leave out functions that were not named. */
enum record_skip {
	RECORD_SKIP_UNSAFE, /* would harm the kernel or the measurement */
	RECORD_SKIP_NOT_FTRACE, /* no ftrace location: perhaps no function entry */
	RECORD_SKIP_BLACKLISTED, /* the kernel's own list */
	RECORD_SKIP_MECHANISM, /* cannot be had by the mechanism asked for */
	RECORD_N_SKIPS,
};

struct record_sites {
	vec_of(struct record_site, items);
	uint32_t skipped[RECORD_N_SKIPS];
};

/*
 * Finds the functions of the PATTERNS (names or globs) of --func, those of names first, some of them several times.
 * Reports every pattern that fits nothing, and returns -ENOENT if there was any. Names of functions that are only
 * inlined here are added to INLINED, which is said.
 */
int record_sites_find(struct record_sites *sites, struct record_symbols *symbols,
		      const struct record_names *patterns, struct record_names *inlined);
/* Adds them to P, numbered as in the engine: the context's first. */
void record_sites_store(const struct record_sites *sites, const struct record_symbols *symbols,
			struct profile *p);
void record_sites_deinit(struct record_sites *sites);

/* Return whether SYM's name, less clone suffixes, matches GLOB, and its code is still there after boot. */
bool record_site_matches(const struct kernel_kallsyms *ks, const struct kernel_sym *sym,
			 const char *glob);

/*
 * The functions of that NAME or, where it is one without the compiler's suffixes, of that name but for these: an array
 * of *N for free().
 */
const struct kernel_sym **record_sites_named(const struct kernel_kallsyms *ks, const char *name,
					     size_t *n);
