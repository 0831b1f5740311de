// SPDX-License-Identifier: GPL-2.0-or-later
/* From a function's instructions to its blocks and edges; what can be reached is told from padding. */
#include <stdlib.h>

#include "base/alloc.h"
#include "symbol/flow_impl.h"

/*
 * Ways: from each instruction to wherever it can go other than to the next.
 */

static void add_way(struct symbol_flow *flow, uint32_t insn, enum symbol_edge_kind kind,
		    uint64_t target)
{
	struct flow_way way = { insn, (uint8_t)kind, target };

	vec_push(flow, ways, way);
}

static void add_direct(struct symbol_flow *flow, uint32_t insn, enum symbol_edge_kind kind)
{
	uint64_t target = flow->insns[insn].target;

	add_way(flow, insn, flow_inside(flow, target) ? kind : SYMBOL_EDGE_TAIL, target);
}

static void add_indirect(struct flow_builder *b, uint32_t i)
{
	struct symbol_insn *insn = &b->flow->insns[i];

	if (!(insn->flags & SYMBOL_INSN_TAIL) && flow_switch(b->flow, i, b->in, b->decoder))
		return;
	if (flow_pointer_jump(b->flow, i, b->in, b->decoder))
		insn->flags |= SYMBOL_INSN_TAIL;
	add_way(b->flow, i,
		insn->flags & SYMBOL_INSN_TAIL ? SYMBOL_EDGE_TAIL : SYMBOL_EDGE_UNRESOLVED, 0);
}

static void add_fixups(struct flow_builder *b, uint32_t i)
{
	const struct symbol_code_tables *t = b->in->tables;
	uint64_t addr = b->flow->insns[i].addr;

	for (uint32_t f = flow_first_at(t, fixups, .insn, addr);
	     f < t->n_fixups && t->fixups[f].insn == addr; f++)
		add_way(b->flow, i, SYMBOL_EDGE_FIXUP, t->fixups[f].fixup);
}

static void add_ways(struct flow_builder *b, uint32_t i)
{
	struct symbol_flow *flow = b->flow;
	const struct symbol_insn *insn = &flow->insns[i];

	switch (insn->kind) {
	case SYMBOL_INSN_JUMP:
		add_direct(flow, i, SYMBOL_EDGE_JUMP);
		break;
	case SYMBOL_INSN_COND:
		add_direct(flow, i, SYMBOL_EDGE_TAKEN);
		break;
	case SYMBOL_INSN_LABEL:
		add_direct(flow, i, SYMBOL_EDGE_LABEL);
		break;
	case SYMBOL_INSN_JUMP_INDIRECT:
		add_indirect(b, i);
		break;
	case SYMBOL_INSN_RET:
		add_way(flow, i, SYMBOL_EDGE_RET, 0);
		break;
	case SYMBOL_INSN_CALL:
		if (flow_calls_inside(flow, i))
			add_way(flow, i, SYMBOL_EDGE_CALL_INSIDE, insn->target);
		break;
	case SYMBOL_INSN_CALL_NORETURN:
	case SYMBOL_INSN_TRAP:
	case SYMBOL_INSN_BAD:
		add_way(flow, i, SYMBOL_EDGE_STOP, 0);
		break;
	default:
		break;
	}
	if (insn->flags & SYMBOL_INSN_FAULTS)
		add_fixups(b, i);
	if (flow_insn_falls(insn) && flow_next(flow, i) == FLOW_NONE)
		add_way(flow, i, SYMBOL_EDGE_TAIL, insn->addr + insn->len);
}

/*
 * Blocks.
 */

static bool is_padding(const struct symbol_insn *insn)
{
	return insn->kind == SYMBOL_INSN_NOP || (insn->kind == SYMBOL_INSN_TRAP && insn->len == 1);
}

static void mark_targets(struct symbol_flow *flow)
{
	for (uint32_t w = 0; w < flow->n_ways; w++) {
		const struct flow_way *way = &flow->ways[w];
		uint32_t to;

		if (way->kind >= SYMBOL_EDGE_RET)
			continue;
		to = flow_find(flow, way->target);
		if (to != FLOW_NONE)
			flow->insns[to].flags |= SYMBOL_INSN_LEADER;
		else if (flow_inside(flow, way->target))
			flow->problems |= SYMBOL_FLOW_MISALIGNED;
	}
}

/*
 * The instruction behind a block's last one leads. Where it is padding that nothing jumps to, so does
 * the first that is none: a jump that is not resolved may lead there.
 */
static void mark_after(struct symbol_flow *flow, uint32_t insn)
{
	uint32_t next = flow_next(flow, insn);
	bool target;

	if (next == FLOW_NONE)
		return;
	target = flow->insns[next].flags & SYMBOL_INSN_LEADER;
	flow->insns[next].flags |= SYMBOL_INSN_LEADER;
	if (target || flow_insn_falls(&flow->insns[insn]))
		return;
	while (next != FLOW_NONE && is_padding(&flow->insns[next]))
		next = flow_next(flow, next);
	if (next != FLOW_NONE)
		flow->insns[next].flags |= SYMBOL_INSN_LEADER;
}

static void mark_leaders(struct symbol_flow *flow)
{
	uint32_t entry = flow_find(flow, flow->entry);

	if (entry != FLOW_NONE)
		flow->insns[entry].flags |= SYMBOL_INSN_LEADER;
	mark_targets(flow);
	for (uint32_t w = 0; w < flow->n_ways; w++)
		mark_after(flow, flow->ways[w].insn);
}

static void make_blocks(struct symbol_flow *flow)
{
	for (uint32_t i = 0; i < flow->n_insns; i++) {
		struct symbol_insn *insn = &flow->insns[i];

		if (!i || insn->flags & SYMBOL_INSN_LEADER || flow_next(flow, i - 1) == FLOW_NONE) {
			struct symbol_block block = { .start = insn->addr, .first_insn = i };

			insn->flags |= SYMBOL_INSN_LEADER;
			vec_push(flow, blocks, block);
		}
		insn->block = flow->n_blocks - 1;
		flow->blocks[insn->block].n_insns++;
		flow->blocks[insn->block].end = insn->addr + insn->len;
	}
}

static uint32_t block_of(const struct symbol_flow *flow, uint64_t addr)
{
	uint32_t i = flow_find(flow, addr);

	return i == FLOW_NONE ? SYMBOL_FLOW_OUT : flow->insns[i].block;
}

static void reach(struct flow_builder *b, uint32_t block)
{
	if (block == SYMBOL_FLOW_OUT || b->flow->blocks[block].reached)
		return;
	b->flow->blocks[block].reached = true;
	b->stack[b->stack_len++] = block;
}

static void reach_leaders(struct flow_builder *b)
{
	for (uint32_t i = 0; i < b->flow->n_blocks; i++)
		if (!is_padding(&b->flow->insns[b->flow->blocks[i].first_insn]))
			reach(b, i);
}

static void add_edge(struct flow_builder *b, uint32_t from, uint32_t insn,
		     enum symbol_edge_kind kind, uint64_t target)
{
	struct symbol_flow *flow = b->flow;
	struct symbol_edge edge = {
		.from = from,
		.to = kind >= SYMBOL_EDGE_RET ? SYMBOL_FLOW_OUT : block_of(flow, target),
		.insn = insn,
		.kind = (uint8_t)kind,
		.target = target,
	};

	vec_push(flow, edges, edge);
	if (kind == SYMBOL_EDGE_UNRESOLVED) {
		flow->problems |= SYMBOL_FLOW_UNRESOLVED;
		reach_leaders(b);
	}
	if (kind == SYMBOL_EDGE_TAIL && flow_insn_falls(&flow->insns[insn]) &&
	    target == flow->insns[insn].addr + flow->insns[insn].len)
		flow->problems |= SYMBOL_FLOW_FALLS_OUT;
	reach(b, edge.to);
}

/* The index of the first way of INSN. */
static uint32_t first_way(const struct symbol_flow *flow, uint32_t insn)
{
	uint32_t lo = 0, hi = flow->n_ways;

	while (lo < hi) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (flow->ways[mid].insn < insn)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static void leave_block(struct flow_builder *b, uint32_t block)
{
	struct symbol_flow *flow = b->flow;
	struct symbol_block *bl = &flow->blocks[block];
	uint32_t last = bl->first_insn + bl->n_insns - 1, next = flow_next(flow, last);

	bl->first_edge = flow->n_edges;
	if (flow_insn_falls(&flow->insns[last]) && next != FLOW_NONE)
		add_edge(b, block, last, SYMBOL_EDGE_FALL, flow->insns[next].addr);
	for (uint32_t w = first_way(flow, last); w < flow->n_ways && flow->ways[w].insn == last;
	     w++)
		add_edge(b, block, last, flow->ways[w].kind, flow->ways[w].target);
	bl->n_edges = flow->n_edges - bl->first_edge;
}

/* Follows execution from the entry, and makes an edge of each way that it can take. */
static void make_edges(struct flow_builder *b)
{
	struct symbol_flow *flow = b->flow;

	b->stack = alloc_array(flow->n_blocks, sizeof(*b->stack));
	reach(b, block_of(flow, flow->entry));
	while (b->stack_len)
		leave_block(b, b->stack[--b->stack_len]);
	free(b->stack);
	for (uint32_t i = 0; i < flow->n_insns; i++)
		if (flow->blocks[flow->insns[i].block].reached)
			flow->insns[i].flags |= SYMBOL_INSN_REACHED;
}

static int compare_edges(const void *a, const void *b)
{
	const struct symbol_edge *x = a, *y = b;

	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	return (x->target > y->target) - (x->target < y->target);
}

/* Edges came in the order in which blocks were reached. Two jumps to one place are one edge. */
static void order_edges(struct symbol_flow *flow)
{
	uint32_t n = 0;

	if (flow->n_edges)
		qsort(flow->edges, flow->n_edges, sizeof(*flow->edges), compare_edges);
	for (uint32_t i = 0; i < flow->n_edges; i++)
		if (!n || compare_edges(&flow->edges[n - 1], &flow->edges[i]))
			flow->edges[n++] = flow->edges[i];
	flow->n_edges = n;
	for (uint32_t i = 0; i < flow->n_blocks; i++)
		flow->blocks[i].first_edge = flow->blocks[i].n_edges = 0;
	for (uint32_t i = n; i-- > 0;) {
		struct symbol_block *bl = &flow->blocks[flow->edges[i].from];

		bl->first_edge = i;
		bl->n_edges++;
	}
}

void flow_connect(struct flow_builder *b)
{
	struct symbol_flow *flow = b->flow;

	for (uint32_t i = 0; i < flow->n_insns; i++)
		add_ways(b, i);
	mark_leaders(flow);
	make_blocks(flow);
	make_edges(b);
	order_edges(flow);
	free(flow->ways);
	flow->ways = NULL;
	flow->n_ways = flow->cap_ways = 0;
}
