// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A call is a walk from the entry out of the function that passes each block that was hit and none
 * that was measured and not hit. There is one if the hit blocks can be put into an order in which
 * each can be reached from the one before; a block may lie on it if it fits into that order, and
 * must if there is none without it.
 */
#include <string.h>

#include "base/alloc.h"
#include "base/sorted.h"
#include "kernel/cfg/blocks.h"

/* Steps for one call: beyond that, what must lie on the path is not looked for. */
#define MAX_WORK 4e8

struct walk {
	const struct kernel_graph *g;
	uint32_t *succ, *first; /* arcs by the block that they leave: kernel_graph_index() */
	uint32_t *pred, *first_pred; /* and by the one that they lead to */
	bool *dead; /* blocks that must not be passed */
	uint32_t *ones, n_ones; /* those that were hit */
	bool *from_entry, *to_exit;
	bool **after,
		**before; /* of each of them: what can be reached from it, and what reaches it */
	uint32_t *queue;
};

static void visit(struct walk *w, bool *seen, uint32_t *n, uint32_t block)
{
	if (block >= w->g->n_blocks || seen[block] || w->dead[block])
		return;
	seen[block] = true;
	w->queue[(*n)++] = block;
}

/* What can be reached from the N blocks in the queue, which are marked in SEEN. */
static void forward(struct walk *w, bool *seen, uint32_t n)
{
	bool any = false;

	while (n) {
		uint32_t b = w->queue[--n];

		for (uint32_t a = w->first[b]; a < w->first[b + 1]; a++) {
			uint32_t to = w->g->arcs[w->succ[a]].to;

			/* An unresolved jump can lead to all that has arcs. */
			for (uint32_t i = 0; to == KERNEL_GRAPH_ANY && !any && i < w->g->n_arcs;
			     i++)
				visit(w, seen, &n, w->g->arcs[i].from);
			any |= to == KERNEL_GRAPH_ANY;
			visit(w, seen, &n, to);
		}
	}
}

static void backward(struct walk *w, bool *seen, uint32_t n)
{
	/* Blocks with an unresolved jump reach whatever has arcs, so also each block sought. */
	for (uint32_t a = 0; a < w->g->n_arcs; a++)
		if (w->g->arcs[a].to == KERNEL_GRAPH_ANY)
			visit(w, seen, &n, w->g->arcs[a].from);
	while (n) {
		uint32_t b = w->queue[--n];

		for (uint32_t p = w->first_pred[b]; p < w->first_pred[b + 1]; p++)
			visit(w, seen, &n, w->g->arcs[w->pred[p]].from);
	}
}

static void reach_all(struct walk *w)
{
	const struct kernel_graph *g = w->g;
	uint32_t n = 0;

	memset(w->from_entry, 0, g->n_blocks);
	memset(w->to_exit, 0, g->n_blocks);
	visit(w, w->from_entry, &n, g->entry);
	forward(w, w->from_entry, n);
	n = 0;
	for (uint32_t a = 0; a < g->n_arcs; a++)
		if (g->arcs[a].to == KERNEL_GRAPH_OUT)
			visit(w, w->to_exit, &n, g->arcs[a].from);
	backward(w, w->to_exit, n);
	for (uint32_t i = 0; i < w->n_ones; i++) {
		memset(w->after[i], 0, g->n_blocks);
		memset(w->before[i], 0, g->n_blocks);
		n = 0;
		visit(w, w->after[i], &n, w->ones[i]);
		forward(w, w->after[i], n);
		n = 0;
		visit(w, w->before[i], &n, w->ones[i]);
		backward(w, w->before[i], n);
	}
}

static bool fits(const struct walk *w, uint32_t block)
{
	if (!w->from_entry[block] || !w->to_exit[block])
		return false;
	for (uint32_t i = 0; i < w->n_ones; i++)
		if (!w->after[i][block] && !w->before[i][block])
			return false;
	return true;
}

/* Is there such a walk? */
static bool feasible(struct walk *w)
{
	reach_all(w);
	if (w->g->entry >= w->g->n_blocks || !fits(w, w->g->entry))
		return false;
	for (uint32_t i = 0; i < w->n_ones; i++)
		if (!fits(w, w->ones[i]))
			return false;
	return true;
}

static void walk_init(struct walk *w, const struct kernel_graph *g, const bool *measure,
		      const bool *hit)
{
	memset(w, 0, sizeof(*w));
	w->g = g;
	w->first = kernel_graph_index(g, false, &w->succ);
	w->first_pred = kernel_graph_index(g, true, &w->pred);
	w->dead = alloc_array(g->n_blocks, sizeof(*w->dead));
	w->ones = alloc_array(g->n_blocks, sizeof(*w->ones));
	w->from_entry = alloc_array(g->n_blocks, sizeof(bool));
	w->to_exit = alloc_array(g->n_blocks, sizeof(bool));
	w->queue = alloc_array(g->n_blocks, sizeof(*w->queue));
	for (uint32_t b = 0; b < g->n_blocks; b++) {
		w->dead[b] = measure[b] && !hit[b];
		if (measure[b] && hit[b])
			w->ones[w->n_ones++] = b;
	}
	w->after = alloc_array(w->n_ones, sizeof(*w->after));
	w->before = alloc_array(w->n_ones, sizeof(*w->before));
	for (uint32_t i = 0; i < w->n_ones; i++) {
		w->after[i] = alloc_array(g->n_blocks, sizeof(bool));
		w->before[i] = alloc_array(g->n_blocks, sizeof(bool));
	}
}

static void walk_clear(struct walk *w)
{
	for (uint32_t i = 0; i < w->n_ones; i++) {
		free(w->after[i]);
		free(w->before[i]);
	}
	free(w->after);
	free(w->before);
	free(w->succ);
	free(w->first);
	free(w->first_pred);
	free(w->pred);
	free(w->dead);
	free(w->ones);
	free(w->from_entry);
	free(w->to_exit);
	free(w->queue);
}

/* To ask of each block whether there is a walk without it. */
static double steps_of_all(const struct kernel_graph *g, uint32_t n_ones)
{
	return (double)g->n_blocks * (n_ones + 1.0) * (g->n_arcs + 1.0);
}

double kernel_paths_steps(const struct kernel_graph *graph, uint32_t n_ones)
{
	double all = steps_of_all(graph, n_ones);

	return all <= MAX_WORK ? all : 4.0 * (n_ones + 1) * (graph->n_blocks + graph->n_arcs);
}

bool kernel_blocks_path(const struct kernel_graph *graph, const bool *measure, const bool *hit,
			enum kernel_on_path *on_path)
{
	uint32_t measured = 0;
	scoped(walk_clear) struct walk w;
	bool ok;

	walk_init(&w, graph, measure, hit);
	ok = feasible(&w);
	for (uint32_t b = 0; b < graph->n_blocks; b++)
		on_path[b] = ok && fits(&w, b) ? KERNEL_PATH_MAYBE : KERNEL_PATH_NO;
	for (uint32_t i = 0; ok && i < w.n_ones; i++)
		on_path[w.ones[i]] = KERNEL_PATH_YES;
	for (uint32_t b = 0; b < graph->n_blocks; b++)
		measured += measure[b];
	/* Of all blocks that may be hit, so that kernel_paths_steps() can tell before. */
	if (ok && steps_of_all(graph, measured) <= MAX_WORK) {
		for (uint32_t b = 0; b < graph->n_blocks; b++) {
			if (on_path[b] != KERNEL_PATH_MAYBE)
				continue;
			w.dead[b] = true;
			if (!feasible(&w))
				on_path[b] = KERNEL_PATH_YES;
			w.dead[b] = false;
		}
	}
	return ok;
}

struct by_depth {
	uint32_t block, depth;
};

define_compare(compare_depth, struct by_depth,
	       compare_values(a->depth, b->depth) ?: compare_values(a->block, b->block));

uint32_t kernel_paths_bits(const struct kernel_graph *graph, const struct kernel_loops *loops,
			   const bool *measure, uint8_t *bit)
{
	scoped_free struct by_depth *order = alloc_array(graph->n_blocks, sizeof(*order));
	scoped_free enum kernel_on_path *path = alloc_array(graph->n_blocks, sizeof(*path));
	scoped_free bool *none = alloc_array(graph->n_blocks, sizeof(*none));
	uint32_t n = 0;

	/* With nothing known of a call, what must be on its path is on each. */
	kernel_blocks_path(graph, none, none, path);
	for (uint32_t b = 0; b < graph->n_blocks; b++) {
		bit[b] = KERNEL_NO_BIT;
		if (measure[b] && path[b] == KERNEL_PATH_MAYBE)
			order[n++] = (struct by_depth){ b, kernel_loop_depth(loops, b) };
	}
	sort_array(order, n, sizeof(*order), compare_depth);
	if (n > KERNEL_MAX_BITS)
		n = KERNEL_MAX_BITS;
	for (uint32_t i = 0; i < n; i++)
		bit[order[i].block] = (uint8_t)i;
	return n;
}

bool kernel_paths_of(const struct kernel_graph *graph, const uint8_t *bit, uint64_t signature,
		     enum kernel_on_path *on_path)
{
	scoped_free bool *measure = alloc_array(graph->n_blocks, sizeof(*measure));
	scoped_free bool *hit = alloc_array(graph->n_blocks, sizeof(*hit));

	for (uint32_t b = 0; b < graph->n_blocks; b++) {
		measure[b] = bit[b] < KERNEL_MAX_BITS;
		hit[b] = measure[b] && signature >> bit[b] & 1;
	}
	return kernel_blocks_path(graph, measure, hit, on_path);
}
