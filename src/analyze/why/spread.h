/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Changes that many functions have alike, as the code that compilers put everywhere. */
#pragma once

#include "analyze/why/why.h"

/* Many functions call one function, or execute one body, on one side only. */
struct why_spread {
	const char *name; /* the catalogue's pattern, if it matches all of them */
	const struct why_part *most; /* the largest of them; NULL: there is no such change */
	double delta,
		rest; /* the change of these calls; of the rest of these functions; ticks per run */
	uint32_t n_functions;
	struct why_significance significance; /* of both together */
};

/* Find the largest in C of which no single function has a large part. */
struct why_spread why_spread_find(const struct why *w, const struct why_context *c);

/* Return how many of C's functions and bodies have SHARE of its change, the largest counted first. */
uint32_t why_spread_functions(const struct why_context *c, double share);
