/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The lines of a cause that a patch changes. The hardened kernel's sources are the baseline's with the patch. */
#pragma once

#include "analyze/why/causes.h"
#include "base/alloc.h"

/* Lines that PATCH adds to FILE, of the patched source. Lines that it removes are the one behind them. */
struct why_patched {
	const char *patch; /* the last part of its path */
	char *file; /* relative to the kernel's tree */
	uint32_t first, last;
	uint32_t
		statement; /* where the statement that they continue begins, or the first of them */
	uint32_t was_statement,
		was_last; /* likewise, in the source without PATCH; none where WAS_LAST is 0 */
};

struct why_patches {
	vec_of(struct why_patched, items);
};

/* Add the changes of the patch in PATH, which must outlive P and is applied after those of P. Return 0, or -errno, reported. */
int why_patches_add(struct why_patches *p, const char *path);
void why_patches_deinit(struct why_patches *p);

/*
 * Find the lines that a patch changes in the code that decides PART, or in what PART executes besides, from the first to the
 * last. FILE is P's. Return whether there are any.
 */
bool why_patched_find(const struct why_patches *p, const struct tree_pair *t,
		      const struct why_part *part, struct why_patched *found);

/* Return the nearest caller of that code, or of PART's callee, that a patch changes, with the lines in *FOUND; NULL: none. */
const char *why_patched_caller(const struct why_patches *p, const struct tree_pair *t,
			       const struct why_part *part, struct why_patched *found);
