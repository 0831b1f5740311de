/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A graph of blocks seen from between them, where flow is conserved.
 *
 * Each block has an in-port and an out-port. An arc says that what leaves through the one out-port
 * goes in through the other in-port, so ports that arcs connect make a node: the sum of what
 * comes out of blocks into a node is the sum of what goes from it into blocks. Seen from the
 * nodes, blocks are the edges of a graph in which flow is conserved, and so are all calls
 * together, from the node of the returns to the one in front of the entry. In such a graph the
 * edges outside a spanning tree determine those on it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "kernel/cfg/graph.h"

#define KERNEL_NO_EDGE UINT32_MAX

/* The blocks of GRAPH and, behind them, one more edge: the calls. */
struct flow_nodes {
	const struct kernel_graph *graph;
	uint32_t n_edges; /* n_blocks + 1 */
	uint32_t n_ports; /* in-port of edge i is 2 i, its out-port 2 i + 1 */
	uint32_t *root; /* of each port, in the sense of union-find */
	bool *exists; /* edges that arcs or the entry have to do with */
};

static inline uint32_t flow_nodes_in_port(uint32_t edge)
{
	return 2 * edge;
}

static inline uint32_t flow_nodes_out_port(uint32_t edge)
{
	return 2 * edge + 1;
}

/* The nodes that an edge leads from and to. */
static inline uint32_t flow_nodes_tail(const struct flow_nodes *j, uint32_t edge)
{
	return j->root[flow_nodes_in_port(edge)];
}

static inline uint32_t flow_nodes_head(const struct flow_nodes *j, uint32_t edge)
{
	return j->root[flow_nodes_out_port(edge)];
}

/* GRAPH must outlive J. */
void flow_nodes_init(struct flow_nodes *j, const struct kernel_graph *graph);
void flow_nodes_clear(struct flow_nodes *j);

/*
 * Find the unknown edges that follow from the known ones: bridges among the unknown. KNOWN and BRIDGE
 * are by edge; the latter is filled.
 */
void flow_nodes_bridges(const struct flow_nodes *j, const bool *known, bool *bridge);

/* Union-find over an array in which each element is its own root at first. */
uint32_t union_find_root(uint32_t *root, uint32_t i);
/* False where A and B are one already. */
bool union_find_join(uint32_t *root, uint32_t a, uint32_t b);
