/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Count how often each block of a function is executed, with few probes: execution leaves each block as often as it
 * enters it, so most counts follow from others. The blocks to count are chosen as in Knuth's and Stevenson's "Optimal
 * measurement points for program frequency counts" (BIT 13, 1973).
 *
 * The code assumes that calls return, and that each call of the function begins at its entry and ends in a return, a tail
 * jump, or a block that stops it (BUG).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"
#include "kernel/code/flow_function.h"
#include "kernel/cfg/graph.h"

#define KERNEL_COST_NEVER UINT64_MAX /* the block cannot be probed */

/*
 * Choose blocks whose counts determine all other counts, with the smallest sum of COSTS. A block's cost is the expected
 * number of its executions times the cost of a hit. CALLS_KNOWN: the number of calls is counted too. Set MEASURE[block]
 * to whether the block is chosen. Return the number of blocks that stay unknown because too many blocks cannot be probed.
 */
uint32_t kernel_blocks_choose(const struct kernel_graph *graph, const uint64_t *costs,
			      bool calls_known, bool *measure);

#define KERNEL_COUNT_UNKNOWN INT64_MIN

/* All counts. KERNEL_COUNT_UNKNOWN: the count does not follow from the measured ones. */
struct kernel_counts {
	int64_t calls;
	int64_t *blocks; /* indexed by block */
	int64_t *arcs; /* indexed by arc of the graph */
	/*
	 * The largest contradiction between measured counts. Its causes are lost events, and calls that began before or
	 * ended after the counting. If only the chosen blocks were counted, none can be found, and 0 proves nothing.
	 */
	uint64_t residual;
	uint32_t n_negative; /* number of counts below 0, which are wrong */
};

/* Derive all counts from MEASURED[block] and CALLS. Either may be KERNEL_COUNT_UNKNOWN. Counts above 2^62 are unknown too. */
void kernel_blocks_solve(const struct kernel_graph *graph, const int64_t *measured, int64_t calls,
			 struct kernel_counts *out);
void kernel_counts_clear(struct kernel_counts *counts);

/* A plan for one function. */

struct kernel_block_probe {
	uint32_t block;
	uint64_t addr; /* address of the instruction to probe */
	uint32_t optimizes; /* return value of kernel_flow_optimizes() */
};

struct kernel_block_plan {
	struct kernel_graph graph;
	vec_of(struct kernel_block_probe, probes); /* sorted by block */
	uint32_t n_blocks; /* number of reached blocks */
	uint32_t n_unknown; /* blocks whose counts will stay unknown */
};

/* Make a plan. The caller must count the function's calls too. BLACKLISTED may be NULL. -E2BIG: the function is too large. */
int kernel_blocks_plan(const struct kernel_flow *flow, kernel_blacklisted_fn blacklisted, void *arg,
		       struct kernel_block_plan *out);
void kernel_block_plan_clear(struct kernel_block_plan *plan);
