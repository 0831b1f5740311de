/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions to probe (sites): find them by the names or globs that the user gives. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"
#include "profile/profile.h"
#include "record/target/symbols.h"

/* A set of names. The set does not own the strings. */
struct record_names {
	vec_of(const char *, items);
};

void record_names_add(struct record_names *names, const char *name);
void record_names_add_all(struct record_names *names, const struct record_names *more);
void record_names_deinit(struct record_names *names);

struct record_capture;

/* The function to which a mechanism attaches, and the data that attaching needs. */
struct record_target {
	uint32_t site; /* number of the function in the engine */
	uint64_t addr; /* absolute kernel address */
	int32_t btf_id; /* BTF id of the function, for fentry */
	int btf_fd; /* BTF object with BTF_ID, owned by the symbols; 0: the kernel's */
	uint32_t n_args; /* number of argument registers that fentry passes on */
	const struct record_capture *capture; /* values to capture; NULL: none */
	uint32_t capture_slot;
	int err; /* result of attaching: 0 or -errno */
};

struct record_site {
	const struct kernel_sym *sym; /* owned by the kallsyms table */
	char *name; /* name without clone suffixes */
	const char *glob; /* glob that matched; NULL: given by name or address */
	bool named; /* the user gave the function's name, so a refused probe is an error */
	enum profile_mechanism mech; /* PROFILE_UNTIMED until a mechanism is chosen */
	struct record_target target;
	bool attached; /* kprobes: the entry probe is attached, not the return probe */
	const char *why_not_fentry; /* static text; NULL: fentry is used or was not tried */
};

/* Reasons to leave out functions that a glob matched. */
enum record_skip {
	RECORD_SKIP_UNSAFE, /* a probe would harm the kernel or the measurement */
	RECORD_SKIP_NOT_FTRACE, /* no ftrace location: may not be a function's entry */
	RECORD_SKIP_BLACKLISTED, /* the kernel's kprobe blacklist has the function */
	RECORD_SKIP_MECHANISM, /* the requested mechanism cannot probe the function */
	RECORD_N_SKIPS,
};

struct record_sites {
	vec_of(struct record_site, items);
	uint32_t skipped[RECORD_N_SKIPS];
};

/*
 * Find the functions that match the PATTERNS (names or globs) of --func, first functions given by name. A function may be found
 * several times. Report each pattern without a match, and return -ENOENT after such a report. Put names of functions that this
 * kernel has only inlined into INLINED, with a note to the user.
 */
int record_sites_find(struct record_sites *sites, struct record_symbols *symbols,
		      const struct record_names *patterns, struct record_names *inlined);
/* Add the functions to P with the engine's numbers. Number 0 is for contexts. */
void record_sites_store(const struct record_sites *sites, const struct record_symbols *symbols,
			struct profile *p);
void record_sites_deinit(struct record_sites *sites);

/* Return whether GLOB matches the name of SYM without clone suffixes. Return false for code that is freed after boot. */
bool record_site_matches(const struct kernel_kallsyms *ks, const struct kernel_sym *sym,
			 const char *glob);

/*
 * Return the *N functions called NAME, in an array that the caller frees. If NAME has no compiler suffix such as ".isra.0", also
 * return the functions with such suffixes.
 */
const struct kernel_sym **record_sites_named(const struct kernel_kallsyms *ks, const char *name,
					     size_t *n);
