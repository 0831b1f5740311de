/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A function's blocks as plain numbers: what counting them and finding loops needs of a kernel_flow,
 * or of a profile.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct kernel_flow;

#define KERNEL_GRAPH_OUT UINT32_MAX /* out of the function */
#define KERNEL_GRAPH_ANY (UINT32_MAX - 1) /* to any block or out: an unresolved jump */
/* Larger functions are refused: some of the work grows with the square. */
#define KERNEL_GRAPH_MAX 20000

struct kernel_arc {
	uint32_t from, to;
};

struct kernel_graph {
	uint32_t n_blocks, entry;
	struct kernel_arc *arcs; /* by FROM */
	uint32_t n_arcs, cap_arcs;
};

/* The graph of FLOW's reached blocks, which keep their numbers. -E2BIG above KERNEL_GRAPH_MAX. */
int kernel_graph_of(const struct kernel_flow *flow, struct kernel_graph *out);
void kernel_graph_clear(struct kernel_graph *graph);

/*
 * The arcs by the block that they lead to (TO) or come from: those of block b are (*SORTED)[first[b]] up to
 * first[b + 1], where first is what is returned; both for free(). Arcs out of the function lead to none.
 */
uint32_t *kernel_graph_index(const struct kernel_graph *graph, bool to, uint32_t **sorted);
