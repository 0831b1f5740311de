/* SPDX-License-Identifier: GPL-2.0-or-later */
/* List how often calls execute each basic block of a function, how many instructions they execute, and their loops. */
#pragma once

#include "analyze/figures/table.h"
#include "base/alloc.h"
#include "base/sorted.h"
#include "kernel/cfg/blocks.h"
#include "profile/profile.h"

/* One basic block of a function, with sums over the calls in one context (a system call or interrupt). NAN: unknown. */
struct analyze_block {
	const char *function, *context; /* CONTEXT may be ANALYZE_ALL_CONTEXTS */
	const char *place; /* offset from the function's entry, such as "+0x1f4" or "-0x1f4" */
	const char *location; /* line of its first instruction, as "mm/slub.c:1905", or NULL */
	/* The inlined functions that contain the block, innermost first, such as "new_slab < allocate_slab". NULL: none. */
	const char *body;
	double offset, bytes, insns;
	double executions, per_call;
	double insns_per_call; /* PER_CALL times INSNS */
	double share; /* fraction of the function's executed instructions */
};

/* One function, for calls in one context (a system call or interrupt). */
struct analyze_block_function {
	const char *function, *context;
	double calls;
	double blocks; /* number of reachable blocks */
	double unknown; /* number of blocks with unknown counts, not in INSNS_PER_CALL */
	double insns_per_call;
	double residual; /* largest difference between counts of a run that should be equal */
	const char *caveat; /* reason why the function has no counts, or NULL */
	uint32_t first, n; /* the function's blocks are ROWS[FIRST] to ROWS[FIRST + N - 1] */
};

struct analyze_blocks {
	enum profile_clock clock;
	vec_of(struct analyze_block, rows); /* sorted by function, context, address */
	vec_of(struct analyze_block_function, functions);
	struct alloc_texts texts; /* owns the strings of ROWS */
};

void analyze_blocks_init(struct analyze_blocks *blocks, const struct profile *p);
void analyze_blocks_deinit(struct analyze_blocks *blocks);

/* Return a copy of FUNCTION's N rows for free(), sorted by instructions per call, largest first. */
struct analyze_block *analyze_blocks_hottest(const struct analyze_blocks *blocks,
					     const struct analyze_block_function *function);

#define ANALYZE_IN_ALL_CONTEXTS UINT32_MAX

/* The block counts of P, grouped by function and context. */
struct analyze_counted {
	const struct profile *p;
	struct pointers counts;
};

void analyze_counted_init(struct analyze_counted *c, const struct profile *p);
void analyze_counted_deinit(struct analyze_counted *c);

/*
 * Sum up a function's block counts over all runs in CONTEXT, which may be ANALYZE_IN_ALL_CONTEXTS. BLOCKS is the index of the
 * function's blocks in the profile. Set COUNTS to the sums, indexed by block; PROFILE_NOT_COUNTED: a run did not count the block.
 * Set *RESIDUAL (unless NULL) to the largest difference between counts of a run that should be equal. Return the number of calls.
 */
uint64_t analyze_counted_sum(const struct analyze_counted *c, uint32_t blocks, uint32_t context,
			     uint64_t *counts, double *residual);

/* A loop of a function, with means over the calls in one context. NAN: a block of the loop was not counted. */
struct analyze_loop {
	const char *function, *context; /* CONTEXT "*": all contexts */
	/* LOCATION: line of the loop's head. BODY: the inlined function that contains most of the loop; NULL: none. */
	const char *location, *body;
	/* The source's condition for another iteration, such as "i < n", or NULL if it is unknown. */
	const char *condition;
	double offset; /* bytes from the function's entry to the loop's head */
	double trips; /* executions of the loop's head per call */
	double insns_per_iteration; /* includes nested loops */
	double insns_per_call;
};

struct analyze_loops {
	vec_of(struct analyze_loop, rows); /* sorted by function, then context */
	struct alloc_texts texts;
};

/* Find the loops of all functions with counted blocks. P must outlive LOOPS. */
void analyze_loops_init(struct analyze_loops *loops, const struct profile *p);
void analyze_loops_deinit(struct analyze_loops *loops);
