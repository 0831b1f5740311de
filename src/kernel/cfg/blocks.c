// SPDX-License-Identifier: GPL-2.0-or-later
/* Choose the blocks of a function to count. Derive the counts of other blocks and of arcs, like the flow in a network. */
#include "kernel/cfg/blocks.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sorted.h"
#include "kernel/cfg/graph.h"

#define KERNEL_NO_EDGE UINT32_MAX

/*
 * The flow network of GRAPH. Each block is an edge; the last edge stands for the function's callers. Both ends of an edge are
 * ports. A node is a set of ports that arcs join, so equal numbers of executions enter and leave a node.
 */
struct flow_nodes {
	const struct kernel_graph *graph;
	uint32_t n_edges; /* n_blocks + 1 */
	uint32_t n_ports; /* edge I begins at in-port 2 * I and ends at out-port 2 * I + 1 */
	uint32_t *root; /* indexed by port: its node's number, that of the node's lowest port */
	bool *exists; /* indexed by edge; false: the block is not connected to any other */
};

static inline uint32_t flow_nodes_in_port(uint32_t edge)
{
	return 2 * edge;
}

static inline uint32_t flow_nodes_out_port(uint32_t edge)
{
	return 2 * edge + 1;
}

static inline uint32_t flow_nodes_tail(const struct flow_nodes *j, uint32_t edge)
{
	return j->root[flow_nodes_in_port(edge)];
}

static inline uint32_t flow_nodes_head(const struct flow_nodes *j, uint32_t edge)
{
	return j->root[flow_nodes_out_port(edge)];
}

/* Return the root of I's set. At first, ROOT[i] must be i for each element. */
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

static void connect(struct flow_nodes *j, uint32_t from, uint32_t to)
{
	union_find_join(j->root, flow_nodes_out_port(from), flow_nodes_in_port(to));
	j->exists[from] = j->exists[to] = true;
}

/* Block FROM ends in an unresolved jump. Connect it to the function's callers, and to each block that has an outgoing arc. */
static void connect_any(struct flow_nodes *j, uint32_t from)
{
	const struct kernel_graph *g = j->graph;

	connect(j, from, g->n_blocks);
	for (uint32_t i = 0; i < g->n_arcs; i++)
		connect(j, from, g->arcs[i].from);
}

/* Make J the flow network of graph G, which must outlive J. */
static void flow_nodes_init(struct flow_nodes *j, const struct kernel_graph *g)
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

static void flow_nodes_clear(struct flow_nodes *j)
{
	free(j->root);
	free(j->exists);
}

struct bridges {
	const struct flow_nodes *j;
	const bool *known;
	uint32_t *first, *arcs; /* node N's edges of unknown count begin at arcs[first[N]] */
	uint32_t *entered, *low; /* by node: time of the first visit; Tarjan's low-link */
	uint32_t now;
	bool *bridge; /* indexed by edge: true if the edge is found to be a bridge */
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

/* Search for bridges depth-first from START (Tarjan's algorithm). Use no recursion, because graphs can be deep. */
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

/*
 * Set BRIDGE[edge] for each bridge in the graph of edges with unknown counts, for which KNOWN[edge] is false. The counts of
 * bridges follow from known counts.
 */
static void flow_nodes_bridges(const struct flow_nodes *j, const bool *known, bool *bridge)
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

#define MAX_COUNT ((int64_t)1 << 62)

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

struct solver {
	uint32_t n_nodes, n_edges;
	const uint32_t *tail, *head; /* by edge: its nodes; KERNEL_NO_EDGE: ignore the edge */
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

/* As long as some node has only one edge of unknown value, derive that value. Edges of unknown value must join two nodes. */
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
	/* solve() pushes a node at most twice: at the start, and when only one edge of the node is still unknown. */
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
 * Derive the unknown values of bridges. Other unknown edges lie on cycles, and their values cannot be derived: unite the two nodes
 * of such an edge, so that its value does not matter. Return the residual (see struct kernel_counts).
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

/* Return the port at which an arc to block TO ends. For an unresolved jump return KERNEL_NO_EDGE. */
static uint32_t arc_end(const struct kernel_graph *g, uint32_t to)
{
	if (to == KERNEL_GRAPH_ANY)
		return KERNEL_NO_EDGE;
	return flow_nodes_in_port(to == KERNEL_GRAPH_OUT ? g->n_blocks : to);
}

/*
 * Derive the counts of arcs from the counts of blocks. Here ports are nodes, and arcs are edges of unknown value. No arc's count
 * can be derived at a port of a block with an unknown count, nor at any in-port if there is an unresolved jump.
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
	/* Add an edge between each port and an extra node, NOWHERE. Its value is the count of the port's block. */
	for (uint32_t p = 0; p < n_ports; p++) {
		uint32_t e = g->n_arcs + p;

		value[e] = blocks[p / 2];
		from[e] = p & 1 ? nowhere : p;
		to[e] = p & 1 ? p : nowhere;
	}
	/* The step from the callers to the entry is no arc of the graph, so add an edge for it. */
	from[n_edges - 1] =
		g->entry < g->n_blocks ? flow_nodes_out_port(g->n_blocks) : KERNEL_NO_EDGE;
	to[n_edges - 1] = flow_nodes_in_port(g->entry < g->n_blocks ? g->entry : 0);
	value[n_edges - 1] = KERNEL_COUNT_UNKNOWN;
	s.tail = from;
	s.head = to;
	s.value = value;
	/* The counts at NOWHERE need not balance. Two pretended unknown edges there keep solve() from deriving edges there. */
	s.open[nowhere] = 2;
	/* An unresolved jump may lead to any in-port. So let solve() derive no edge at in-ports, either. */
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
