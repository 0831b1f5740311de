// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/cfg/graph.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "kernel/code/flow.h"

static bool find_arc(const struct kernel_arc *arcs, uint32_t n, const struct kernel_arc *arc)
{
	for (uint32_t i = 0; i < n; i++)
		if (arcs[i].from == arc->from && arcs[i].to == arc->to)
			return true;
	return false;
}

int kernel_graph_of(const struct kernel_flow *flow, struct kernel_graph *out)
{
	uint32_t n_edges;
	const struct kernel_edge *edges = kernel_flow_edges(flow, &n_edges);

	memset(out, 0, sizeof(*out));
	kernel_flow_blocks(flow, &out->n_blocks);
	out->entry = kernel_flow_block_at(flow, kernel_flow_entry(flow));
	if (out->n_blocks > KERNEL_GRAPH_MAX)
		return -E2BIG;
	for (uint32_t i = 0; i < n_edges; i++) {
		struct kernel_arc arc = { edges[i].from, edges[i].to };
		uint32_t same = 0;

		if (edges[i].kind == KERNEL_EDGE_UNRESOLVED)
			arc.to = KERNEL_GRAPH_ANY;
		else if (arc.to == KERNEL_FLOW_OUT)
			arc.to = KERNEL_GRAPH_OUT;
		/* Two edges to one block, such as a jump to what follows, are told apart by nothing. */
		while (same < out->n_arcs && out->arcs[out->n_arcs - 1 - same].from == arc.from)
			same++;
		if (!find_arc(out->arcs + (out->n_arcs - same), same, &arc))
			vec_push(out, arcs, arc);
	}
	return 0;
}

void kernel_graph_clear(struct kernel_graph *graph)
{
	free(graph->arcs);
	memset(graph, 0, sizeof(*graph));
}

uint32_t *kernel_graph_index(const struct kernel_graph *g, bool to, uint32_t **sorted)
{
	uint32_t *first = alloc_array((size_t)g->n_blocks + 2, sizeof(*first));

	*sorted = alloc_array(g->n_arcs, sizeof(**sorted));
	for (uint32_t i = 0; i < g->n_arcs; i++) {
		uint32_t b = to ? g->arcs[i].to : g->arcs[i].from;

		if (b < g->n_blocks)
			first[b + 2]++;
	}
	for (uint32_t b = 0; b < g->n_blocks; b++)
		first[b + 2] += first[b + 1];
	for (uint32_t i = 0; i < g->n_arcs; i++) {
		uint32_t b = to ? g->arcs[i].to : g->arcs[i].from;

		if (b < g->n_blocks)
			(*sorted)[first[b + 1]++] = i;
	}
	return first;
}
