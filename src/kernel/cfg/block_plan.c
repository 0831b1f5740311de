// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A plan for one function: where probes can be, what each is likely to cost, and which are needed.
 */
#include <string.h>

#include "base/alloc.h"
#include "kernel/cfg/blocks.h"

/* An instruction of the block to probe: the cheapest in front of the first call, else any. */
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

/* Blocks from which there is no way out but to stop: BUG, panic. */
static bool *find_dead(const struct kernel_flow *flow, const struct kernel_graph *g)
{
	bool *dead = alloc_array(g->n_blocks, sizeof(*dead)), changed = true;

	for (uint32_t b = 0; b < flow->n_blocks; b++)
		dead[b] = flow->blocks[b].reached;
	/* Backwards, since most arcs lead forward: a few rounds are enough. */
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

/* Return a guess of a block's executions per call, in units of 1/64. */
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
			times = 4; /* the compiler put it elsewhere */
	return times << 3 * (depth < 8 ? depth : 8);
}

/* A hit of a probe that is not optimized costs several times as much. */
#define TRAP_COST 4

struct planner {
	const struct kernel_flow *flow;
	struct kernel_block_plan *out;
	const struct kernel_loops *loops;
	struct kernel_block_probe *probes; /* by block */
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
