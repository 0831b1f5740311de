/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Executions of each basic block of a function, instructions per call, and loops. */
#pragma once

#include "analyze/figures/table.h"
#include "base/alloc.h"
#include "base/sorted.h"
#include "kernel/cfg/blocks.h"
#include "profile/profile.h"

/* One basic block of a function, for calls in one context (a system call or interrupt), over all runs. NAN: unknown. */
struct analyze_block {
	const char *function, *context; /* CONTEXT may be ANALYZE_ALL_CONTEXTS */
	const char *place; /* offset from the function's entry, such as "+0x1f4" or "-0x1f4" */
	const char *location; /* line of first instruction, such as "mm/slub.c:1905"; or NULL */
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
	double unknown; /* blocks with an unknown count; INSNS_PER_CALL excludes them */
	double insns_per_call;
	double residual; /* largest contradiction between block counts in a run, in executions */
	const char *caveat; /* reason why the function has no counts; NULL: it has counts */
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

/* Return a copy of FUNCTION's N rows, most instructions per call first. The caller frees the copy. */
struct analyze_block *analyze_blocks_hottest(const struct analyze_blocks *blocks,
					     const struct analyze_block_function *function);

#define ANALYZE_IN_ALL_CONTEXTS GROUPED_ALL

/* The block counts of P, grouped by function and context. */
struct analyze_counted {
	const struct profile *p;
	struct grouped counts;
};

void analyze_counted_init(struct analyze_counted *c, const struct profile *p);
void analyze_counted_deinit(struct analyze_counted *c);

/*
 * Sum up the block counts of function number BLOCKS over all runs in CONTEXT, which may be ANALYZE_IN_ALL_CONTEXTS. Set COUNTS to
 * the sums, indexed by block. A sum is PROFILE_NOT_COUNTED if any run did not count the block. Set *RESIDUAL (unless NULL) to the
 * largest contradiction between the counts of a run, in executions. Return the number of calls.
 */
uint64_t analyze_counted_sum(const struct analyze_counted *c, uint32_t blocks, uint32_t context,
			     uint64_t *counts, double *residual);

/* A loop of a function, for calls in one context. Means are over all runs. NAN: a block of the loop was not counted. */
struct analyze_loop {
	const char *function, *context; /* CONTEXT "*": all contexts */
	/* BODY: the inlined function that has most of the loop. NULL: not inlined. LOCATION: line of the loop's head. */
	const char *location, *body;
	/* The source's condition for another iteration, such as "i < n"; NULL: unknown. */
	const char *condition;
	double offset; /* from the function's entry to the loop's head */
	double trips; /* executions of the loop's head per call */
	double insns_per_iteration; /* nested loops included */
	double insns_per_call;
};

struct analyze_loops {
	vec_of(struct analyze_loop, rows); /* sorted by function, then context */
	struct alloc_texts texts;
};

/* Find the loops of all functions with counted blocks. P must outlive LOOPS. */
void analyze_loops_init(struct analyze_loops *loops, const struct profile *p);
void analyze_loops_deinit(struct analyze_loops *loops);
