/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Changes that are in many functions of a context, as what compilers put everywhere is. */
#pragma once

#include "analyze/why/why.h"

/* Calls of one function, or executions of one body, that many functions have on one side only. */
struct why_spread {
	const char *name; /* a pattern of the catalogue's, where all are of one */
	const struct why_part *most; /* the largest of them; NULL: there is no such change */
	double delta,
		rest; /* of these parts; of the rest of the functions that have them; instructions per run */
	uint32_t n_functions;
	struct why_significance significance; /* of both together */
};

/* The largest of C that no single function has most of. */
struct why_spread why_spread_find(const struct why *w, const struct why_context *c);

/* How many of C's functions and bodies make SHARE of its change, the largest first. */
uint32_t why_spread_functions(const struct why_context *c, double share);
