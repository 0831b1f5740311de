// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/cfg/nodes.h"

#include <string.h>

#include "base/alloc.h"

uint32_t union_find_root(uint32_t *root, uint32_t i)
{
	while (root[i] != i)
		i = root[i] = root[root[i]];
	return i;
}

bool union_find_join(uint32_t *root, uint32_t a, uint32_t b)
{
	a = union_find_root(root, a);
	b = union_find_root(root, b);
	if (a == b)
		return false;
	root[a > b ? a : b] = a > b ? b : a;
	return true;
}

static void connect(struct flow_nodes *j, uint32_t from, uint32_t to)
{
	union_find_join(j->root, flow_nodes_out_port(from), flow_nodes_in_port(to));
	j->exists[from] = j->exists[to] = true;
}

/* A jump that may lead anywhere. */
static void connect_any(struct flow_nodes *j, uint32_t from)
{
	const struct kernel_graph *g = j->graph;

	connect(j, from, g->n_blocks);
	for (uint32_t i = 0; i < g->n_arcs; i++)
		connect(j, from, g->arcs[i].from);
}

void flow_nodes_init(struct flow_nodes *j, const struct kernel_graph *g)
{
	j->graph = g;
	j->n_edges = g->n_blocks + 1;
	j->n_ports = 2 * j->n_edges;
	j->root = alloc_array(j->n_ports, sizeof(*j->root));
	j->exists = alloc_array(j->n_edges, sizeof(*j->exists));
	for (uint32_t i = 0; i < j->n_ports; i++)
		j->root[i] = i;
	if (g->entry < g->n_blocks)
		connect(j, g->n_blocks, g->entry);
	vec_each(const struct kernel_arc, a, g, arcs) {
		if (a->to == KERNEL_GRAPH_ANY)
			connect_any(j, a->from);
		else
			connect(j, a->from, a->to == KERNEL_GRAPH_OUT ? g->n_blocks : a->to);
	}
	for (uint32_t i = 0; i < j->n_ports; i++)
		union_find_root(j->root, i);
	for (uint32_t i = 0; i < j->n_ports; i++)
		j->root[i] = union_find_root(j->root, i);
}

void flow_nodes_clear(struct flow_nodes *j)
{
	free(j->root);
	free(j->exists);
}

/* --- bridges -------------------------------------------------------------------------------- */

struct bridges {
	const struct flow_nodes *j;
	const bool *known;
	uint32_t *first, *arcs; /* of each node: the unknown edges at it */
	uint32_t *entered, *low; /* depth first: when a node was come to, and how far up it sees */
	uint32_t now;
	bool *bridge; /* by edge */
};

static void list_unknown(struct bridges *b)
{
	const struct flow_nodes *j = b->j;

	b->first = alloc_array((size_t)j->n_ports + 2, sizeof(*b->first));
	b->arcs = alloc_array((size_t)j->n_edges * 2, sizeof(*b->arcs));
	for (uint32_t e = 0; e < j->n_edges; e++) {
		if (b->known[e] || !j->exists[e])
			continue;
		b->first[flow_nodes_tail(j, e) + 2]++;
		b->first[flow_nodes_head(j, e) + 2]++;
	}
	for (uint32_t p = 0; p < j->n_ports; p++)
		b->first[p + 2] += b->first[p + 1];
	for (uint32_t e = 0; e < j->n_edges; e++) {
		if (b->known[e] || !j->exists[e])
			continue;
		b->arcs[b->first[flow_nodes_tail(j, e) + 1]++] = e;
		b->arcs[b->first[flow_nodes_head(j, e) + 1]++] = e;
	}
}

static uint32_t other_end(const struct flow_nodes *j, uint32_t edge, uint32_t node)
{
	return flow_nodes_tail(j, edge) == node ? flow_nodes_head(j, edge) :
						  flow_nodes_tail(j, edge);
}

/* Without recursion: graphs can be deep. */
static void search_from(struct bridges *b, uint32_t start, uint32_t *stack, uint32_t *via,
			uint32_t *next)
{
	uint32_t n = 0;

	stack[n] = start;
	via[n] = KERNEL_NO_EDGE;
	n++;
	b->entered[start] = b->low[start] = ++b->now;
	next[start] = b->first[start];
	while (n) {
		uint32_t at = stack[n - 1], by = via[n - 1], e, to;

		if (next[at] == b->first[at + 1]) {
			n--;
			if (n && b->low[at] < b->low[stack[n - 1]])
				b->low[stack[n - 1]] = b->low[at];
			if (n && b->low[at] > b->entered[stack[n - 1]])
				b->bridge[by] = true;
			continue;
		}
		e = b->arcs[next[at]++];
		to = other_end(b->j, e, at);
		if (e == by || to == at)
			continue;
		if (b->entered[to]) {
			if (b->entered[to] < b->low[at])
				b->low[at] = b->entered[to];
			continue;
		}
		b->entered[to] = b->low[to] = ++b->now;
		next[to] = b->first[to];
		stack[n] = to;
		via[n] = e;
		n++;
	}
}

void flow_nodes_bridges(const struct flow_nodes *j, const bool *known, bool *bridge)
{
	struct bridges b = { .j = j, .known = known, .bridge = bridge };
	scoped_free uint32_t *stack = alloc_array(j->n_ports, sizeof(*stack));
	scoped_free uint32_t *via = alloc_array(j->n_ports, sizeof(*via));
	scoped_free uint32_t *next = alloc_array(j->n_ports, sizeof(*next));

	memset(bridge, 0, j->n_edges * sizeof(*bridge));
	list_unknown(&b);
	b.entered = alloc_array(j->n_ports, sizeof(*b.entered));
	b.low = alloc_array(j->n_ports, sizeof(*b.low));
	for (uint32_t p = 0; p < j->n_ports; p++)
		if (j->root[p] == p && !b.entered[p])
			search_from(&b, p, stack, via, next);
	free(b.first);
	free(b.arcs);
	free(b.entered);
	free(b.low);
}
