// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A plan for one function: where probes can be, what each is likely to cost, and which are needed.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "symbol/blocks.h"

static bool find_arc(const struct symbol_arc *arcs, uint32_t n, const struct symbol_arc *arc)
{
	for (uint32_t i = 0; i < n; i++)
		if (arcs[i].from == arc->from && arcs[i].to == arc->to)
			return true;
	return false;
}

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
