/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Executions of functions' basic blocks, instructions per call, and loops. */
#pragma once

#include "analyze/figures/table.h"
#include "base/alloc.h"
#include "base/sorted.h"
#include "kernel/cfg/blocks.h"
#include "profile/profile.h"

/* One basic block in one context, over all runs. Unknown numbers are NAN. */
struct analyze_block {
	const char *function, *context; /* ANALYZE_ALL_CONTEXTS: the sum */
	const char *place; /* offset from the function's entry, "+0x1f4" or "-0x1f4" */
	const char *location; /* the first instruction's place, "mm/slub.c:1905"; NULL: unknown */
	/* The inlined bodies around the block, innermost first, as in struct profile_site; NULL: none. */
	const char *body;
	double offset, bytes, insns;
	double executions, per_call;
	double insns_per_call; /* PER_CALL times INSNS */
	double share; /* fraction of the function's INSNS_PER_CALL */
};

/* One function in one context. */
struct analyze_block_function {
	const char *function, *context;
	double calls;
	double blocks; /* number of reachable blocks */
	double unknown; /* blocks with unknown executions; INSNS_PER_CALL leaves them out */
	double insns_per_call;
	double residual; /* maximum RESIDUAL of the struct profile_block_counts */
	const char *caveat; /* the reason why nothing is known; NULL: figures are known */
	uint32_t first, n; /* its blocks, in ROWS */
};

struct analyze_blocks {
	enum profile_clock clock;
	vec_of(struct analyze_block, rows); /* by function, context (the sum first), address */
	vec_of(struct analyze_block_function, functions);
	struct alloc_texts texts; /* places, locations and bodies of ROWS */
};

void analyze_blocks_init(struct analyze_blocks *blocks, const struct profile *p);
void analyze_blocks_deinit(struct analyze_blocks *blocks);

/* Return the function's rows by falling instructions per call: an array of N, for free(). */
struct analyze_block *analyze_blocks_hottest(const struct analyze_blocks *blocks,
					     const struct analyze_block_function *function);

/* ---- an index of block counts by function and context ---- */

#define ANALYZE_IN_ALL_CONTEXTS GROUPED_ALL

/* Indexes into P's array of block counts, by function and context. */
struct analyze_counted {
	const struct profile *p;
	struct grouped counts;
};

void analyze_counted_init(struct analyze_counted *c, const struct profile *p);
void analyze_counted_deinit(struct analyze_counted *c);

/*
 * Sum up the counts of all runs in CONTEXT, which may be ANALYZE_IN_ALL_CONTEXTS. Set COUNTS, indexed by block of
 * function number BLOCKS; a sum is PROFILE_NOT_COUNTED if one of its counts is. Set *RESIDUAL, unless NULL, to the largest
 * residual of the runs. Return the number of calls.
 */
uint64_t analyze_counted_sum(const struct analyze_counted *c, uint32_t blocks, uint32_t context,
			     uint64_t *counts, double *residual);

/* ---- loops in functions with counted blocks, and their mean trip counts over all runs ---- */

/* A loop in one context. A number is NAN if a count that it needs is missing. */
struct analyze_loop {
	const char *function, *context; /* CONTEXT "*": all contexts */
	/* LOCATION: the head's line in BODY; NULL: unknown. BODY: inlined body with most of the loop; NULL: the function. */
	const char *location, *body;
	/* The condition to iterate again, as in the source; NULL: unknown. */
	const char *condition;
	double offset; /* from the function's entry to the loop's head */
	double trips; /* executions of the head per call */
	double insns_per_iteration; /* nested loops included */
	double insns_per_call;
};

struct analyze_loops {
	vec_of(struct analyze_loop, rows); /* by function, then context (all contexts first) */
	struct alloc_texts texts;
};

/* P must outlive LOOPS. */
void analyze_loops_init(struct analyze_loops *loops, const struct profile *p);
void analyze_loops_deinit(struct analyze_loops *loops);
