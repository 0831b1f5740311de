/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counting how often each block of a function is executed with few probes: what enters a block
 * leaves it, so most counts follow from others. Which blocks to count is Knuth's and Stevenson's
 * "Optimal measurement points for program frequency counts" (BIT 13, 1973).
 *
 * Calls are taken to return, and each call of the function to begin at its entry and to end in a
 * return, a tail jump, or a block that stops it (BUG).
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"
#include "kernel/code/flow_function.h"
#include "kernel/cfg/graph.h"

#define KERNEL_COST_NEVER UINT64_MAX /* the block cannot be probed */

/*
 * Chooses blocks, such that the counts of all others follow from theirs, and that the sum of their
 * COSTS (how often a block is expected to be executed, times what a hit costs) is the least possible.
 * CALLS_KNOWN: the number of calls is counted besides. MEASURE[block] says which are chosen. Returns
 * how many blocks stay unknown, because too many cannot be probed.
 */
uint32_t kernel_blocks_choose(const struct kernel_graph *graph, const uint64_t *costs,
			      bool calls_known, bool *measure);

#define KERNEL_COUNT_UNKNOWN INT64_MIN

/* All counts; KERNEL_COUNT_UNKNOWN if a count does not follow from the measured ones. */
struct kernel_counts {
	int64_t calls;
	int64_t *blocks; /* indexed by block */
	int64_t *arcs; /* indexed by arc of the graph */
	/*
	 * The largest contradiction between measured counts: by calls that had begun or had not ended
	 * during counting, and by lost events. 0 says little if only the needed blocks were
	 * counted.
	 */
	uint64_t residual;
	uint32_t n_negative; /* number of counts below 0, which cannot be right */
};

/*
 * Deduces all counts from MEASURED[block] and CALLS, either of which may be KERNEL_COUNT_UNKNOWN.
 * Counts beyond 2^62 are taken as unknown.
 */
void kernel_blocks_solve(const struct kernel_graph *graph, const int64_t *measured, int64_t calls,
			 struct kernel_counts *out);
void kernel_counts_clear(struct kernel_counts *counts);

/*
 * A plan for one function.
 */

struct kernel_block_probe {
	uint32_t block;
	uint64_t addr; /* an instruction of the block, its first where that can be probed */
	uint32_t optimizes; /* return value of kernel_flow_optimizes() */
};

struct kernel_block_plan {
	struct kernel_graph graph;
	vec_of(struct kernel_block_probe, probes); /* sorted by block */
	uint32_t n_blocks; /* number of reached blocks */
	uint32_t n_unknown; /* blocks whose counts will stay unknown */
};

/* Make a plan, given that the function's calls are counted too. BLACKLISTED may be NULL. -E2BIG: the function is too large. */
int kernel_blocks_plan(const struct kernel_flow *flow, kernel_blacklisted_fn blacklisted, void *arg,
		       struct kernel_block_plan *out);
void kernel_block_plan_clear(struct kernel_block_plan *plan);
