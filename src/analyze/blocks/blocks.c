// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/blocks/blocks.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/figures/accounting.h"
#include "analyze/inline/bodies.h"
#include "base/alloc.h"
#include "base/sorted.h"
#include "kernel/cfg/blocks.h"
#include "profile/conditions.h"

static void add_block(struct analyze_blocks *out, const struct profile *p,
		      const struct profile_blocks *blocks, uint32_t b, const char *context,
		      uint64_t count, uint64_t calls)
{
	const struct profile_block *block = &blocks->items[b];
	const struct profile_location *location = &p->locations[block->location];
	const struct profile_site *site = &p->sites[blocks->site];
	int64_t offset = (int64_t)(block->addr - site->addr);
	struct analyze_block row = {
		.function = site->name,
		.context = context,
		.location = alloc_keep(&out->texts, analyze_chain_place(location)),
		.body = alloc_keep(&out->texts, analyze_chain_of(location)),
		.offset = (double)offset,
		.bytes = block->bytes,
		.insns = block->insns,
		.executions = count == PROFILE_NOT_COUNTED ? NAN : (double)count,
		.share = NAN,
	};

	row.place = alloc_keep(&out->texts,
			       alloc_printf("%c0x%" PRIx64, offset < 0 ? '-' : '+',
					    offset < 0 ? -(uint64_t)offset : (uint64_t)offset));
	row.per_call = calls ? row.executions / (double)calls : NAN;
	row.insns_per_call = row.per_call * row.insns;
	vec_push(out, rows, row);
}

static void add_function(struct analyze_blocks *out, const struct analyze_counted *c,
			 uint32_t index, uint32_t context)
{
	const struct profile *p = c->p;
	const struct profile_blocks *blocks = &p->blocks[index];
	scoped_free uint64_t *counts = alloc_array(blocks->n_items, sizeof(*counts));
	bool counted = profile_site_is_counted(p, &p->sites[blocks->site]);
	uint64_t calls;
	struct analyze_block_function f = {
		.function = p->sites[blocks->site].name,
		.context = context == ANALYZE_IN_ALL_CONTEXTS ? ANALYZE_ALL_CONTEXTS :
								p->contexts[context].name,
		.caveat = counted ? NULL : ANALYZE_CAVEAT_UNCOUNTED,
		.first = out->n_rows,
	};

	calls = analyze_counted_sum(c, index, context, counts, &f.residual);
	f.calls = counted ? (double)calls : NAN;
	for (uint32_t i = 0; !counted && i < blocks->n_items; i++)
		counts[i] = PROFILE_NOT_COUNTED;
	for (uint32_t i = 0; i < blocks->n_items; i++)
		if (blocks->items[i].reached)
			add_block(out, p, blocks, i, f.context, counts[i], calls);
	f.n = out->n_rows - f.first;
	f.blocks = f.n;
	for (uint32_t i = f.first; i < out->n_rows; i++) {
		if (isnan(out->rows[i].executions))
			f.unknown++;
		else
			f.insns_per_call += out->rows[i].insns_per_call;
	}
	if (f.unknown == f.n)
		f.insns_per_call = NAN;
	for (uint32_t i = f.first; i < out->n_rows && f.insns_per_call > 0; i++)
		out->rows[i].share = out->rows[i].insns_per_call / f.insns_per_call;
	vec_push(out, functions, f);
}

/* Sort counts by function, then by context. In a search, ANALYZE_IN_ALL_CONTEXTS equals each context. */
define_compare(by_context, struct profile_block_counts,
	       compare_values(a->blocks, b->blocks) ?:
						      (b->context == ANALYZE_IN_ALL_CONTEXTS ?
							       0 :
							       compare_values(a->context, b->context)));

static const void *const *find_counts(const struct analyze_counted *c, uint32_t blocks,
				      uint32_t context, size_t *n)
{
	const struct profile_block_counts key = { .blocks = blocks, .context = context };

	return pointers_find(&c->counts, &key, n);
}

/* Return whether there are block counts for calls in CONTEXT of a function. BLOCKS is the index of its blocks in the profile. */
static bool has_counts(const struct analyze_counted *c, uint32_t blocks, uint32_t context)
{
	size_t n;

	find_counts(c, blocks, context, &n);
	return n;
}

void analyze_blocks_init(struct analyze_blocks *out, const struct profile *p)
{
	scoped(analyze_counted_deinit) struct analyze_counted counted;

	memset(out, 0, sizeof(*out));
	out->clock = p->clock;
	analyze_counted_init(&counted, p);
	for (uint32_t i = 0; i < p->n_blocks; i++) {
		add_function(out, &counted, i, ANALYZE_IN_ALL_CONTEXTS);
		for (uint32_t context = 0; context < p->n_contexts; context++)
			if (has_counts(&counted, i, context))
				add_function(out, &counted, i, context);
	}
}

void analyze_blocks_deinit(struct analyze_blocks *out)
{
	alloc_texts_free(&out->texts);
	free(out->rows);
	free(out->functions);
	memset(out, 0, sizeof(*out));
}

static int by_insns(const void *left, const void *right)
{
	const struct analyze_block *a = left, *b = right;
	double x = isnan(a->insns_per_call) ? -1 : a->insns_per_call;
	double y = isnan(b->insns_per_call) ? -1 : b->insns_per_call;

	return compare_values(y, x) ?: compare_values(a->offset, b->offset);
}

struct analyze_block *analyze_blocks_hottest(const struct analyze_blocks *blocks,
					     const struct analyze_block_function *function)
{
	struct analyze_block *rows = alloc_array(function->n, sizeof(*rows));

	if (function->n)
		memcpy(rows, &blocks->rows[function->first], function->n * sizeof(*rows));
	sort_array(rows, function->n, sizeof(*rows), by_insns);
	return rows;
}

void analyze_counted_init(struct analyze_counted *c, const struct profile *p)
{
	*c = (struct analyze_counted){
		.p = p,
		.counts = pointers_sort(p->block_counts, p->n_block_counts,
					sizeof(*p->block_counts), by_context),
	};
}

void analyze_counted_deinit(struct analyze_counted *c)
{
	free(c->counts.items);
}

uint64_t analyze_counted_sum(const struct analyze_counted *c, uint32_t blocks, uint32_t context,
			     uint64_t *counts, double *residual)
{
	uint32_t n_items = c->p->blocks[blocks].n_items, b;
	size_t n;
	const void *const *found = find_counts(c, blocks, context, &n);
	uint64_t calls = 0, most = 0;

	memset(counts, 0, n_items * sizeof(*counts));
	for (size_t i = 0; i < n; i++) {
		const struct profile_block_counts *one = found[i];

		calls += one->calls;
		most = one->residual > most ? one->residual : most;
		for (b = 0; b < n_items; b++)
			if (one->counts[b] == PROFILE_NOT_COUNTED ||
			    counts[b] == PROFILE_NOT_COUNTED)
				counts[b] = PROFILE_NOT_COUNTED;
			else
				counts[b] += one->counts[b];
	}
	if (residual)
		*residual = (double)most;
	return calls;
}

/*
 * Limit of the work for one profile. The work is the number of blocks times loops, summed over functions and contexts. It is a few
 * million for a recording. If a made-up file reaches the limit, skip its further functions.
 */
#define MAX_STEPS 4e9

/* The state of a search for loops in one function. The loops get block counts of calls in one context. */
struct work {
	struct analyze_loops *out;
	const struct analyze_counted *counted;
	const struct profile *p;
	const struct profile_blocks *blocks;
	uint32_t index, context; /* INDEX: index of BLOCKS in P's array */
	struct kernel_loops loops;
	double steps; /* the work still allowed; at first MAX_STEPS */
};

/* Return an array with the executed instructions of each loop, for free(). NAN: a block of the loop was not counted. */
static double *loops_insns(const struct work *w, const uint64_t *counts)
{
	double *insns = alloc_array(w->loops.n_loops, sizeof(*insns));

	for (uint32_t b = 0; b < w->blocks->n_items; b++)
		if (w->loops.innermost[b] != KERNEL_LOOP_NONE)
			insns[w->loops.innermost[b]] +=
				counts[b] == PROFILE_NOT_COUNTED ?
					NAN :
					(double)counts[b] * w->blocks->items[b].insns;
	/* Inner loops come before their outer loop in the array, so each inner sum is complete when it is added. */
	for (uint32_t l = 0; l < w->loops.n_loops; l++)
		if (w->loops.loops[l].parent != KERNEL_LOOP_NONE)
			insns[w->loops.loops[l].parent] += insns[l];
	return insns;
}

/* Return L's function at inlining depth DEPTH (0: the outermost function), or NULL. */
static const struct profile_frame *frame_of(const struct profile_location *l, uint32_t depth)
{
	return depth < l->n_frames ? &l->frames[l->n_frames - 1 - depth] : NULL;
}

static bool same_frame(const struct profile_frame *a, const struct profile_frame *b)
{
	return a && b && a->name == b->name;
}

/* Return the number of nested inlined functions, from the outermost on, that contain both addresses O and AT. */
static uint32_t common_bodies(const struct profile_location *o, const struct profile_location *at)
{
	uint32_t d = 0;

	while (same_frame(frame_of(o, d + 1), frame_of(at, d + 1)) &&
	       frame_of(o, d)->line == frame_of(at, d)->line)
		d++;
	return d;
}

/*
 * Return the inlining depth (0: not inlined) of the function to report for loop L. It is the innermost function with the loop's
 * head and at least 75 % of the executed instructions. Compilers mix instructions of other functions into a loop.
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

static void add_loops_of(struct work *w, uint32_t index)
{
	struct kernel_graph graph = profile_blocks_graph(&w->p->blocks[index]);

	w->index = index;
	w->blocks = &w->p->blocks[index];
	kernel_loops_find(&graph, &w->loops);
	add_context(w, ANALYZE_IN_ALL_CONTEXTS);
	for (uint32_t context = 0; context < w->p->n_contexts; context++)
		if (has_counts(w->counted, index, context))
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
			add_loops_of(&w, i);
}

void analyze_loops_deinit(struct analyze_loops *out)
{
	alloc_texts_free(&out->texts);
	free(out->rows);
	memset(out, 0, sizeof(*out));
}
