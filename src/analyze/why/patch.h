/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Which of a cause's lines are those of a patch that the hardened kernel's sources have and the baseline's have not. */
#pragma once

#include "analyze/why/causes.h"
#include "base/alloc.h"

/* Lines that PATCH put in FILE, of the patched source; those that it took out are the one that came behind them. */
struct why_patched {
	const char *patch; /* a path's last part */
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

/* What the patch in PATH changes, which must outlive P, applied after those that P has. -errno, reported. */
int why_patches_add(struct why_patches *p, const char *path);
void why_patches_deinit(struct why_patches *p);

/*
 * What a patch changes in the code that decides PART, or in what it executes besides: from the first to the last line. FILE is
 * P's. False: nothing.
 */
bool why_patched_find(const struct why_patches *p, const struct tree_pair *t,
		      const struct why_part *part, struct why_patched *found);

/* The nearest caller of that code, or of what PART calls, that a patch changes, and what it changes there; NULL: none. */
const char *why_patched_caller(const struct why_patches *p, const struct tree_pair *t,
			       const struct why_part *part, struct why_patched *found);
