/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The loops of functions whose blocks were counted, and their mean trip counts over all runs. */
#pragma once

#include "analyze/blocks/blocks.h"
#include "base/alloc.h"
#include "profile/profile.h"

/* A loop in one context. Numbers are NAN where a count that they need is missing. */
struct analyze_loop {
	const char *function, *context; /* CONTEXT "*": all contexts */
	/* The line of the loop's head in the innermost inlined BODY that holds the whole loop; NULL: unknown, or none. */
	const char *location, *body;
	const char *
		condition; /* under which it iterates again, in the source's words; NULL: unknown */
	double offset; /* of its head, from the function's entry */
	double trips; /* executions of the head, per call */
	double insns_per_iteration; /* nested loops included */
	double insns_per_call;
};

struct analyze_loops {
	vec_of(struct analyze_loop, rows); /* by function; all contexts first, then each */
	struct alloc_texts texts;
};

/* P must outlive LOOPS. */
void analyze_loops_init(struct analyze_loops *loops, const struct profile *p);
void analyze_loops_deinit(struct analyze_loops *loops);
