// SPDX-License-Identifier: GPL-2.0-or-later
/* Make blocks and edges from a function's instructions, and separate reachable code from padding. */
#include "base/alloc.h"
#include "base/sorted.h"
#include "kernel/code/flow_impl.h"

#define MAX_CASES 1024

struct finder {
	const struct flow_builder *b;
	uint32_t jump;
};

/* Set *BYTES and *ADDR to the instruction that is N instructions before the jump. This function is a decode_before_fn. */
static size_t bytes_before(uint32_t n, const uint8_t **bytes, uint64_t *addr, void *arg)
{
	const struct finder *f = arg;
	const struct kernel_flow *flow = f->b->flow;
	const struct kernel_insn *insn;
	const struct kernel_flow_part *p;

	if (n > f->jump || (n && flow_next(flow, f->jump - n) == FLOW_NONE))
		return 0;
	insn = &flow->insns[f->jump - n];
	p = flow_input_part(f->b->in, insn->addr);
	*addr = insn->addr;
	*bytes = (insn->flags & KERNEL_INSN_FROM_FILE ? p->file : p->bytes) + (*addr - p->start);
	return (size_t)(p->end - *addr);
}

static bool read_case(const struct flow_builder *b, const struct decoded_jump *jump, uint32_t i,
		      uint64_t *target)
{
	const struct kernel_flow_input *in = b->in;

	if (jump->kind == DECODE_JUMP_DIFFERENCES) {
		int32_t rel;

		/* An instruction's address is relative to _stext, so the address of a table that lea computes is relative, too. */
		if (!in->read(jump->table + (uint64_t)i * 4, &rel, sizeof(rel), in->arg))
			return false;
		*target = jump->table + (uint64_t)(int64_t)rel;
	} else {
		/* The code has the table's absolute address, with the KASLR offset of the running kernel. */
		uint64_t at = jump->table - in->base + (uint64_t)i * 8, addr;

		if (!in->read(at, &addr, sizeof(addr), in->arg))
			return false;
		*target = addr - in->file_base;
	}
	return flow_find(b->flow, *target) != FLOW_NONE;
}

static void add_branch(struct kernel_flow *flow, uint32_t insn, enum kernel_edge_kind kind,
		       uint64_t target)
{
	struct flow_branch branch = { insn, (uint8_t)kind, target };

	vec_push(flow, branches, branch);
}

/* Add the targets of the indirect jump INSN, read from its jump table. Return false if JUMP has no valid jump table. */
static bool add_cases(struct flow_builder *b, uint32_t insn, const struct decoded_jump *jump)
{
	uint32_t n = 0, before = b->flow->n_branches, max = jump->n ? jump->n : MAX_CASES;
	uint64_t target;

	if (!b->in->read || jump->kind < DECODE_JUMP_ADDRESSES)
		return false;
	for (; n < max && read_case(b, jump, n, &target); n++)
		add_branch(b->flow, insn, KERNEL_EDGE_SWITCH, target);
	/* If the code tells the number of entries, all must be valid; if not, at least two. */
	if (jump->n ? n == jump->n : n > 1)
		return true;
	b->flow->n_branches = before;
	return false;
}

static void add_direct(struct kernel_flow *flow, uint32_t insn, enum kernel_edge_kind kind)
{
	uint64_t target = flow->insns[insn].target;

	add_branch(flow, insn, flow_part_of(flow, target) ? kind : KERNEL_EDGE_TAIL, target);
}

static void add_indirect(struct flow_builder *b, uint32_t i)
{
	struct kernel_insn *insn = &b->flow->insns[i];
	struct finder f = { b, i };
	struct decoded_jump jump = decode_indirect_jump(b->decoder, bytes_before, &f);

	if (!(insn->flags & KERNEL_INSN_TAIL) && add_cases(b, i, &jump))
		return;
	if (jump.kind == DECODE_JUMP_POINTER)
		insn->flags |= KERNEL_INSN_TAIL;
	add_branch(b->flow, i,
		   insn->flags & KERNEL_INSN_TAIL ? KERNEL_EDGE_TAIL : KERNEL_EDGE_UNRESOLVED, 0);
}

static void add_fixups(struct flow_builder *b, uint32_t i)
{
	const struct arch_table *t = &b->in->tables->of[ARCH_SECTION_FIXUPS];
	uint64_t addr = b->flow->insns[i].addr;

	for (uint32_t f = bisect(t->n_items, j, t->items[j].addr < addr);
	     f < t->n_items && t->items[f].addr == addr; f++)
		add_branch(b->flow, i, KERNEL_EDGE_FIXUP, t->items[f].target);
}

static void add_branches(struct flow_builder *b, uint32_t i)
{
	struct kernel_flow *flow = b->flow;
	const struct kernel_insn *insn = &flow->insns[i];

	switch (insn->kind) {
	case KERNEL_INSN_JUMP:
		add_direct(flow, i, KERNEL_EDGE_JUMP);
		break;
	case KERNEL_INSN_COND:
		add_direct(flow, i, KERNEL_EDGE_TAKEN);
		break;
	case KERNEL_INSN_LABEL:
		add_direct(flow, i, KERNEL_EDGE_LABEL);
		break;
	case KERNEL_INSN_JUMP_INDIRECT:
		add_indirect(b, i);
		break;
	case KERNEL_INSN_RET:
		add_branch(flow, i, KERNEL_EDGE_RET, 0);
		break;
	case KERNEL_INSN_CALL:
		if (flow_calls_inside(flow, i))
			add_branch(flow, i, KERNEL_EDGE_CALL_INSIDE, insn->target);
		break;
	case KERNEL_INSN_CALL_NORETURN:
	case KERNEL_INSN_TRAP:
	case KERNEL_INSN_BAD:
		add_branch(flow, i, KERNEL_EDGE_STOP, 0);
		break;
	default:
		break;
	}
	if (insn->flags & KERNEL_INSN_FAULTS)
		add_fixups(b, i);
	if (flow_insn_falls(insn) && flow_next(flow, i) == FLOW_NONE)
		add_branch(flow, i, KERNEL_EDGE_TAIL, insn->addr + insn->len);
}

static bool is_padding(const struct kernel_insn *insn)
{
	return insn->kind == KERNEL_INSN_NOP || (insn->kind == KERNEL_INSN_TRAP && insn->len == 1);
}

static void mark_targets(struct kernel_flow *flow)
{
	vec_each(const struct flow_branch, branch, flow, branches) {
		uint32_t to;

		if (branch->kind >= KERNEL_EDGE_RET)
			continue;
		to = flow_find(flow, branch->target);
		if (to != FLOW_NONE)
			flow->insns[to].flags |= KERNEL_INSN_LEADER;
		else if (flow_part_of(flow, branch->target))
			flow->problems |= KERNEL_FLOW_MISALIGNED;
	}
}

/*
 * INSN ends a block, so mark the next instruction as the first of a block. If that instruction is padding, also mark the
 * instruction after the padding: an unresolved jump may lead there.
 */
static void mark_after(struct kernel_flow *flow, uint32_t insn)
{
	uint32_t next = flow_next(flow, insn);
	bool target;

	if (next == FLOW_NONE)
		return;
	target = flow->insns[next].flags & KERNEL_INSN_LEADER;
	flow->insns[next].flags |= KERNEL_INSN_LEADER;
	if (target || flow_insn_falls(&flow->insns[insn]))
		return;
	while (next != FLOW_NONE && is_padding(&flow->insns[next]))
		next = flow_next(flow, next);
	if (next != FLOW_NONE)
		flow->insns[next].flags |= KERNEL_INSN_LEADER;
}

static void mark_leaders(struct kernel_flow *flow)
{
	uint32_t entry = flow_find(flow, flow->entry);

	if (entry != FLOW_NONE)
		flow->insns[entry].flags |= KERNEL_INSN_LEADER;
	mark_targets(flow);
	for (uint32_t w = 0; w < flow->n_branches; w++)
		mark_after(flow, flow->branches[w].insn);
}

static void make_blocks(struct kernel_flow *flow)
{
	for (uint32_t i = 0; i < flow->n_insns; i++) {
		struct kernel_insn *insn = &flow->insns[i];

		if (!i || insn->flags & KERNEL_INSN_LEADER || flow_next(flow, i - 1) == FLOW_NONE) {
			struct kernel_block block = { .start = insn->addr, .first_insn = i };

			insn->flags |= KERNEL_INSN_LEADER;
			vec_push(flow, blocks, block);
		}
		insn->block = flow->n_blocks - 1;
		flow->blocks[insn->block].n_insns++;
		flow->blocks[insn->block].end = insn->addr + insn->len;
	}
}

static uint32_t block_of(const struct kernel_flow *flow, uint64_t addr)
{
	uint32_t i = flow_find(flow, addr);

	return i == FLOW_NONE ? KERNEL_FLOW_OUT : flow->insns[i].block;
}

static void reach(struct flow_builder *b, uint32_t block)
{
	if (block == KERNEL_FLOW_OUT || b->flow->blocks[block].reached)
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
		     enum kernel_edge_kind kind, uint64_t target)
{
	struct kernel_flow *flow = b->flow;
	struct kernel_edge edge = {
		.from = from,
		.to = kind >= KERNEL_EDGE_RET ? KERNEL_FLOW_OUT : block_of(flow, target),
		.insn = insn,
		.kind = (uint8_t)kind,
		.target = target,
	};

	vec_push(flow, edges, edge);
	if (kind == KERNEL_EDGE_UNRESOLVED) {
		flow->problems |= KERNEL_FLOW_UNRESOLVED;
		reach_leaders(b);
	}
	if (kind == KERNEL_EDGE_TAIL && flow_insn_falls(&flow->insns[insn]) &&
	    target == flow->insns[insn].addr + flow->insns[insn].len)
		flow->problems |= KERNEL_FLOW_FALLS_OUT;
	reach(b, edge.to);
}

static uint32_t first_branch(const struct kernel_flow *flow, uint32_t insn)
{
	return bisect(flow->n_branches, i, flow->branches[i].insn < insn);
}

static void leave_block(struct flow_builder *b, uint32_t block)
{
	struct kernel_flow *flow = b->flow;
	struct kernel_block *bl = &flow->blocks[block];
	uint32_t last = bl->first_insn + bl->n_insns - 1, next = flow_next(flow, last);

	bl->first_edge = flow->n_edges;
	if (flow_insn_falls(&flow->insns[last]) && next != FLOW_NONE)
		add_edge(b, block, last, KERNEL_EDGE_FALL, flow->insns[next].addr);
	for (uint32_t w = first_branch(flow, last);
	     w < flow->n_branches && flow->branches[w].insn == last; w++)
		add_edge(b, block, last, flow->branches[w].kind, flow->branches[w].target);
	bl->n_edges = flow->n_edges - bl->first_edge;
}

/* Follow all paths from the entry. Make an edge for each step that execution can take from one block to another. */
static void make_edges(struct flow_builder *b)
{
	struct kernel_flow *flow = b->flow;

	b->stack = alloc_array(flow->n_blocks, sizeof(*b->stack));
	reach(b, block_of(flow, flow->entry));
	while (b->stack_len)
		leave_block(b, b->stack[--b->stack_len]);
	free(b->stack);
	for (uint32_t i = 0; i < flow->n_insns; i++)
		if (flow->blocks[flow->insns[i].block].reached)
			flow->insns[i].flags |= KERNEL_INSN_REACHED;
}

define_compare(compare_edges, struct kernel_edge,
	       compare_values(a->from, b->from)         ?:
		       compare_values(a->kind, b->kind) ?:
							  compare_values(a->target, b->target));

/* Sort the edges by source block, and remove duplicates. Make the blocks refer to the sorted edges. */
static void order_edges(struct kernel_flow *flow)
{
	vec_unite(flow, edges, compare_edges, NULL);
	for (uint32_t i = 0; i < flow->n_blocks; i++)
		flow->blocks[i].first_edge = flow->blocks[i].n_edges = 0;
	for (uint32_t i = flow->n_edges; i-- > 0;) {
		struct kernel_block *bl = &flow->blocks[flow->edges[i].from];

		bl->first_edge = i;
		bl->n_edges++;
	}
}

void flow_connect(struct flow_builder *b)
{
	struct kernel_flow *flow = b->flow;

	for (uint32_t i = 0; i < flow->n_insns; i++)
		add_branches(b, i);
	mark_leaders(flow);
	make_blocks(flow);
	make_edges(b);
	order_edges(flow);
	free(flow->branches);
	flow->branches = NULL;
	flow->n_branches = flow->cap_branches = 0;
}
