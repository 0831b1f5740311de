/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Executions of the blocks of functions, and the instructions per call that follow. */
#pragma once

#include "analyze/figures/table.h"
#include "base/alloc.h"
#include "base/sorted.h"
#include "kernel/cfg/blocks.h"
#include "profile/profile.h"

/* One block in one context, over all runs. Numbers are NAN where they are not known. */
struct analyze_block {
	const char *function, *context; /* ANALYZE_ALL_CONTEXTS: all */
	const char *place; /* "+0x1f4", from the function's entry on; "-0x1f4" before it */
	const char *location; /* "mm/slub.c:1905", of its first instruction; NULL: not known */
	/* The inlined bodies it lies in, innermost first, as in struct profile_site; NULL: none. */
	const char *body;
	double offset, bytes, insns;
	double executions, per_call;
	double insns_per_call; /* PER_CALL times INSNS */
	double share; /* of the function's */
};

/* One function in one context. */
struct analyze_block_function {
	const char *function, *context;
	double calls;
	double blocks; /* that can be reached */
	double unknown; /* whose executions are not known: they are left out of the next */
	double insns_per_call;
	double residual; /* see struct profile_block_counts, the largest */
	const char *caveat; /* the reason why nothing is known; NULL: it is */
	uint32_t first, n; /* its blocks */
};

struct analyze_blocks {
	enum profile_clock clock;
	vec_of(struct analyze_block, rows); /* of each function by address, all contexts first */
	vec_of(struct analyze_block_function, functions);
	struct alloc_texts texts; /* what the rows' places and bodies point to */
};

void analyze_blocks_init(struct analyze_blocks *blocks, const struct profile *p);
void analyze_blocks_deinit(struct analyze_blocks *blocks);

/* A function's rows sorted by instructions per call, most first: an array of N for free(). */
struct analyze_block *analyze_blocks_hottest(const struct analyze_blocks *blocks,
					     const struct analyze_block_function *function);

/* ---- an index of the functions whose blocks a profile counted, and of their contexts ---- */

#define ANALYZE_IN_ALL_CONTEXTS GROUPED_ALL

/* Places in P's array of counts, by function and context. */
struct analyze_counted {
	const struct profile *p;
	struct grouped counts;
};

void analyze_counted_init(struct analyze_counted *c, const struct profile *p);
void analyze_counted_deinit(struct analyze_counted *c);

/*
 * Sums over all runs, in CONTEXT or ANALYZE_IN_ALL_CONTEXTS: COUNTS by block of BLOCKS, NOT_COUNTED where any is;
 * returns the calls they are of. *RESIDUAL, where not NULL, becomes the largest.
 */
uint64_t analyze_counted_sum(const struct analyze_counted *c, uint32_t blocks, uint32_t context,
			     uint64_t *counts, double *residual);

/* ---- the loops of functions whose blocks were counted, and their mean trip counts over all runs ---- */

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
