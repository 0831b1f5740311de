// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/diff/inside/blocks.h"

#include <string.h>

#include "analyze/blocks/blocks.h"
#include "analyze/figures/chain.h"
#include "base/alloc.h"
#include "base/sorted.h"
#include "profile/conditions.h"
#include "kernel/cfg/graph.h"

/* One function on one side, in one context after the other. */
struct counted {
	const struct profile *p;
	const struct profile_blocks *blocks;
	struct kernel_loops loops;
	struct grouped by_loop; /* blocks, by the innermost loop that they are in */
	char **chains; /* of each block, the bodies that it is in */
	const char *context;
	uint64_t *counts;
	double runs;
	int side;
	bool by_line;
};

static const struct profile_location *place_of(const struct counted *c, uint32_t block)
{
	return &c->p->locations[c->blocks->items[block].location];
}

static double insns_of(const struct counted *c, uint32_t block)
{
	if (c->counts[block] == PROFILE_NOT_COUNTED)
		return 0;
	return (double)c->counts[block] * c->blocks->items[block].insns;
}

/*
 * Return how many bodies of the head of loop L to skip to have the innermost one with most of the loop. Compilers mix
 * in instructions of others.
 */
static uint32_t loop_skip(const struct counted *c, uint32_t l)
{
	const struct profile_location *head = place_of(c, c->loops.loops[l].head);
	uint32_t skip, n;
	const struct grouped_item *blocks = grouped_find(&c->by_loop, l, GROUPED_ALL, &n);

	for (skip = 0; skip < head->n_frames && head->frames[skip].inlined; skip++) {
		scoped_free char *outer = analyze_chain_of(head, skip);
		double inside = 0, all = 0;

		for (uint32_t i = 0; i < n; i++) {
			uint32_t b = blocks[i].item;

			all += insns_of(c, b);
			if (analyze_chain_is_within(c->chains[b], outer))
				inside += insns_of(c, b);
		}
		if (inside >= LARGE_PART * all)
			break;
	}
	return skip;
}

static void row_add(struct analyze_diff_blocks *out, const struct counted *c, uint32_t block,
		    uint32_t skip, bool is_loop)
{
	const struct profile_location *place = place_of(c, block);
	struct analyze_diff_block row = {
		.function = c->p->sites[c->blocks->site].name,
		.context = c->context,
		.chain = analyze_chain_of(place, skip),
		.location = is_loop || c->by_line ? analyze_chain_place(place, skip) : NULL,
		.is_loop = is_loop,
	};

	row.match_location = c->by_line ? row.location : NULL;
	if (c->counts[block] != PROFILE_NOT_COUNTED)
		row.executions[c->side] = (double)c->counts[block] / c->runs;
	if (!is_loop)
		row.insns[c->side] = insns_of(c, block) / c->runs;
	vec_push(out, rows, row);
}

static void loops_add(struct analyze_diff_blocks *out, const struct counted *c)
{
	uint32_t n;

	for (uint32_t l = 0; l < c->loops.n_loops; l++) {
		const struct grouped_item *blocks = grouped_find(&c->by_loop, l, GROUPED_ALL, &n);

		row_add(out, c, c->loops.loops[l].head, loop_skip(c, l), true);
		for (uint32_t i = 0; i < n; i++)
			out->rows[out->n_rows - 1].insns[c->side] +=
				insns_of(c, blocks[i].item) / c->runs;
	}
}

static void context_add(struct analyze_diff_blocks *out, const struct counted *c)
{
	loops_add(out, c);
	for (uint32_t i = 0; i < c->blocks->n_items; i++)
		if (c->loops.innermost[i] == KERNEL_LOOP_NONE && c->blocks->items[i].reached)
			row_add(out, c, i, 0, false);
}

static void function_init(struct counted *c, const struct profile_blocks *blocks)
{
	struct kernel_graph graph = profile_blocks_graph(blocks);

	c->blocks = blocks;
	c->by_loop = (struct grouped){ 0 };
	c->counts = alloc_array(blocks->n_items, sizeof(*c->counts));
	c->chains = alloc_array(blocks->n_items, sizeof(*c->chains));
	kernel_loops_find(&graph, &c->loops);
	kernel_graph_clear(&graph);
	for (uint32_t i = 0; i < blocks->n_items; i++) {
		c->chains[i] = analyze_chain_of(place_of(c, i), 0);
		if (c->loops.innermost[i] != KERNEL_LOOP_NONE)
			grouped_add(&c->by_loop, c->loops.innermost[i], 0, i);
	}
	grouped_sort(&c->by_loop);
}

static void function_deinit(struct counted *c)
{
	for (uint32_t i = 0; i < c->blocks->n_items; i++)
		free(c->chains[i]);
	free(c->chains);
	free(c->counts);
	grouped_deinit(&c->by_loop);
	kernel_loops_clear(&c->loops);
}

static bool has_function(const struct profile *p, const char *function)
{
	for (uint32_t i = 0; i < p->n_blocks; i++)
		if (!strcmp(p->sites[p->blocks[i].site].name, function))
			return true;
	return false;
}

static void side_add(struct analyze_diff_blocks *out, struct counted *c,
		     const struct profile *other)
{
	scoped(analyze_counted_deinit) struct analyze_counted counted;

	analyze_counted_init(&counted, c->p);
	for (uint32_t i = 0; i < c->p->n_blocks; i++) {
		if (!has_function(other, c->p->sites[c->p->blocks[i].site].name))
			continue;
		function_init(c, &c->p->blocks[i]);
		for (uint32_t context = 0; context < c->p->n_contexts; context++) {
			if (!analyze_counted_has(&counted, i, context))
				continue;
			analyze_counted_sum(&counted, i, context, c->counts, NULL);
			c->context = c->p->contexts[context].name;
			context_add(out, c);
		}
		function_deinit(c);
	}
}

/* ---- the same on both sides ---- */

/* Compare function, context, kind, body, and, in the same source, line. */
static int place_compare(const struct analyze_diff_block *a, const struct analyze_diff_block *b)
{
	return strcmp(a->function, b->function)          ?:
		       strcmp(a->context, b->context)    ?:
		       (int)a->is_loop - (int)b->is_loop ?:
		       compare_text(a->chain, b->chain)  ?:
		       compare_text(a->match_location, b->match_location);
}

define_compare(row_compare, struct analyze_diff_block,
	       place_compare(a, b) ?: compare_values(a->nth, b->nth));

/* Numbers the loops, from FIRST on, that have all in common, in the order that they are in. */
static void loops_number(struct analyze_diff_blocks *out, uint32_t first)
{
	struct analyze_diff_block *rows = out->rows;

	for (uint32_t i = first; i < out->n_rows; i++)
		rows[i].nth = rows[i].is_loop ? i : 0;
	if (out->n_rows > first)
		sort_array(rows + first, out->n_rows - first, sizeof(*rows), row_compare);
	for (uint32_t i = first; i < out->n_rows; i++)
		if (rows[i].is_loop)
			rows[i].nth = i > first && !place_compare(&rows[i - 1], &rows[i]) ?
					      rows[i - 1].nth + 1 :
					      0;
}

static void row_free(struct analyze_diff_block *row)
{
	free(row->chain);
	free(row->location);
}

static void row_merge(void *to, void *from)
{
	struct analyze_diff_block *into = to, *row = from;

	for (int side = 0; side < 2; side++) {
		into->executions[side] += row->executions[side];
		into->insns[side] += row->insns[side];
	}
	row_free(row);
}

void analyze_diff_blocks_init(struct analyze_diff_blocks *out, const struct profile *baseline,
			      const struct profile *hardened, const uint32_t runs[2],
			      bool same_source)
{
	const struct profile *profiles[2] = { baseline, hardened };

	memset(out, 0, sizeof(*out));
	for (int side = 0; side < 2; side++) {
		struct counted c = { .p = profiles[side],
				     .side = side,
				     .runs = runs[side],
				     .by_line = same_source };
		uint32_t first = out->n_rows;

		if (!runs[side])
			continue;
		side_add(out, &c, profiles[!side]);
		loops_number(out, first);
	}
	/* Rows of one thing become one: blocks of a line, and the two sides'. */
	vec_unite(out, rows, row_compare, row_merge);
}

void analyze_diff_blocks_deinit(struct analyze_diff_blocks *out)
{
	while (out->n_rows)
		row_free(&out->rows[--out->n_rows]);
	free(out->rows);
	memset(out, 0, sizeof(*out));
}
