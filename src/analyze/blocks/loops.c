// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/blocks/loops.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "kernel/cfg/blocks.h"
#include "profile/conditions.h"

/*
 * Steps for all functions of a profile, each block of a loop in each context being one. A recording takes a few
 * million; functions beyond the limit, of made-up files, are left out.
 */
#define MAX_STEPS 4e9

/* A function, in one context after the other. */
struct work {
	struct analyze_loops *out;
	const struct analyze_counted *counted;
	const struct profile *p;
	const struct profile_blocks *blocks;
	uint32_t index, context; /* ANALYZE_IN_ALL_CONTEXTS */
	struct kernel_loops loops;
	double steps; /* of MAX_STEPS, that are left */
};

/* Instructions executed in each loop; NAN where a block of it has no count. For free(). */
static double *loops_insns(const struct work *w, const uint64_t *counts)
{
	double *insns = alloc_array(w->loops.n_loops, sizeof(*insns));

	for (uint32_t b = 0; b < w->blocks->n_items; b++)
		if (w->loops.innermost[b] != KERNEL_LOOP_NONE)
			insns[w->loops.innermost[b]] +=
				counts[b] == PROFILE_NOT_COUNTED ?
					NAN :
					(double)counts[b] * w->blocks->items[b].insns;
	/* Larger ones follow those in them. */
	for (uint32_t l = 0; l < w->loops.n_loops; l++)
		if (w->loops.loops[l].parent != KERNEL_LOOP_NONE)
			insns[w->loops.loops[l].parent] += insns[l];
	return insns;
}

/* The frame of L that is DEPTH frames from the outermost. */
static const struct profile_frame *frame_of(const struct profile_location *l, uint32_t depth)
{
	return depth < l->n_frames ? &l->frames[l->n_frames - 1 - depth] : NULL;
}

static bool same_frame(const struct profile_frame *a, const struct profile_frame *b)
{
	return a && b && a->name == b->name;
}

/* Return how many bodies, from the function on, O and AT are both in. */
static uint32_t common_bodies(const struct profile_location *o, const struct profile_location *at)
{
	uint32_t d = 0;

	while (same_frame(frame_of(o, d + 1), frame_of(at, d + 1)) &&
	       frame_of(o, d)->line == frame_of(at, d)->line)
		d++;
	return d;
}

/*
 * Return the depth, below the function, of the innermost body of its head that has three quarters of the loop's
 * executed instructions: the compiler mixes in those of others.
 */
static uint32_t loop_depth(const struct work *w, uint32_t l, const uint64_t *counts)
{
	const struct profile_block *head = &w->blocks->items[w->loops.loops[l].head];
	const struct profile_location *at = &w->p->locations[head->location];
	uint32_t depth = at->n_frames ? at->n_frames - 1 : 0;
	double *inside = alloc_array((size_t)depth + 1, sizeof(*inside)), all = 0, sum = 0;

	for (uint32_t b = 0; depth && b < w->blocks->n_items; b++) {
		const struct profile_block *block = &w->blocks->items[b];
		double insns = (double)counts[b] * block->insns;

		if (!kernel_loop_has(&w->loops, l, b) || counts[b] == PROFILE_NOT_COUNTED)
			continue;
		all += insns;
		inside[common_bodies(&w->p->locations[block->location], at)] += insns;
	}
	for (; depth; depth--) {
		sum += inside[depth];
		if (sum >= 0.75 * all)
			break;
	}
	free(inside);
	return depth;
}

static void add_loops(struct work *w, const char *function, const char *context)
{
	scoped_free uint64_t *counts = alloc_array(w->blocks->n_items, sizeof(*counts));
	double calls = (double)analyze_counted_sum(w->counted, w->index, w->context, counts, NULL);
	scoped_free double *insns = loops_insns(w, counts);

	for (uint32_t l = 0; l < w->loops.n_loops && calls > 0; l++) {
		uint32_t head = w->loops.loops[l].head;
		const struct profile_block *block = &w->blocks->items[head];
		const struct profile_location *at = &w->p->locations[block->location];
		struct analyze_loop loop = { .function = function, .context = context };
		const struct profile_frame *frame;

		if (!counts[head] || counts[head] == PROFILE_NOT_COUNTED)
			continue;
		frame = frame_of(at, loop_depth(w, l, counts));
		if (frame && frame->file)
			loop.location =
				alloc_keep(&w->out->texts,
					   alloc_printf("%s:%" PRIu32, frame->file, frame->line));
		if (frame && frame->inlined)
			loop.body = frame->name;
		loop.condition = profile_condition_of(w->p, block->location);
		loop.offset = (double)(int64_t)(block->addr - w->p->sites[w->blocks->site].addr);
		loop.trips = (double)counts[head] / calls;
		loop.insns_per_iteration = insns[l] / (double)counts[head];
		loop.insns_per_call = insns[l] / calls;
		vec_push(w->out, rows, loop);
	}
}

static void add_context(struct work *w, uint32_t context)
{
	w->context = context;
	w->steps -= w->blocks->n_items * (1.0 + w->loops.n_loops);
	if (w->steps > 0)
		add_loops(w, w->p->sites[w->blocks->site].name,
			  context == ANALYZE_IN_ALL_CONTEXTS ? ANALYZE_ALL_CONTEXTS :
							       w->p->contexts[context].name);
}

static void add_function(struct work *w, uint32_t index)
{
	struct kernel_graph graph = profile_blocks_graph(&w->p->blocks[index]);

	w->index = index;
	w->blocks = &w->p->blocks[index];
	kernel_loops_find(&graph, &w->loops);
	add_context(w, ANALYZE_IN_ALL_CONTEXTS);
	for (uint32_t context = 0; context < w->p->n_contexts; context++)
		if (analyze_counted_has(w->counted, index, context))
			add_context(w, context);
	kernel_loops_clear(&w->loops);
	kernel_graph_clear(&graph);
}

void analyze_loops_init(struct analyze_loops *out, const struct profile *p)
{
	scoped(analyze_counted_deinit) struct analyze_counted counted;
	struct work w = { .out = out, .p = p, .counted = &counted, .steps = MAX_STEPS };

	memset(out, 0, sizeof(*out));
	analyze_counted_init(&counted, p);
	for (uint32_t i = 0; i < p->n_blocks && w.steps > 0; i++)
		if (p->blocks[i].n_items <= KERNEL_GRAPH_MAX)
			add_function(&w, i);
}

void analyze_loops_deinit(struct analyze_loops *out)
{
	alloc_texts_free(&out->texts);
	free(out->rows);
	memset(out, 0, sizeof(*out));
}
