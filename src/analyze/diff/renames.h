/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions with different names in two versions of the kernel, compared as one. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "profile/profile.h"

enum analyze_renaming_how {
	ANALYZE_RENAMING_KNOWN,
	ANALYZE_RENAMING_INFERRED, /* from the words of the names */
	ANALYZE_RENAMING_TOLD, /* given by the user with --map */
};

struct analyze_renaming {
	const char *old, *new; /* the comparison uses NEW */
	int side; /* the side with OLD: 0 the baseline, 1 the hardened side */
	enum analyze_renaming_how how;
	bool seen; /* called or sampled on a side; false: probed, but never called */
};

struct analyze_renames {
	vec_of(struct analyze_renaming, rows); /* by old name */
	struct alloc_texts texts; /* of the rows */
	struct hash_index olds, news; /* used until the renamings are applied */
};

/* Rename the functions, inlined bodies and syscalls of P called OLD to NEW. Return the number of strings that named OLD. */
uint32_t analyze_rename(struct profile *p, const char *old, const char *new);

/*
 * Rename functions of an older kernel to their later names, if one profile has only the old name, and the other only the new
 * one. A profile with both names has two functions.
 */
void analyze_renames_apply(struct analyze_renames *renames, struct profile *baseline,
			   struct profile *hardened);

/* Return the name of the function NAME in older or newer kernels; NULL: no other name is known. */
const char *analyze_renames_known(const char *name);

/* Add a renaming that the caller has applied. */
void analyze_renames_add(struct analyze_renames *renames, const char *old, const char *new,
			 int side, enum analyze_renaming_how how);

void analyze_renames_deinit(struct analyze_renames *renames);
