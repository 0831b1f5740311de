/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Find functions that have different names in two kernel versions, and compare them as one function. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "profile/profile.h"

enum analyze_renaming_how {
	ANALYZE_RENAMING_KNOWN,
	ANALYZE_RENAMING_INFERRED, /* guessed from the words in the names */
	ANALYZE_RENAMING_TOLD, /* the user gave the names with --map */
};

struct analyze_renaming {
	const char *old, *new; /* the comparison shows the function as NEW */
	int side; /* the profile with OLD (0: baseline, 1: hardened) */
	enum analyze_renaming_how how;
	bool seen; /* true: a profile has calls or samples of the function */
};

struct analyze_renames {
	vec_of(struct analyze_renaming, rows); /* sorted by OLD */
	struct alloc_texts texts; /* owns the strings of ROWS */
	struct hash_index olds, news; /* hash indexes of ROWS, freed by analyze_renames_apply() */
};

/* Rename the functions, inlined functions and system calls of P from OLD to NEW. Return the number of changed strings. */
uint32_t analyze_rename(struct profile *p, const char *old, const char *new);

/*
 * Give functions of the older kernel their names in the newer kernel. Rename only if one profile has just the old name and the
 * other just the new name. In a profile with both, the names belong to two functions.
 */
void analyze_renames_apply(struct analyze_renames *renames, struct profile *baseline,
			   struct profile *hardened);

/* Return the name that NAME's function has in older or newer kernels, or NULL if no other name is known. */
const char *analyze_renames_known(const char *name);

/* Add a renaming that the caller has already applied to the profile. */
void analyze_renames_add(struct analyze_renames *renames, const char *old, const char *new,
			 int side, enum analyze_renaming_how how);

void analyze_renames_deinit(struct analyze_renames *renames);
