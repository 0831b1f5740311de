/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Executions of functions' basic blocks, instructions per call, and loops. */
#pragma once

#include "analyze/figures/table.h"
#include "base/alloc.h"
#include "base/sorted.h"
#include "kernel/cfg/blocks.h"
#include "profile/profile.h"

/* One basic block of a function in one context, over all runs. Unknown numbers are NAN. */
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
	double residual; /* the runs' largest RESIDUAL in struct profile_block_counts */
	const char *caveat; /* the reason why nothing is known; NULL: figures are known */
	uint32_t first, n; /* the function's blocks are the N rows from index FIRST on */
};

struct analyze_blocks {
	enum profile_clock clock;
	vec_of(struct analyze_block, rows); /* sorted by function, context (sum first), address */
	vec_of(struct analyze_block_function, functions);
	struct alloc_texts texts; /* places, locations and bodies of ROWS */
};

void analyze_blocks_init(struct analyze_blocks *blocks, const struct profile *p);
void analyze_blocks_deinit(struct analyze_blocks *blocks);

/* Return copies of FUNCTION's N rows, sorted by falling instructions per call, for free(). */
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
 * Sum up the block counts of function number BLOCKS over all runs in CONTEXT, which may be ANALYZE_IN_ALL_CONTEXTS. Set COUNTS to
 * the sums, indexed by block. A sum is PROFILE_NOT_COUNTED if any run did not count the block. Set *RESIDUAL, unless NULL, to the
 * largest residual of the runs. Return the number of calls.
 */
uint64_t analyze_counted_sum(const struct analyze_counted *c, uint32_t blocks, uint32_t context,
			     uint64_t *counts, double *residual);

/* ---- loops in functions with counted blocks, and their mean trip counts over all runs ---- */

/* A loop in one context. A number is NAN if a count that it needs is missing. */
struct analyze_loop {
	const char *function, *context; /* CONTEXT "*": all contexts */
	/* BODY: the inlined body that has most of the loop; NULL: the function. LOCATION: the head's line there; NULL: unknown. */
	const char *location, *body;
	/* The condition for another iteration, as in the source; NULL: unknown. */
	const char *condition;
	double offset; /* from the function's entry to the loop's head */
	double trips; /* executions of the head per call */
	double insns_per_iteration; /* nested loops included */
	double insns_per_call;
};

struct analyze_loops {
	vec_of(struct analyze_loop, rows); /* sorted by function, context (the sum first) */
	struct alloc_texts texts;
};

/* Find the loops in P's functions with counted blocks. P must outlive LOOPS. */
void analyze_loops_init(struct analyze_loops *loops, const struct profile *p);
void analyze_loops_deinit(struct analyze_loops *loops);
