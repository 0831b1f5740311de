/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A function's blocks as plain numbers: what counting them and finding loops needs of a symbol_flow,
 * or of a profile.
 */
#ifndef KPROTPERF_SYMBOL_GRAPH_H
#define KPROTPERF_SYMBOL_GRAPH_H

#include <stdint.h>

#define SYMBOL_GRAPH_OUT UINT32_MAX /* out of the function */
#define SYMBOL_GRAPH_ANY (UINT32_MAX - 1) /* to any block or out: an unresolved jump */
/* Larger functions are refused: some of the work grows with the square. */
#define SYMBOL_GRAPH_MAX 20000

struct symbol_arc {
	uint32_t from, to;
};

struct symbol_graph {
	uint32_t n_blocks, entry;
	struct symbol_arc *arcs; /* by FROM */
	uint32_t n_arcs, cap_arcs;
};

#endif
