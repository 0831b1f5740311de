/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A function's blocks and arcs as plain numbers, from a kernel_flow or from a profile, for counting blocks and finding
 * loops.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/alloc.h"

struct kernel_flow;

#define KERNEL_GRAPH_OUT UINT32_MAX /* out of the function */
#define KERNEL_GRAPH_ANY (UINT32_MAX - 1) /* an unresolved jump: to any block, or out */
/* Maximum number of blocks. Some algorithms take time in proportion to its square. */
#define KERNEL_GRAPH_MAX 20000

struct kernel_arc {
	uint32_t from, to;
};

struct kernel_graph {
	uint32_t n_blocks, entry;
	vec_of(struct kernel_arc, arcs); /* sorted by FROM */
};

/* Set OUT to the graph of FLOW's reached blocks, which keep their numbers. Return -E2BIG above KERNEL_GRAPH_MAX. */
int kernel_graph_of(const struct kernel_flow *flow, struct kernel_graph *out);
void kernel_graph_clear(struct kernel_graph *graph);

/*
 * The loops of a function's graph. These are natural loops: a loop has one head, which each iteration passes. A cycle
 * with several heads (a goto into a loop) is not a loop.
 */

#define KERNEL_LOOP_NONE UINT32_MAX

struct kernel_loop {
	uint32_t head; /* block */
	uint32_t parent; /* the loop around it, or KERNEL_LOOP_NONE */
	uint32_t depth; /* 1: no loop around it */
	uint32_t n_blocks; /* including the blocks of inner loops */
};

struct kernel_loops {
	/* Sorted from small to large: an inner loop comes before the loops around it. */
	vec_of(struct kernel_loop, loops);
	uint32_t *innermost; /* indexed by block: its smallest loop, or KERNEL_LOOP_NONE */
	bool other_cycles; /* there are cycles that are not natural loops */
};

void kernel_loops_find(const struct kernel_graph *graph, struct kernel_loops *out);
void kernel_loops_clear(struct kernel_loops *loops);

/* Return whether BLOCK is in LOOP, or in one within it. */
bool kernel_loop_has(const struct kernel_loops *loops, uint32_t loop, uint32_t block);
/* Return the number of loops around BLOCK. */
uint32_t kernel_loop_depth(const struct kernel_loops *loops, uint32_t block);
