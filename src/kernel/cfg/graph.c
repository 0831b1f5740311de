// SPDX-License-Identifier: GPL-2.0-or-later
#include "kernel/cfg/graph.h"

#include <errno.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sorted.h"
#include "kernel/code/flow_function.h"

static bool find_arc(const struct kernel_arc *arcs, uint32_t n, const struct kernel_arc *arc)
{
	for (uint32_t i = 0; i < n; i++)
		if (arcs[i].from == arc->from && arcs[i].to == arc->to)
			return true;
	return false;
}

int kernel_graph_of(const struct kernel_flow *flow, struct kernel_graph *out)
{
	*out = (struct kernel_graph){ .n_blocks = flow->n_blocks,
				      .entry = kernel_flow_block_at(flow, flow->entry) };
	if (out->n_blocks > KERNEL_GRAPH_MAX)
		return -E2BIG;
	vec_each(const struct kernel_edge, edge, flow, edges) {
		struct kernel_arc arc = { edge->from, edge->to };
		uint32_t same = 0;

		if (edge->kind == KERNEL_EDGE_UNRESOLVED)
			arc.to = KERNEL_GRAPH_ANY;
		else if (arc.to == KERNEL_FLOW_OUT)
			arc.to = KERNEL_GRAPH_OUT;
		/* Merge several edges between the same two blocks, such as a jump to the next block, into one arc. */
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

/*
 * Set *SORTED to the numbers of G's arcs, sorted by source block or, if TO, by target block. Return an array FIRST: the arcs of
 * block b are (*SORTED)[first[b]] up to (*SORTED)[first[b + 1] - 1]. The caller frees both arrays. Arcs out of the function have
 * no target block.
 */
static uint32_t *index_arcs(const struct kernel_graph *g, bool to, uint32_t **sorted)
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

#define NONE UINT32_MAX
/* Maximum number of steps to find dominators. Compiled code needs ten per block; a malicious graph of N blocks could need N^3. */
#define MAX_STEPS 100000000u

struct finder {
	const struct kernel_graph *g;
	uint32_t *order; /* blocks in reverse postorder */
	uint32_t n_order;
	uint32_t *rank; /* indexed by block: the block's index in ORDER, or NONE */
	uint32_t *idom; /* indexed by rank: rank of the block's immediate dominator */
	uint32_t *pred, *first_pred; /* result of index_arcs() by target block */
	uint32_t steps;
	struct kernel_loops *out;
};

/* Put the blocks into reverse postorder: a depth-first search from the entry numbers a block after its successors. */
static void find_order(struct finder *f)
{
	const struct kernel_graph *g = f->g;
	uint32_t *by_from, *first = index_arcs(g, false, &by_from), n = 0, left = g->n_blocks;
	scoped_free uint32_t *stack = alloc_array(g->n_blocks, sizeof(*stack));
	scoped_free uint32_t *next = alloc_array(g->n_blocks, sizeof(*next));
	scoped_free bool *seen = alloc_array(g->n_blocks, sizeof(*seen));

	memcpy(next, first, g->n_blocks * sizeof(*next));
	f->order = alloc_array(g->n_blocks, sizeof(*f->order));
	if (g->entry < g->n_blocks) {
		stack[n++] = g->entry;
		seen[g->entry] = true;
	}
	while (n) {
		uint32_t b = stack[n - 1];

		if (next[b] == first[b + 1]) {
			f->order[--left] = b;
			n--;
			continue;
		}
		b = g->arcs[by_from[next[b]++]].to;
		if (b < g->n_blocks && !seen[b]) {
			seen[b] = true;
			stack[n++] = b;
		}
	}
	f->n_order = g->n_blocks - left;
	memmove(f->order, f->order + left, f->n_order * sizeof(*f->order));
	free(first);
	free(by_from);
}

static uint32_t common(struct finder *f, uint32_t a, uint32_t b)
{
	for (; a != b; f->steps++) {
		if (a > b)
			a = f->idom[a];
		else
			b = f->idom[b];
	}
	return a;
}

static bool improve(struct finder *f, uint32_t rank)
{
	uint32_t b = f->order[rank], new = NONE;

	for (uint32_t p = f->first_pred[b]; p < f->first_pred[b + 1]; p++) {
		uint32_t from = f->rank[f->g->arcs[f->pred[p]].from];

		if (from == NONE || f->idom[from] == NONE)
			continue;
		new = new == NONE ? from : common(f, from, new);
	}
	if (new == f->idom[rank])
		return false;
	f->idom[rank] = new;
	return true;
}

static void find_dominators(struct finder *f)
{
	bool changed = true;

	f->rank = alloc_array(f->g->n_blocks, sizeof(*f->rank));
	memset(f->rank, 0xff, f->g->n_blocks * sizeof(*f->rank));
	for (uint32_t i = 0; i < f->n_order; i++)
		f->rank[f->order[i]] = i;
	f->idom = alloc_array(f->n_order, sizeof(*f->idom));
	memset(f->idom, 0xff, f->n_order * sizeof(*f->idom));
	if (f->n_order)
		f->idom[0] = 0;
	while (changed && f->steps < MAX_STEPS) {
		changed = false;
		for (uint32_t i = 1; i < f->n_order && f->steps < MAX_STEPS; i++, f->steps++)
			changed |= improve(f, i);
	}
	/* After MAX_STEPS, regard only the entry as a dominator. Then no other block can be a loop's head. */
	for (uint32_t i = 1; changed && i < f->n_order; i++)
		f->idom[i] = 0;
}

static bool dominates(const struct finder *f, uint32_t a, uint32_t b)
{
	uint32_t ra = f->rank[a], rb = f->rank[b];

	while (rb > ra)
		rb = f->idom[rb];
	return ra == rb;
}

/* Set MARK of each block in the loop with head HEAD to HEAD. Return the number of these blocks. */
static uint32_t collect(const struct finder *f, uint32_t head, uint32_t *mark, uint32_t *stack)
{
	uint32_t n = 0, found = 0;

	mark[head] = head;
	stack[n++] = head;
	while (n) {
		uint32_t b = stack[--n];

		found++;
		for (uint32_t p = f->first_pred[b]; p < f->first_pred[b + 1]; p++) {
			uint32_t from = f->g->arcs[f->pred[p]].from;

			/* Only arcs from blocks that HEAD dominates are the loop's: others enter it. */
			if (f->rank[from] == NONE || mark[from] == head ||
			    (b == head && !dominates(f, head, from)))
				continue;
			mark[from] = head;
			stack[n++] = from;
		}
	}
	return found;
}

define_compare(compare_loops, struct kernel_loop,
	       compare_values(a->n_blocks, b->n_blocks) ?: compare_values(a->head, b->head));

static void find_heads(struct finder *f, uint32_t *mark, uint32_t *stack)
{
	for (uint32_t i = 0; i < f->n_order; i++) {
		struct kernel_loop loop = { .head = f->order[i], .parent = KERNEL_LOOP_NONE };
		bool back = false;

		for (uint32_t p = f->first_pred[loop.head]; p < f->first_pred[loop.head + 1]; p++) {
			uint32_t from = f->g->arcs[f->pred[p]].from;

			if (f->rank[from] == NONE || f->rank[from] < i)
				continue;
			if (dominates(f, loop.head, from))
				back = true;
			else
				f->out->other_cycles = true;
		}
		if (!back)
			continue;
		loop.n_blocks = collect(f, loop.head, mark, stack);
		vec_push(f->out, loops, loop);
	}
}

/* Loops are sorted from small to large. So the first loop that marks a block is the smallest one that has the block. */
static void nest(struct finder *f, uint32_t *mark, uint32_t *stack)
{
	struct kernel_loops *out = f->out;

	for (uint32_t l = 0; l < out->n_loops; l++) {
		uint32_t head = out->loops[l].head;

		memset(mark, 0xff, f->g->n_blocks * sizeof(*mark));
		collect(f, head, mark, stack);
		for (uint32_t b = 0; b < f->g->n_blocks; b++)
			if (mark[b] == head && out->innermost[b] == KERNEL_LOOP_NONE)
				out->innermost[b] = l;
		for (uint32_t k = 0; k < l; k++)
			if (out->loops[k].parent == KERNEL_LOOP_NONE &&
			    mark[out->loops[k].head] == head)
				out->loops[k].parent = l;
	}
	for (uint32_t l = out->n_loops; l-- > 0;) {
		uint32_t parent = out->loops[l].parent;

		out->loops[l].depth = parent == KERNEL_LOOP_NONE ? 1 : out->loops[parent].depth + 1;
	}
}

void kernel_loops_find(const struct kernel_graph *graph, struct kernel_loops *out)
{
	struct finder f = { .g = graph, .out = out };
	scoped_free uint32_t *mark = alloc_array(graph->n_blocks, sizeof(*mark));
	scoped_free uint32_t *stack = alloc_array(graph->n_blocks, sizeof(*stack));

	memset(out, 0, sizeof(*out));
	out->innermost = alloc_array(graph->n_blocks, sizeof(*out->innermost));
	memset(out->innermost, 0xff, graph->n_blocks * sizeof(*out->innermost));
	memset(mark, 0xff, graph->n_blocks * sizeof(*mark));
	find_order(&f);
	f.first_pred = index_arcs(graph, true, &f.pred);
	find_dominators(&f);
	find_heads(&f, mark, stack);
	sort_array(out->loops, out->n_loops, sizeof(*out->loops), compare_loops);
	nest(&f, mark, stack);
	free(f.order);
	free(f.rank);
	free(f.idom);
	free(f.pred);
	free(f.first_pred);
}

void kernel_loops_clear(struct kernel_loops *loops)
{
	free(loops->loops);
	free(loops->innermost);
	memset(loops, 0, sizeof(*loops));
}

bool kernel_loop_has(const struct kernel_loops *loops, uint32_t loop, uint32_t block)
{
	uint32_t l = loops->innermost[block];

	while (l != KERNEL_LOOP_NONE && l != loop)
		l = loops->loops[l].parent;
	return l == loop && l != KERNEL_LOOP_NONE;
}

uint32_t kernel_loop_depth(const struct kernel_loops *loops, uint32_t block)
{
	uint32_t l = loops->innermost[block];

	return l == KERNEL_LOOP_NONE ? 0 : loops->loops[l].depth;
}
