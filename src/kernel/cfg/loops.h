/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The loops of a function's graph: natural loops, those with one head that each iteration passes. A
 * cycle with several heads (a goto into a loop) is none.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "kernel/cfg/graph.h"

#define KERNEL_LOOP_NONE UINT32_MAX

struct kernel_loop {
	uint32_t head; /* block */
	uint32_t parent; /* the loop around it, or KERNEL_LOOP_NONE */
	uint32_t depth; /* 1: no loop around it */
	uint32_t n_blocks; /* with those of loops within */
};

struct kernel_loops {
	struct kernel_loop *loops; /* from small to large: a loop comes before those around it */
	uint32_t n_loops, cap_loops;
	uint32_t *innermost; /* of each block: the smallest loop it is in, or KERNEL_LOOP_NONE */
	bool other_cycles; /* there are cycles that are no natural loops */
};

void kernel_loops_find(const struct kernel_graph *graph, struct kernel_loops *out);
void kernel_loops_clear(struct kernel_loops *loops);

/* Is BLOCK in LOOP, or in one within it? */
bool kernel_loop_has(const struct kernel_loops *loops, uint32_t loop, uint32_t block);
/* How many loops BLOCK is in. */
uint32_t kernel_loop_depth(const struct kernel_loops *loops, uint32_t block);
