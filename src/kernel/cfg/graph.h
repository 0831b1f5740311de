/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The control flow graph of a function, made from its machine code (struct kernel_flow) or read from a recording. The graph is
 * used to count the executions of blocks and to find loops.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"

struct kernel_flow;

#define KERNEL_GRAPH_OUT UINT32_MAX /* the arc leads out of the function */
#define KERNEL_GRAPH_ANY (UINT32_MAX - 1) /* the jump's target is unknown, and may be any block */
/* Maximum number of blocks in a function. Some algorithms take time proportional to the square of this number. */
#define KERNEL_GRAPH_MAX 20000

struct kernel_arc {
	uint32_t from, to;
};

struct kernel_graph {
	uint32_t n_blocks, entry;
	vec_of(struct kernel_arc, arcs); /* sorted by source block */
};

/* Set OUT to the control flow graph of FLOW. Blocks keep their numbers. Return -E2BIG above KERNEL_GRAPH_MAX blocks. */
int kernel_graph_of(const struct kernel_flow *flow, struct kernel_graph *out);
void kernel_graph_clear(struct kernel_graph *graph);

/*
 * The natural loops of a function's graph. A natural loop has one head, a block that each iteration passes. A cycle with several
 * heads (a goto into a loop) is not a natural loop.
 */

#define KERNEL_LOOP_NONE UINT32_MAX

struct kernel_loop {
	uint32_t head; /* number of the block that each iteration passes */
	uint32_t parent; /* index of the smallest loop around this loop, or KERNEL_LOOP_NONE */
	uint32_t depth; /* 1: not inside another loop */
	uint32_t n_blocks; /* including the blocks of inner loops */
};

struct kernel_loops {
	/* Sorted by number of blocks: an inner loop comes before its outer loops. */
	vec_of(struct kernel_loop, loops);
	uint32_t *innermost; /* by block: smallest loop that has the block, or KERNEL_LOOP_NONE */
	bool other_cycles; /* the graph also has cycles that are not natural loops */
};

void kernel_loops_find(const struct kernel_graph *graph, struct kernel_loops *out);
void kernel_loops_clear(struct kernel_loops *loops);

/* Return whether BLOCK is in LOOP or in a loop nested in LOOP. */
bool kernel_loop_has(const struct kernel_loops *loops, uint32_t loop, uint32_t block);
uint32_t kernel_loop_depth(const struct kernel_loops *loops, uint32_t block);
