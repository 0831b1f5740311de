/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The loops of a function's graph: natural loops, those with one head that each turn passes. A
 * cycle with several heads (a goto into a loop) is none.
 */
#ifndef KPROTPERF_SYMBOL_LOOPS_H
#define KPROTPERF_SYMBOL_LOOPS_H

#include <stdbool.h>
#include <stdint.h>

#include "symbol/graph.h"

#define SYMBOL_LOOP_NONE UINT32_MAX

struct symbol_loop {
	uint32_t head; /* block */
	uint32_t parent; /* the loop around it, or SYMBOL_LOOP_NONE */
	uint32_t depth; /* 1: no loop around it */
	uint32_t n_blocks; /* with those of loops within */
};

struct symbol_loops {
	struct symbol_loop *loops; /* from small to large: a loop comes before those around it */
	uint32_t n_loops, cap_loops;
	uint32_t *innermost; /* of each block: the smallest loop it is in, or SYMBOL_LOOP_NONE */
	bool other_cycles; /* there are cycles that are no natural loops */
};

void symbol_loops_find(const struct symbol_graph *graph, struct symbol_loops *out);
void symbol_loops_clear(struct symbol_loops *loops);

/* Is BLOCK in LOOP, or in one within it? */
bool symbol_loop_has(const struct symbol_loops *loops, uint32_t loop, uint32_t block);
/* How many loops BLOCK is in. */
uint32_t symbol_loop_depth(const struct symbol_loops *loops, uint32_t block);
/* Does the arc end a turn of a loop: does it lead from within to the head? */
bool symbol_loop_turns(const struct symbol_loops *loops, const struct symbol_arc *arc);

#endif
