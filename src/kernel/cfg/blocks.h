/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Count how often each block of a function is executed, with few probes: execution leaves each block as often as it enters it, so
 * most counts follow from others. The blocks to count are chosen as in Knuth's and Stevenson's "Optimal measurement points for
 * program frequency counts" (BIT 13, 1973).
 *
 * The code assumes that calls return, and that each execution of the function begins at its entry and ends in a return, a tail
 * jump, or a block that never returns (BUG).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"
#include "kernel/code/flow_function.h"
#include "kernel/cfg/graph.h"

#define KERNEL_COST_NEVER UINT64_MAX /* the block cannot be probed */

/*
 * Choose blocks whose counts determine all other counts, with the smallest sum of COSTS. A block's cost is the expected number of
 * its executions times the cost of a probe hit. CALLS_KNOWN: calls of the function are counted too. Set MEASURE[block] to true for
 * chosen blocks, else to false. Return the number of blocks whose counts stay unknown because too many blocks cannot be probed.
 */
uint32_t kernel_blocks_choose(const struct kernel_graph *graph, const uint64_t *costs,
			      bool calls_known, bool *measure);

#define KERNEL_COUNT_UNKNOWN INT64_MIN

/* Counts of a function's calls, blocks and arcs; KERNEL_COUNT_UNKNOWN: the count does not follow from measured counts. */
struct kernel_counts {
	int64_t calls;
	int64_t *blocks; /* indexed by block */
	int64_t *arcs; /* indexed by arc of the graph */
	/*
	 * The largest difference between (sums of) measured counts that should be equal. Lost events cause such differences, as do
	 * calls that are open when counting begins or ends. If no more than the chosen blocks are counted, there is nothing to
	 * compare: then 0 proves nothing.
	 */
	uint64_t residual;
	uint32_t n_negative; /* number of derived counts below 0, which must be wrong */
};

/* Derive all counts from MEASURED (indexed by block) and CALLS. An input that is KERNEL_COUNT_UNKNOWN or above 2^62 is unknown. */
void kernel_blocks_solve(const struct kernel_graph *graph, const int64_t *measured, int64_t calls,
			 struct kernel_counts *out);
void kernel_counts_clear(struct kernel_counts *counts);

struct kernel_block_probe {
	uint32_t block;
	uint64_t addr; /* address of the instruction to probe */
	uint32_t optimizes; /* return value of kernel_flow_optimizes() for ADDR */
};

struct kernel_block_plan {
	struct kernel_graph graph;
	vec_of(struct kernel_block_probe, probes); /* sorted by block */
	uint32_t n_blocks; /* number of blocks that execution can reach */
	uint32_t n_unknown; /* number of blocks whose counts cannot be derived */
};

/* Choose the blocks of FLOW to probe. Calls must be counted, too. BLACKLISTED may be NULL. Return -E2BIG if FLOW is too large. */
int kernel_blocks_plan(const struct kernel_flow *flow, kernel_blacklisted_fn blacklisted, void *arg,
		       struct kernel_block_plan *out);
void kernel_block_plan_clear(struct kernel_block_plan *plan);
