// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Choosing the blocks to count, and deriving the others' counts, in the graph that nodes.h describes.
 */
#include "kernel/cfg/blocks.h"

#include <string.h>

#include "base/alloc.h"
#include "base/sorted.h"
#include "kernel/cfg/nodes.h"

#define MAX_COUNT ((int64_t)1 << 62)

/* --- choosing ------------------------------------------------------------------------------- */

struct by_cost {
	uint32_t edge;
	uint64_t cost;
};

/* The most expensive first: what is on the tree is not measured. */
define_compare(compare_cost, struct by_cost,
	       compare_values(b->cost, a->cost) ?: compare_values(a->edge, b->edge));

uint32_t kernel_blocks_choose(const struct kernel_graph *graph, const uint64_t *costs,
			      bool calls_known, bool *measure)
{
	scoped_free struct by_cost *order;
	scoped(flow_nodes_clear) struct flow_nodes j;
	uint32_t n = 0, unknown = 0, *tree;
	scoped_free bool *known, *bridge;

	flow_nodes_init(&j, graph);
	order = alloc_array(j.n_edges, sizeof(*order));
	tree = alloc_array(j.n_ports, sizeof(*tree));
	known = alloc_array(j.n_edges, sizeof(*known));
	bridge = alloc_array(j.n_edges, sizeof(*bridge));
	memset(measure, 0, graph->n_blocks * sizeof(*measure));
	for (uint32_t i = 0; i < j.n_ports; i++)
		tree[i] = i;
	for (uint32_t e = 0; e < j.n_edges; e++) {
		uint64_t cost = e < graph->n_blocks ? costs[e] : KERNEL_COST_NEVER;

		if (e == graph->n_blocks && calls_known)
			known[e] = true;
		else if (j.exists[e])
			order[n++] = (struct by_cost){ e, cost };
	}
	sort_array(order, n, sizeof(*order), compare_cost);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t e = order[i].edge;

		if (union_find_join(tree, flow_nodes_tail(&j, e), flow_nodes_head(&j, e)) ||
		    order[i].cost == KERNEL_COST_NEVER)
			continue;
		measure[e] = known[e] = true;
	}
	flow_nodes_bridges(&j, known, bridge);
	for (uint32_t e = 0; e < graph->n_blocks; e++)
		unknown += j.exists[e] && !known[e] && !bridge[e];
	free(tree);
	return unknown;
}

/* --- solving -------------------------------------------------------------------------------- */

struct solver {
	uint32_t n_nodes, n_edges;
	const uint32_t *tail, *head; /* by edge; KERNEL_NO_EDGE: the edge is not there */
	int64_t *value; /* by edge */
	/* Known flow out of a node less that into it. */
	__int128 *excess;
	uint32_t *open; /* by node: how many unknown edges are at it */
	uint32_t *mixed; /* by node: the exclusive or of their numbers, which tells a last one */
	uint32_t *stack, n_stack;
	uint64_t residual;
};

static void settle(struct solver *s, uint32_t edge, __int128 value)
{
	if (value > MAX_COUNT || value < -MAX_COUNT)
		value = value < 0 ? -MAX_COUNT : MAX_COUNT;
	s->value[edge] = (int64_t)value;
	s->excess[s->tail[edge]] += value;
	s->excess[s->head[edge]] -= value;
}

static void close_edge(struct solver *s, uint32_t node, uint32_t edge)
{
	s->open[node]--;
	s->mixed[node] ^= edge;
	if (s->open[node] == 1)
		s->stack[s->n_stack++] = node;
}

/*
 * Finds the values of unknown edges that are the last unknown one at a node. Edges from a node to
 * itself must not be among them.
 */
static void solve(struct solver *s)
{
	for (uint32_t e = 0; e < s->n_edges; e++) {
		if (s->tail[e] == KERNEL_NO_EDGE)
			continue;
		if (s->value[e] != KERNEL_COUNT_UNKNOWN) {
			settle(s, e, s->value[e]);
			continue;
		}
		s->open[s->tail[e]]++;
		s->open[s->head[e]]++;
		s->mixed[s->tail[e]] ^= e;
		s->mixed[s->head[e]] ^= e;
	}
	for (uint32_t n = 0; n < s->n_nodes; n++)
		if (s->open[n] == 1)
			s->stack[s->n_stack++] = n;
	while (s->n_stack) {
		uint32_t node = s->stack[--s->n_stack], e = s->mixed[node];

		if (s->open[node] != 1)
			continue;
		settle(s, e, s->tail[e] == node ? -s->excess[node] : s->excess[node]);
		close_edge(s, s->tail[e], e);
		close_edge(s, s->head[e], e);
	}
	for (uint32_t n = 0; n < s->n_nodes; n++) {
		__int128 off = s->excess[n] < 0 ? -s->excess[n] : s->excess[n];

		if (!s->open[n] && off > s->residual)
			s->residual = off > MAX_COUNT ? (uint64_t)MAX_COUNT : (uint64_t)off;
	}
}

static void solver_init(struct solver *s, uint32_t n_nodes, uint32_t n_edges)
{
	memset(s, 0, sizeof(*s));
	s->n_nodes = n_nodes;
	s->n_edges = n_edges;
	s->excess = alloc_array(n_nodes, sizeof(*s->excess));
	s->open = alloc_array(n_nodes, sizeof(*s->open));
	s->mixed = alloc_array(n_nodes, sizeof(*s->mixed));
	/* A node is put there at the beginning, and once when one edge is left. */
	s->stack = alloc_array((size_t)n_nodes * 2, sizeof(*s->stack));
}

static void solver_clear(struct solver *s)
{
	free(s->excess);
	free(s->open);
	free(s->mixed);
	free(s->stack);
}

/*
 * Nodes that unknown edges connect in more than one way are one node: those edges do not follow,
 * and within it they cancel out. The other unknown edges form trees.
 */
static uint64_t solve_blocks(const struct flow_nodes *j, int64_t *value)
{
	scoped_free bool *known = alloc_array(j->n_edges, sizeof(*known));
	scoped_free bool *bridge = alloc_array(j->n_edges, sizeof(*bridge));
	scoped_free uint32_t *node = alloc_array(j->n_ports, sizeof(*node));
	scoped_free uint32_t *from = alloc_array(j->n_edges, sizeof(*from));
	scoped_free uint32_t *to = alloc_array(j->n_edges, sizeof(*to));
	struct solver s;

	for (uint32_t e = 0; e < j->n_edges; e++)
		known[e] = value[e] != KERNEL_COUNT_UNKNOWN;
	flow_nodes_bridges(j, known, bridge);
	for (uint32_t p = 0; p < j->n_ports; p++)
		node[p] = p;
	for (uint32_t e = 0; e < j->n_edges; e++)
		if (j->exists[e] && !known[e] && !bridge[e])
			union_find_join(node, flow_nodes_tail(j, e), flow_nodes_head(j, e));
	for (uint32_t e = 0; e < j->n_edges; e++) {
		bool there = j->exists[e] && (known[e] || bridge[e]);

		from[e] = there ? union_find_root(node, flow_nodes_tail(j, e)) : KERNEL_NO_EDGE;
		to[e] = there ? union_find_root(node, flow_nodes_head(j, e)) : KERNEL_NO_EDGE;
	}
	solver_init(&s, j->n_ports, j->n_edges);
	s.tail = from;
	s.head = to;
	s.value = value;
	solve(&s);
	solver_clear(&s);
	return s.residual;
}

/* The node of an arc's end among ports; to anywhere there is none. */
static uint32_t arc_end(const struct kernel_graph *g, uint32_t to)
{
	if (to == KERNEL_GRAPH_ANY)
		return KERNEL_NO_EDGE;
	return flow_nodes_in_port(to == KERNEL_GRAPH_OUT ? g->n_blocks : to);
}

/*
 * Arcs: the ports are nodes now, arcs the unknown edges between them, blocks' counts known. Where a
 * block's count is unknown, or an arc may lead anywhere, the port says nothing.
 */
static uint64_t solve_arcs(const struct kernel_graph *g, const int64_t *blocks, int64_t *arcs)
{
	uint32_t n_ports = 2 * (g->n_blocks + 1), n_edges = g->n_arcs + n_ports + 1;
	uint32_t *from = alloc_array(n_edges, sizeof(*from)), nowhere = n_ports;
	scoped_free uint32_t *to = alloc_array(n_edges, sizeof(*to));
	scoped_free int64_t *value = alloc_array(n_edges, sizeof(*value));
	bool any = false;
	struct solver s;

	solver_init(&s, n_ports + 1, n_edges);
	for (uint32_t i = 0; i < g->n_arcs; i++) {
		from[i] = flow_nodes_out_port(g->arcs[i].from);
		to[i] = arc_end(g, g->arcs[i].to);
		value[i] = KERNEL_COUNT_UNKNOWN;
		if (to[i] == KERNEL_NO_EDGE) {
			to[i] = nowhere;
			any = true;
		}
	}
	/* Each port gets or gives its block's count; two unknown ones keep a port from being solved. */
	for (uint32_t p = 0; p < n_ports; p++) {
		uint32_t e = g->n_arcs + p;

		value[e] = blocks[p / 2];
		from[e] = p & 1 ? nowhere : p;
		to[e] = p & 1 ? p : nowhere;
	}
	/* The edge from the calls to the entry is no arc of the graph. */
	from[n_edges - 1] =
		g->entry < g->n_blocks ? flow_nodes_out_port(g->n_blocks) : KERNEL_NO_EDGE;
	to[n_edges - 1] = flow_nodes_in_port(g->entry < g->n_blocks ? g->entry : 0);
	value[n_edges - 1] = KERNEL_COUNT_UNKNOWN;
	s.tail = from;
	s.head = to;
	s.value = value;
	/* Nothing follows from this node: it stands for whatever is not modelled. */
	s.open[nowhere] = 2;
	/* Nor from how a block was entered where a jump may have led there. */
	for (uint32_t b = 0; any && b <= g->n_blocks; b++)
		s.open[flow_nodes_in_port(b)] = 2;
	solve(&s);
	memcpy(arcs, value, g->n_arcs * sizeof(*arcs));
	solver_clear(&s);
	free(from);
	return s.residual;
}

void kernel_blocks_solve(const struct kernel_graph *graph, const int64_t *measured, int64_t calls,
			 struct kernel_counts *out)
{
	scoped(flow_nodes_clear) struct flow_nodes j;
	scoped_free int64_t *value;

	flow_nodes_init(&j, graph);
	value = alloc_array(j.n_edges, sizeof(*value));
	for (uint32_t e = 0; e < j.n_edges; e++) {
		value[e] = e < graph->n_blocks ? measured[e] : calls;
		if (value[e] > MAX_COUNT || value[e] < 0)
			value[e] = KERNEL_COUNT_UNKNOWN;
	}
	memset(out, 0, sizeof(*out));
	out->residual = solve_blocks(&j, value);
	out->blocks = alloc_array(graph->n_blocks, sizeof(*out->blocks));
	memcpy(out->blocks, value, graph->n_blocks * sizeof(*value));
	out->calls = value[graph->n_blocks];
	out->arcs = alloc_array(graph->n_arcs, sizeof(*out->arcs));
	solve_arcs(graph, value, out->arcs);
	for (uint32_t b = 0; b < graph->n_blocks; b++)
		out->n_negative += value[b] < 0 && value[b] != KERNEL_COUNT_UNKNOWN;
	for (uint32_t a = 0; a < graph->n_arcs; a++)
		out->n_negative += out->arcs[a] < 0 && out->arcs[a] != KERNEL_COUNT_UNKNOWN;
}

void kernel_counts_clear(struct kernel_counts *counts)
{
	free(counts->blocks);
	free(counts->arcs);
	memset(counts, 0, sizeof(*counts));
}
