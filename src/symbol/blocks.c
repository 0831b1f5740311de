// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Each block has an in-port and an out-port. An arc says that what leaves through the one out-port
 * goes in through the other in-port, so ports that arcs connect make a junction: the sum of what
 * comes out of blocks into a junction is the sum of what goes from it into blocks. Seen from the
 * junctions, blocks are the edges of a graph in which flow is conserved, and so are all calls
 * together, from the junction of the returns to the one in front of the entry. In such a graph the
 * edges outside a spanning tree determine those on it.
 */
#include "symbol/blocks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define NONE      UINT32_MAX
#define MAX_COUNT ((int64_t)1 << 62)

/* The blocks of GRAPH and, behind them, one more edge: the calls. */
struct junctions {
	const struct symbol_graph *graph;
	uint32_t n_edges; /* n_blocks + 1 */
	uint32_t n_ports; /* in-port of edge i is 2 i, its out-port 2 i + 1 */
	uint32_t *root; /* of each port, in the sense of union-find */
	bool *exists; /* edges that arcs or the entry have to do with */
};

static uint32_t find_root(uint32_t *root, uint32_t i)
{
	while (root[i] != i)
		i = root[i] = root[root[i]];
	return i;
}

static bool join(uint32_t *root, uint32_t a, uint32_t b)
{
	a = find_root(root, a);
	b = find_root(root, b);
	if (a == b)
		return false;
	root[a > b ? a : b] = a > b ? b : a;
	return true;
}

static uint32_t in_port(uint32_t edge)
{
	return 2 * edge;
}

static uint32_t out_port(uint32_t edge)
{
	return 2 * edge + 1;
}

static void connect(struct junctions *j, uint32_t from, uint32_t to)
{
	join(j->root, out_port(from), in_port(to));
	j->exists[from] = j->exists[to] = true;
}

/* A jump that may lead anywhere. */
static void connect_any(struct junctions *j, uint32_t from)
{
	const struct symbol_graph *g = j->graph;

	connect(j, from, g->n_blocks);
	for (uint32_t i = 0; i < g->n_arcs; i++)
		connect(j, from, g->arcs[i].from);
}

static void junctions_init(struct junctions *j, const struct symbol_graph *g)
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
	for (uint32_t i = 0; i < g->n_arcs; i++) {
		const struct symbol_arc *a = &g->arcs[i];

		if (a->to == SYMBOL_GRAPH_ANY)
			connect_any(j, a->from);
		else
			connect(j, a->from, a->to == SYMBOL_GRAPH_OUT ? g->n_blocks : a->to);
	}
	for (uint32_t i = 0; i < j->n_ports; i++)
		find_root(j->root, i);
	for (uint32_t i = 0; i < j->n_ports; i++)
		j->root[i] = find_root(j->root, i);
}

static void junctions_clear(struct junctions *j)
{
	free(j->root);
	free(j->exists);
}

static uint32_t tail(const struct junctions *j, uint32_t edge)
{
	return j->root[in_port(edge)];
}

static uint32_t head(const struct junctions *j, uint32_t edge)
{
	return j->root[out_port(edge)];
}

/*
 * Which unknown edges of a graph of junctions follow from the known ones: bridges among the unknown.
 */

struct bridges {
	const struct junctions *j;
	const bool *known;
	uint32_t *first, *arcs; /* of each junction: the unknown edges at it */
	uint32_t *entered,
		*low; /* depth first: when a junction was come to, and how far up it sees */
	uint32_t now;
	bool *bridge; /* by edge */
};

static void list_unknown(struct bridges *b)
{
	const struct junctions *j = b->j;

	b->first = alloc_array((size_t)j->n_ports + 2, sizeof(*b->first));
	b->arcs = alloc_array((size_t)j->n_edges * 2, sizeof(*b->arcs));
	for (uint32_t e = 0; e < j->n_edges; e++) {
		if (b->known[e] || !j->exists[e])
			continue;
		b->first[tail(j, e) + 2]++;
		b->first[head(j, e) + 2]++;
	}
	for (uint32_t p = 0; p < j->n_ports; p++)
		b->first[p + 2] += b->first[p + 1];
	for (uint32_t e = 0; e < j->n_edges; e++) {
		if (b->known[e] || !j->exists[e])
			continue;
		b->arcs[b->first[tail(j, e) + 1]++] = e;
		b->arcs[b->first[head(j, e) + 1]++] = e;
	}
}

static uint32_t other_end(const struct junctions *j, uint32_t edge, uint32_t junction)
{
	return tail(j, edge) == junction ? head(j, edge) : tail(j, edge);
}

/* Without recursion: graphs can be deep. */
static void search_from(struct bridges *b, uint32_t start, uint32_t *stack, uint32_t *via,
			uint32_t *next)
{
	uint32_t n = 0;

	stack[n] = start;
	via[n] = NONE;
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

/* Fills BRIDGE, by edge. */
static void find_bridges(const struct junctions *j, const bool *known, bool *bridge)
{
	struct bridges b = { .j = j, .known = known, .bridge = bridge };
	uint32_t *stack = alloc_array(j->n_ports, sizeof(*stack));
	uint32_t *via = alloc_array(j->n_ports, sizeof(*via));
	uint32_t *next = alloc_array(j->n_ports, sizeof(*next));

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
	free(stack);
	free(via);
	free(next);
}

/*
 * Choosing.
 */

struct by_cost {
	uint32_t edge;
	uint64_t cost;
};

/* The dearest first: what is on the tree is not measured. */
static int compare_cost(const void *a, const void *b)
{
	const struct by_cost *x = a, *y = b;

	if (x->cost != y->cost)
		return x->cost > y->cost ? -1 : 1;
	return (x->edge > y->edge) - (x->edge < y->edge);
}

uint32_t symbol_blocks_choose(const struct symbol_graph *graph, const uint64_t *costs,
			      bool calls_known, bool *measure)
{
	struct by_cost *order;
	struct junctions j;
	uint32_t n = 0, unknown = 0, *tree;
	bool *known, *bridge;

	junctions_init(&j, graph);
	order = alloc_array(j.n_edges, sizeof(*order));
	tree = alloc_array(j.n_ports, sizeof(*tree));
	known = alloc_array(j.n_edges, sizeof(*known));
	bridge = alloc_array(j.n_edges, sizeof(*bridge));
	memset(measure, 0, graph->n_blocks * sizeof(*measure));
	for (uint32_t i = 0; i < j.n_ports; i++)
		tree[i] = i;
	for (uint32_t e = 0; e < j.n_edges; e++) {
		uint64_t cost = e < graph->n_blocks ? costs[e] : SYMBOL_COST_NEVER;

		if (e == graph->n_blocks && calls_known)
			known[e] = true;
		else if (j.exists[e])
			order[n++] = (struct by_cost){ e, cost };
	}
	qsort(order, n, sizeof(*order), compare_cost);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t e = order[i].edge;

		if (join(tree, tail(&j, e), head(&j, e)) || order[i].cost == SYMBOL_COST_NEVER)
			continue;
		measure[e] = known[e] = true;
	}
	find_bridges(&j, known, bridge);
	for (uint32_t e = 0; e < graph->n_blocks; e++)
		unknown += j.exists[e] && !known[e] && !bridge[e];
	free(order);
	free(tree);
	free(known);
	free(bridge);
	junctions_clear(&j);
	return unknown;
}

/*
 * Solving.
 */

struct solver {
	uint32_t n_nodes, n_edges;
	const uint32_t *tail, *head; /* by edge; NONE: the edge is not there */
	int64_t *value; /* by edge */
	/* What goes out of a node less what comes in, as far as it is known. */
	__int128 *excess;
	uint32_t *open; /* by node: how many unknown edges are at it */
	uint32_t *
		mixed; /* by node: the exclusive or of their numbers, so that a last one is known */
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
		if (s->tail[e] == NONE)
			continue;
		if (s->value[e] != SYMBOL_COUNT_UNKNOWN) {
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
 * Junctions that unknown edges connect in more than one way are one node: those edges do not follow,
 * and within it they cancel out. What is left of unknown edges are trees.
 */
static uint64_t solve_blocks(const struct junctions *j, int64_t *value)
{
	bool *known = alloc_array(j->n_edges, sizeof(*known));
	bool *bridge = alloc_array(j->n_edges, sizeof(*bridge));
	uint32_t *node = alloc_array(j->n_ports, sizeof(*node));
	uint32_t *from = alloc_array(j->n_edges, sizeof(*from));
	uint32_t *to = alloc_array(j->n_edges, sizeof(*to));
	struct solver s;

	for (uint32_t e = 0; e < j->n_edges; e++)
		known[e] = value[e] != SYMBOL_COUNT_UNKNOWN;
	find_bridges(j, known, bridge);
	for (uint32_t p = 0; p < j->n_ports; p++)
		node[p] = p;
	for (uint32_t e = 0; e < j->n_edges; e++)
		if (j->exists[e] && !known[e] && !bridge[e])
			join(node, tail(j, e), head(j, e));
	for (uint32_t e = 0; e < j->n_edges; e++) {
		bool there = j->exists[e] && (known[e] || bridge[e]);

		from[e] = there ? find_root(node, tail(j, e)) : NONE;
		to[e] = there ? find_root(node, head(j, e)) : NONE;
	}
	solver_init(&s, j->n_ports, j->n_edges);
	s.tail = from;
	s.head = to;
	s.value = value;
	solve(&s);
	solver_clear(&s);
	free(known);
	free(bridge);
	free(node);
	free(from);
	free(to);
	return s.residual;
}

/* The node of an arc's end among ports; to anywhere there is none. */
static uint32_t arc_end(const struct symbol_graph *g, uint32_t to)
{
	if (to == SYMBOL_GRAPH_ANY)
		return NONE;
	return in_port(to == SYMBOL_GRAPH_OUT ? g->n_blocks : to);
}

static bool find_arc(const struct symbol_arc *arcs, uint32_t n, const struct symbol_arc *arc)
{
	for (uint32_t i = 0; i < n; i++)
		if (arcs[i].from == arc->from && arcs[i].to == arc->to)
			return true;
	return false;
}

/*
 * Arcs: the ports are nodes now, arcs the unknown edges between them, blocks' counts known. Where a
 * block's count is unknown, or an arc may lead anywhere, the port says nothing.
 */
static uint64_t solve_arcs(const struct symbol_graph *g, const int64_t *blocks, int64_t *arcs)
{
	uint32_t n_ports = 2 * (g->n_blocks + 1), n_edges = g->n_arcs + n_ports + 1;
	uint32_t *from = alloc_array(n_edges, sizeof(*from)), nowhere = n_ports;
	uint32_t *to = alloc_array(n_edges, sizeof(*to));
	int64_t *value = alloc_array(n_edges, sizeof(*value));
	bool any = false;
	struct solver s;

	solver_init(&s, n_ports + 1, n_edges);
	for (uint32_t i = 0; i < g->n_arcs; i++) {
		from[i] = out_port(g->arcs[i].from);
		to[i] = arc_end(g, g->arcs[i].to);
		value[i] = SYMBOL_COUNT_UNKNOWN;
		if (to[i] == NONE) {
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
	/* The way from the calls to the entry is no arc of the graph. */
	from[n_edges - 1] = g->entry < g->n_blocks ? out_port(g->n_blocks) : NONE;
	to[n_edges - 1] = in_port(g->entry < g->n_blocks ? g->entry : 0);
	value[n_edges - 1] = SYMBOL_COUNT_UNKNOWN;
	s.tail = from;
	s.head = to;
	s.value = value;
	/* Nothing follows from this node: it stands for whatever is not modelled. */
	s.open[nowhere] = 2;
	/* Nor from how a block was entered where a jump may have led there. */
	for (uint32_t b = 0; any && b <= g->n_blocks; b++)
		s.open[in_port(b)] = 2;
	solve(&s);
	memcpy(arcs, value, g->n_arcs * sizeof(*arcs));
	solver_clear(&s);
	free(from);
	free(to);
	free(value);
	return s.residual;
}

void symbol_blocks_solve(const struct symbol_graph *graph, const int64_t *measured, int64_t calls,
			 struct symbol_counts *out)
{
	struct junctions j;
	int64_t *value;

	junctions_init(&j, graph);
	value = alloc_array(j.n_edges, sizeof(*value));
	for (uint32_t e = 0; e < j.n_edges; e++) {
		value[e] = e < graph->n_blocks ? measured[e] : calls;
		if (value[e] > MAX_COUNT || value[e] < 0)
			value[e] = SYMBOL_COUNT_UNKNOWN;
	}
	memset(out, 0, sizeof(*out));
	out->residual = solve_blocks(&j, value);
	out->blocks = alloc_array(graph->n_blocks, sizeof(*out->blocks));
	memcpy(out->blocks, value, graph->n_blocks * sizeof(*value));
	out->calls = value[graph->n_blocks];
	out->arcs = alloc_array(graph->n_arcs, sizeof(*out->arcs));
	solve_arcs(graph, value, out->arcs);
	for (uint32_t b = 0; b < graph->n_blocks; b++)
		out->n_negative += value[b] < 0 && value[b] != SYMBOL_COUNT_UNKNOWN;
	for (uint32_t a = 0; a < graph->n_arcs; a++)
		out->n_negative += out->arcs[a] < 0 && out->arcs[a] != SYMBOL_COUNT_UNKNOWN;
	free(value);
	junctions_clear(&j);
}

void symbol_counts_clear(struct symbol_counts *counts)
{
	free(counts->blocks);
	free(counts->arcs);
	memset(counts, 0, sizeof(*counts));
}

/*
 * Of a function.
 */

int symbol_graph_of(const struct symbol_flow *flow, struct symbol_graph *out)
{
	uint32_t n_edges;
	const struct symbol_edge *edges = symbol_flow_edges(flow, &n_edges);

	memset(out, 0, sizeof(*out));
	symbol_flow_blocks(flow, &out->n_blocks);
	out->entry = symbol_flow_block_at(flow, symbol_flow_entry(flow));
	if (out->n_blocks > SYMBOL_GRAPH_MAX)
		return -E2BIG;
	for (uint32_t i = 0; i < n_edges; i++) {
		struct symbol_arc arc = { edges[i].from, edges[i].to };
		uint32_t same = 0;

		if (edges[i].kind == SYMBOL_EDGE_UNRESOLVED)
			arc.to = SYMBOL_GRAPH_ANY;
		else if (arc.to == SYMBOL_FLOW_OUT)
			arc.to = SYMBOL_GRAPH_OUT;
		/* Two ways to one block, such as a jump to what follows, are told apart by nothing. */
		while (same < out->n_arcs && out->arcs[out->n_arcs - 1 - same].from == arc.from)
			same++;
		if (!find_arc(out->arcs + (out->n_arcs - same), same, &arc))
			vec_push(out, arcs, arc);
	}
	return 0;
}

void symbol_graph_clear(struct symbol_graph *graph)
{
	free(graph->arcs);
	memset(graph, 0, sizeof(*graph));
}

/* An instruction of the block to probe: the cheapest in front of the first call, else any. */
static bool find_probe(const struct symbol_flow *flow, const struct symbol_block *block,
		       symbol_blacklisted_fn blacklisted, void *arg, struct symbol_block_probe *out)
{
	uint32_t n;
	const struct symbol_insn *insns = symbol_flow_insns(flow, &n);
	bool found = false, called = false;

	for (uint32_t i = block->first_insn; i < block->first_insn + block->n_insns; i++) {
		bool cheap;

		if (found && called)
			break;
		called |= insns[i].kind == SYMBOL_INSN_CALL;
		if (symbol_flow_place(flow, insns[i].addr, blacklisted, arg) != SYMBOL_PLACE_OK)
			continue;
		cheap = symbol_flow_optimizes(flow, insns[i].addr);
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

/* Blocks from which there is no way out but to stop: BUG, panic. */
static bool *find_dead(const struct symbol_flow *flow, const struct symbol_graph *g)
{
	uint32_t n, n_edges;
	const struct symbol_block *blocks = symbol_flow_blocks(flow, &n);
	const struct symbol_edge *edges = symbol_flow_edges(flow, &n_edges);
	bool *dead = alloc_array(g->n_blocks, sizeof(*dead)), changed = true;

	for (uint32_t b = 0; b < n; b++)
		dead[b] = blocks[b].reached;
	/* Backwards, since most arcs lead forward: a few rounds are enough. */
	for (int round = 0; round < 64 && changed; round++) {
		changed = false;
		for (uint32_t i = n_edges; i-- > 0;) {
			const struct symbol_edge *e = &edges[i];
			bool out = e->to == SYMBOL_FLOW_OUT ? e->kind != SYMBOL_EDGE_STOP :
							      !dead[e->to];

			if (out && dead[e->from]) {
				dead[e->from] = false;
				changed = true;
			}
		}
	}
	return dead;
}

/* How often a block is executed a call, at a guess, in units of 1/64. */
static uint64_t guess(const struct symbol_flow *flow, const struct symbol_loops *loops,
		      const bool *dead, uint32_t block)
{
	uint32_t n, depth = symbol_loop_depth(loops, block), n_parts;
	const struct symbol_block *b = symbol_flow_blocks(flow, &n);
	const struct symbol_range *parts = symbol_flow_parts(flow, &n_parts);
	uint64_t times = 64, entry = symbol_flow_entry(flow);

	if (dead[block])
		return 1;
	for (uint32_t i = 0; i < n_parts; i++)
		if (entry >= parts[i].start && entry < parts[i].end &&
		    (b[block].start < parts[i].start || b[block].start >= parts[i].end))
			times = 4; /* the compiler put it aside */
	return times << 3 * (depth < 8 ? depth : 8);
}

/* A hit of a probe that is not optimized costs several times as much. */
#define TRAP_COST 4

struct planner {
	const struct symbol_flow *flow;
	struct symbol_block_plan *out;
	struct symbol_block_probe *probes; /* by block */
	uint64_t *costs;
	bool *measure;
	uint8_t *bits;
};

static void find_costs(struct planner *p, symbol_blacklisted_fn blacklisted, void *arg)
{
	uint32_t n;
	const struct symbol_block *blocks = symbol_flow_blocks(p->flow, &n);
	bool *dead = find_dead(p->flow, &p->out->graph);

	for (uint32_t b = 0; b < n; b++) {
		p->probes[b].block = b;
		p->probes[b].counter = SYMBOL_NO_BIT;
		p->costs[b] = SYMBOL_COST_NEVER;
		if (!blocks[b].reached)
			continue;
		p->out->n_blocks++;
		if (find_probe(p->flow, &blocks[b], blacklisted, arg, &p->probes[b]))
			p->costs[b] = guess(p->flow, &p->out->loops, dead, b) *
				      (p->probes[b].optimizes ? 1 : TRAP_COST);
		else
			p->out->n_unprobed++;
	}
	free(dead);
}

/* Loops' heads come for free: where others can be left out for them, they are. */
static void choose_loops(struct planner *p)
{
	struct symbol_block_plan *out = p->out;

	for (uint32_t l = 0; l < out->loops.n_loops; l++) {
		uint32_t head = out->loops.loops[l].head;

		if (p->costs[head] == SYMBOL_COST_NEVER || out->n_counted == SYMBOL_MAX_COUNTERS) {
			out->n_loops_left++;
			continue;
		}
		p->costs[head] = 0;
		p->probes[head].counter = (uint8_t)out->n_counted;
		out->counted[out->n_counted++] = l;
	}
}

static void make_plan(struct planner *p, unsigned int flags)
{
	struct symbol_block_plan *out = p->out;

	out->n_unknown = symbol_blocks_choose(&out->graph, p->costs,
					      flags & SYMBOL_PLAN_CALLS_KNOWN, p->measure);
	for (uint32_t i = 0; i < out->n_counted; i++)
		p->measure[out->loops.loops[out->counted[i]].head] = true;
	symbol_paths_bits(&out->graph, &out->loops, p->measure, p->bits);
	for (uint32_t b = 0; b < out->graph.n_blocks; b++) {
		p->probes[b].bit = p->bits[b];
		if (p->measure[b])
			vec_push(out, probes, p->probes[b]);
	}
}

int symbol_blocks_plan(const struct symbol_flow *flow, unsigned int flags,
		       symbol_blacklisted_fn blacklisted, void *arg, struct symbol_block_plan *out)
{
	struct planner p = { .flow = flow, .out = out };
	int err;

	memset(out, 0, sizeof(*out));
	err = symbol_graph_of(flow, &out->graph);
	if (err)
		return err;
	symbol_loops_find(&out->graph, &out->loops);
	p.probes = alloc_array(out->graph.n_blocks, sizeof(*p.probes));
	p.costs = alloc_array(out->graph.n_blocks, sizeof(*p.costs));
	p.measure = alloc_array(out->graph.n_blocks, sizeof(*p.measure));
	p.bits = alloc_array(out->graph.n_blocks, sizeof(*p.bits));
	find_costs(&p, blacklisted, arg);
	if (flags & SYMBOL_PLAN_LOOPS)
		choose_loops(&p);
	make_plan(&p, flags);
	free(p.probes);
	free(p.costs);
	free(p.measure);
	free(p.bits);
	return 0;
}

void symbol_block_plan_clear(struct symbol_block_plan *plan)
{
	symbol_graph_clear(&plan->graph);
	symbol_loops_clear(&plan->loops);
	free(plan->probes);
	memset(plan, 0, sizeof(*plan));
}
