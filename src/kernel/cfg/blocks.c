// SPDX-License-Identifier: GPL-2.0-or-later
/* Choose the blocks of a function to count. Derive the counts of other blocks and of arcs, like the flow in a network. */
#include "kernel/cfg/blocks.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/alloc.h"
#include "base/hash.h"
#include "base/sorted.h"
#include "kernel/cfg/graph.h"

#define KERNEL_NO_NODE UINT32_MAX

/*
 * The flow network of a graph. Each block is an edge; the last edge stands for the function's callers. Both ends of an edge are
 * ports: edge I begins at in-port 2 * I and ends at out-port 2 * I + 1. A node is a set of ports that arcs join, so equal numbers
 * of executions enter and leave a node. A node's number is that of its lowest port.
 */
struct flow_nodes {
	uint32_t n_edges;
	uint32_t n_nodes; /* nodes have numbers below this one */
	/* Indexed by edge: its nodes. KERNEL_NO_NODE: ignore the edge, of a block that is not connected to any other. */
	uint32_t *tail, *head;
};

static inline uint32_t in_port(uint32_t edge)
{
	return 2 * edge;
}

static inline uint32_t out_port(uint32_t edge)
{
	return 2 * edge + 1;
}

/* Return N sets for the functions below: set I has only the element I. The caller frees them. */
static uint32_t *union_find_create(uint32_t n)
{
	uint32_t *root = alloc_array(n, sizeof(*root));

	for (uint32_t i = 0; i < n; i++)
		root[i] = i;
	return root;
}

/* Return the root of I's set. */
static uint32_t union_find_root(uint32_t *root, uint32_t i)
{
	while (root[i] != i)
		i = root[i] = root[root[i]];
	return i;
}

/* Unite the sets that contain A and B. Return false if A and B are in the same set already. */
static bool union_find_join(uint32_t *root, uint32_t a, uint32_t b)
{
	a = union_find_root(root, a);
	b = union_find_root(root, b);
	if (a == b)
		return false;
	root[a > b ? a : b] = a > b ? b : a;
	return true;
}

static void connect(struct flow_nodes *net, uint32_t *root, uint32_t from, uint32_t to)
{
	union_find_join(root, out_port(from), in_port(to));
	net->tail[from] = net->tail[to] = 0; /* any node: flow_nodes_init() finds the right one */
}

/* Block FROM ends in an unresolved jump. Connect it to the function's callers, and to each block that has an outgoing arc. */
static void connect_any(struct flow_nodes *net, uint32_t *root, const struct kernel_graph *g,
			uint32_t from)
{
	connect(net, root, from, g->n_blocks);
	for (uint32_t i = 0; i < g->n_arcs; i++)
		connect(net, root, from, g->arcs[i].from);
}

static void flow_nodes_init(struct flow_nodes *net, const struct kernel_graph *g)
{
	uint32_t n = g->n_blocks + 1, *root = union_find_create(2 * n);

	*net = (struct flow_nodes){ .n_edges = n, .n_nodes = 2 * n };
	net->tail = alloc_array(n, sizeof(*net->tail));
	net->head = alloc_array(n, sizeof(*net->head));
	memset(net->tail, 0xff, n * sizeof(*net->tail));
	if (g->entry < g->n_blocks)
		connect(net, root, g->n_blocks, g->entry);
	vec_each(const struct kernel_arc, a, g, arcs) {
		if (a->to == KERNEL_GRAPH_ANY)
			connect_any(net, root, g, a->from);
		else
			connect(net, root, a->from,
				a->to == KERNEL_GRAPH_OUT ? g->n_blocks : a->to);
	}
	for (uint32_t e = 0; e < n; e++) {
		if (net->tail[e] != KERNEL_NO_NODE)
			net->tail[e] = union_find_root(root, in_port(e));
		net->head[e] = union_find_root(root, out_port(e));
	}
	free(root);
}

static void flow_nodes_clear(struct flow_nodes *net)
{
	free(net->tail);
	free(net->head);
}

#define MAX_COUNT ((int64_t)1 << 62)

struct solver {
	const struct flow_nodes *net;
	int64_t *value; /* indexed by edge: the edge's count, or KERNEL_COUNT_UNKNOWN */
	/* Indexed by node: sum of the known counts of edges that leave the node, minus those of edges that enter it. */
	__int128 *excess;
	uint32_t *open; /* indexed by node: number of its edges with unknown counts */
	uint32_t *mixed; /* indexed by node: XOR of the numbers of these edges */
	uint32_t *stack, n_stack;
	uint64_t residual;
};

static void settle(struct solver *s, uint32_t edge, __int128 value)
{
	if (value > MAX_COUNT || value < -MAX_COUNT)
		value = value < 0 ? -MAX_COUNT : MAX_COUNT;
	s->value[edge] = (int64_t)value;
	s->excess[s->net->tail[edge]] += value;
	s->excess[s->net->head[edge]] -= value;
}

static void close_edge(struct solver *s, uint32_t node, uint32_t edge)
{
	s->open[node]--;
	s->mixed[node] ^= edge;
	if (s->open[node] == 1)
		s->stack[s->n_stack++] = node;
}

/* As long as some node has only one edge of unknown value, derive that value. Edges of unknown value must join two nodes. */
static void solve(struct solver *s)
{
	for (uint32_t e = 0; e < s->net->n_edges; e++) {
		if (s->net->tail[e] == KERNEL_NO_NODE)
			continue;
		if (s->value[e] != KERNEL_COUNT_UNKNOWN) {
			settle(s, e, s->value[e]);
			continue;
		}
		s->open[s->net->tail[e]]++;
		s->open[s->net->head[e]]++;
		s->mixed[s->net->tail[e]] ^= e;
		s->mixed[s->net->head[e]] ^= e;
	}
	for (uint32_t n = 0; n < s->net->n_nodes; n++)
		if (s->open[n] == 1)
			s->stack[s->n_stack++] = n;
	while (s->n_stack) {
		uint32_t node = s->stack[--s->n_stack], e = s->mixed[node];

		if (s->open[node] != 1)
			continue;
		settle(s, e, s->net->tail[e] == node ? -s->excess[node] : s->excess[node]);
		close_edge(s, s->net->tail[e], e);
		close_edge(s, s->net->head[e], e);
	}
	for (uint32_t n = 0; n < s->net->n_nodes; n++) {
		__int128 off = s->excess[n] < 0 ? -s->excess[n] : s->excess[n];

		if (!s->open[n] && off > s->residual)
			s->residual = off > MAX_COUNT ? (uint64_t)MAX_COUNT : (uint64_t)off;
	}
}

static void solver_init(struct solver *s, const struct flow_nodes *net, int64_t *value)
{
	*s = (struct solver){ .net = net, .value = value };
	s->excess = alloc_array(net->n_nodes, sizeof(*s->excess));
	s->open = alloc_array(net->n_nodes, sizeof(*s->open));
	s->mixed = alloc_array(net->n_nodes, sizeof(*s->mixed));
	/* solve() pushes a node at most twice: at the start, and when only one edge of the node is still unknown. */
	s->stack = alloc_array((size_t)net->n_nodes * 2, sizeof(*s->stack));
}

static void solver_clear(struct solver *s)
{
	free(s->excess);
	free(s->open);
	free(s->mixed);
	free(s->stack);
}

/* Derive unknown values of NET's edges. Return the residual (see struct kernel_counts). */
static uint64_t solve_nodes(const struct flow_nodes *net, int64_t *value)
{
	struct solver s;

	solver_init(&s, net, value);
	solve(&s);
	solver_clear(&s);
	return s.residual;
}

/*
 * Derive the unknown values that follow from known ones. An edge that closes a cycle of unknown edges may have any value, and
 * others follow from it. So give these edges two values at random, derive the other values twice, and keep only values that are
 * the same: these do not depend on the random ones. Return the residual.
 */
static uint64_t solve_blocks(const struct flow_nodes *net, int64_t *value)
{
	scoped_free int64_t *again = alloc_array(net->n_edges, sizeof(*again));
	scoped_free uint32_t *root = union_find_create(net->n_nodes);
	uint64_t residual;

	for (uint32_t e = 0; e < net->n_edges; e++) {
		again[e] = value[e];
		if (value[e] != KERNEL_COUNT_UNKNOWN || net->tail[e] == KERNEL_NO_NODE ||
		    union_find_join(root, net->tail[e], net->head[e]))
			continue;
		value[e] = 0;
		again[e] = 1 + (int64_t)hash_bytes(&e, sizeof(e));
	}
	residual = solve_nodes(net, value);
	solve_nodes(net, again);
	for (uint32_t e = 0; e < net->n_edges; e++)
		if (value[e] != again[e])
			value[e] = KERNEL_COUNT_UNKNOWN;
	return residual;
}

struct by_cost {
	uint32_t edge;
	uint64_t cost;
};

/* Sort edges by descending cost. The costliest edges become a spanning tree; kernel_blocks_choose() measures only the others. */
define_compare(compare_cost, struct by_cost,
	       compare_values(b->cost, a->cost) ?: compare_values(a->edge, b->edge));

uint32_t kernel_blocks_choose(const struct kernel_graph *graph, const uint64_t *costs,
			      bool calls_known, bool *measure)
{
	scoped_free struct by_cost *order;
	scoped_free uint32_t *tree;
	scoped_free int64_t *value; /* indexed by edge: any number if the count is measured */
	scoped(flow_nodes_clear) struct flow_nodes net;
	uint32_t n = 0, unknown = 0;

	flow_nodes_init(&net, graph);
	order = alloc_array(net.n_edges, sizeof(*order));
	tree = union_find_create(net.n_nodes);
	value = alloc_array(net.n_edges, sizeof(*value));
	memset(measure, 0, graph->n_blocks * sizeof(*measure));
	for (uint32_t e = 0; e < net.n_edges; e++) {
		uint64_t cost = e < graph->n_blocks ? costs[e] : KERNEL_COST_NEVER;

		if ((e < graph->n_blocks || !calls_known) && net.tail[e] != KERNEL_NO_NODE) {
			order[n++] = (struct by_cost){ e, cost };
			value[e] = KERNEL_COUNT_UNKNOWN;
		}
	}
	sort_array(order, n, sizeof(*order), compare_cost);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t e = order[i].edge;

		if (union_find_join(tree, net.tail[e], net.head[e]) ||
		    order[i].cost == KERNEL_COST_NEVER)
			continue;
		measure[e] = true;
		value[e] = 0;
	}
	solve_blocks(&net, value);
	for (uint32_t e = 0; e < graph->n_blocks; e++)
		unknown += value[e] == KERNEL_COUNT_UNKNOWN;
	return unknown;
}

/*
 * Derive the counts of arcs from the counts of blocks. Here ports are nodes, and arcs are edges of unknown value. No arc's count
 * can be derived at a port of a block with an unknown count, nor at any in-port if there is an unresolved jump.
 */
static void solve_arcs(const struct kernel_graph *g, const int64_t *blocks, int64_t *arcs)
{
	uint32_t n_ports = 2 * (g->n_blocks + 1), nowhere = n_ports, last = g->n_arcs + n_ports;
	scoped(flow_nodes_clear) struct flow_nodes net = { last + 1, n_ports + 1 };
	scoped_free int64_t *value = alloc_array(net.n_edges, sizeof(*value));
	bool any = false;
	struct solver s;

	net.tail = alloc_array(net.n_edges, sizeof(*net.tail));
	net.head = alloc_array(net.n_edges, sizeof(*net.head));
	for (uint32_t i = 0; i < g->n_arcs; i++) {
		uint32_t to = g->arcs[i].to;

		net.tail[i] = out_port(g->arcs[i].from);
		net.head[i] = to == KERNEL_GRAPH_ANY ?
				      nowhere :
				      in_port(to == KERNEL_GRAPH_OUT ? g->n_blocks : to);
		value[i] = KERNEL_COUNT_UNKNOWN;
		any |= to == KERNEL_GRAPH_ANY;
	}
	/* Add an edge between each port and an extra node, NOWHERE. Its value is the count of the port's block. */
	for (uint32_t p = 0; p < n_ports; p++) {
		uint32_t e = g->n_arcs + p;

		value[e] = blocks[p / 2];
		net.tail[e] = p & 1 ? nowhere : p;
		net.head[e] = p & 1 ? p : nowhere;
	}
	/* The step from the callers to the entry is no arc of the graph, so add an edge for it. */
	net.tail[last] = g->entry < g->n_blocks ? out_port(g->n_blocks) : KERNEL_NO_NODE;
	net.head[last] = in_port(g->entry < g->n_blocks ? g->entry : 0);
	value[last] = KERNEL_COUNT_UNKNOWN;
	solver_init(&s, &net, value);
	/* The counts at NOWHERE need not balance. Two pretended unknown edges there keep solve() from deriving edges there. */
	s.open[nowhere] = 2;
	/* An unresolved jump may lead to any in-port. So let solve() derive no edge at in-ports, either. */
	for (uint32_t b = 0; any && b <= g->n_blocks; b++)
		s.open[in_port(b)] = 2;
	solve(&s);
	memcpy(arcs, value, g->n_arcs * sizeof(*arcs));
	solver_clear(&s);
}

void kernel_blocks_solve(const struct kernel_graph *graph, const int64_t *measured, int64_t calls,
			 struct kernel_counts *out)
{
	scoped(flow_nodes_clear) struct flow_nodes net;
	scoped_free int64_t *value;

	flow_nodes_init(&net, graph);
	value = alloc_array(net.n_edges, sizeof(*value));
	for (uint32_t e = 0; e < net.n_edges; e++) {
		value[e] = e < graph->n_blocks ? measured[e] : calls;
		if (value[e] > MAX_COUNT || value[e] < 0)
			value[e] = KERNEL_COUNT_UNKNOWN;
	}
	memset(out, 0, sizeof(*out));
	out->residual = solve_blocks(&net, value);
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

/*
 * Choose the instruction of BLOCK to probe: the first whose kprobe the kernel can optimize into a jump, unless a call comes
 * before; otherwise the first that accepts a kprobe.
 */
static bool find_probe(const struct kernel_flow *flow, const struct kernel_block *block,
		       kernel_blacklisted_fn blacklisted, void *arg, struct kernel_block_probe *out)
{
	const struct kernel_insn *insns = flow->insns;
	bool found = false, called = false;

	for (uint32_t i = block->first_insn; i < block->first_insn + block->n_insns; i++) {
		uint32_t cheap;

		if (found && called)
			break;
		called |= insns[i].kind == KERNEL_INSN_CALL;
		if (kernel_flow_place(flow, insns[i].addr, blacklisted, arg) != KERNEL_PLACE_OK)
			continue;
		cheap = kernel_flow_optimizes(flow, insns[i].addr);
		if (found && !cheap)
			continue;
		out->addr = insns[i].addr;
		out->optimizes = cheap;
		found = true;
		if (cheap)
			break;
	}
	return found;
}

/* Return an array indexed by block: true if no path leads from the block out of the function. The caller frees the array. */
static bool *find_dead(const struct kernel_flow *flow, const struct kernel_graph *g)
{
	bool *dead = alloc_array(g->n_blocks, sizeof(*dead)), changed = true;

	for (uint32_t b = 0; b < flow->n_blocks; b++)
		dead[b] = flow->blocks[b].reached;
	/* Take the edges in reverse order: most arcs lead forward, so that a few rounds suffice. */
	for (int round = 0; round < 64 && changed; round++) {
		changed = false;
		for (uint32_t i = flow->n_edges; i-- > 0;) {
			const struct kernel_edge *e = &flow->edges[i];
			bool out = e->to == KERNEL_FLOW_OUT ? e->kind != KERNEL_EDGE_STOP :
							      !dead[e->to];

			if (out && dead[e->from]) {
				dead[e->from] = false;
				changed = true;
			}
		}
	}
	return dead;
}

/* Guess how often one call of the function executes BLOCK, in units of 1/64, and return the guess. */
static uint64_t guess(const struct kernel_flow *flow, const struct kernel_loops *loops,
		      const bool *dead, uint32_t block)
{
	uint32_t depth = kernel_loop_depth(loops, block);
	uint64_t times = 64, entry = flow->entry, start = flow->blocks[block].start;

	if (dead[block])
		return 1;
	vec_each(const struct kernel_range, part, flow, parts)
		if (entry >= part->start && entry < part->end &&
		    (start < part->start || start >= part->end))
			times = 4; /* the compiler has moved this block away as unlikely */
	return times << 3 * (depth < 8 ? depth : 8);
}

/* Relative cost of a hit of a trap. The hit of an optimized kprobe, which is a jump, costs 1. */
#define TRAP_COST 4

struct planner {
	const struct kernel_flow *flow;
	struct kernel_block_plan *out;
	const struct kernel_loops *loops;
	struct kernel_block_probe *probes; /* indexed by block */
	uint64_t *costs;
	bool *measure;
};

static void find_costs(struct planner *p, kernel_blacklisted_fn blacklisted, void *arg)
{
	const struct kernel_block *blocks = p->flow->blocks;
	scoped_free bool *dead = find_dead(p->flow, &p->out->graph);

	for (uint32_t b = 0; b < p->flow->n_blocks; b++) {
		p->probes[b].block = b;
		p->costs[b] = KERNEL_COST_NEVER;
		if (!blocks[b].reached)
			continue;
		p->out->n_blocks++;
		if (find_probe(p->flow, &blocks[b], blacklisted, arg, &p->probes[b]))
			p->costs[b] = guess(p->flow, p->loops, dead, b) *
				      (p->probes[b].optimizes ? 1 : TRAP_COST);
	}
}

int kernel_blocks_plan(const struct kernel_flow *flow, kernel_blacklisted_fn blacklisted, void *arg,
		       struct kernel_block_plan *out)
{
	scoped(kernel_loops_clear) struct kernel_loops loops = {};
	struct planner p = { .flow = flow, .out = out, .loops = &loops };
	int err;

	memset(out, 0, sizeof(*out));
	err = kernel_graph_of(flow, &out->graph);
	if (err)
		return err;
	kernel_loops_find(&out->graph, &loops);
	p.probes = alloc_array(out->graph.n_blocks, sizeof(*p.probes));
	p.costs = alloc_array(out->graph.n_blocks, sizeof(*p.costs));
	p.measure = alloc_array(out->graph.n_blocks, sizeof(*p.measure));
	find_costs(&p, blacklisted, arg);
	out->n_unknown = kernel_blocks_choose(&out->graph, p.costs, true, p.measure);
	for (uint32_t b = 0; b < out->graph.n_blocks; b++)
		if (p.measure[b])
			vec_push(out, probes, p.probes[b]);
	free(p.probes);
	free(p.costs);
	free(p.measure);
	return 0;
}

void kernel_block_plan_clear(struct kernel_block_plan *plan)
{
	kernel_graph_clear(&plan->graph);
	free(plan->probes);
	memset(plan, 0, sizeof(*plan));
}
