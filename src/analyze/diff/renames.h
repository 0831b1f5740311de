/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions that one version of the kernel calls by another name than the other, as one and the same. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "profile/profile.h"

enum analyze_renaming_how {
	ANALYZE_RENAMING_KNOWN,
	ANALYZE_RENAMING_INFERRED, /* the names say so */
	ANALYZE_RENAMING_TOLD, /* the user did */
};

struct analyze_renaming {
	const char *old, *new; /* NEW is what it is called in the comparison */
	int side; /* whose OLD was: 0 the baseline's, 1 the hardened side's */
	enum analyze_renaming_how how;
	bool seen; /* called, or in a sample, on either side; else probed in vain */
};

struct analyze_renames {
	vec_of(struct analyze_renaming, rows); /* by old name */
	struct alloc_texts texts; /* of the rows */
	struct hash_index olds, news; /* until applied */
};

/* Calls the functions, inlined bodies and syscalls of P that are OLD by the name NEW; returns how many. */
uint32_t analyze_rename(struct profile *p, const char *old, const char *new);

/*
 * Gives what later versions of the kernel renamed its later name, where one profile has the old name alone
 * and the other one the new name alone: what one of them has under both names are two functions.
 */
void analyze_renames_apply(struct analyze_renames *renames, struct profile *baseline,
			   struct profile *hardened);

/* Return the function's name in another version, older or newer; NULL: no other is known. */
const char *analyze_renames_known(const char *name);

/* Adds one that somebody has applied. */
void analyze_renames_add(struct analyze_renames *renames, const char *old, const char *new,
			 int side, enum analyze_renaming_how how);

void analyze_renames_deinit(struct analyze_renames *renames);
