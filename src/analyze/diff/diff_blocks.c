// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/diff/diff_blocks.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/blocks/blocks.h"
#include "analyze/figures/chain.h"
#include "base/alloc.h"
#include "base/sorted.h"
#include "kernel/cfg/blocks.h"
#include "kernel/cfg/loops.h"

/* What of a loop's instructions must be in a body for the loop to be of that body. */
#define OF_BODY 0.75

/* One function in one context on one side. */
struct counted {
	const struct profile *p;
	const struct profile_blocks *blocks;
	const char *context;
	const uint64_t *counts;
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
 * How many of the bodies of loop L's head to leave off to have the innermost one that most of the loop is
 * in: compilers mix in instructions of others.
 */
static uint32_t loop_skip(const struct counted *c, const struct kernel_loops *loops, uint32_t l)
{
	const struct profile_location *head = place_of(c, loops->loops[l].head);
	uint32_t skip, b;

	for (skip = 0; skip < head->n_frames && head->frames[skip].inlined; skip++) {
		char *outer = analyze_chain_of(head, skip);
		double inside = 0, all = 0;

		for (b = 0; b < c->blocks->n_items; b++) {
			char *chain;

			if (loops->innermost[b] != l)
				continue;
			chain = analyze_chain_of(place_of(c, b), 0);
			all += insns_of(c, b);
			if (analyze_chain_is_within(chain, outer))
				inside += insns_of(c, b);
			free(chain);
		}
		free(outer);
		if (inside >= OF_BODY * all)
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

static void loops_add(struct analyze_diff_blocks *out, const struct counted *c,
		      const struct kernel_loops *loops)
{
	uint32_t l, b;

	for (l = 0; l < loops->n_loops; l++) {
		row_add(out, c, loops->loops[l].head, loop_skip(c, loops, l), true);
		for (b = 0; b < c->blocks->n_items; b++)
			if (loops->innermost[b] == l)
				out->rows[out->n_rows - 1].insns[c->side] +=
					insns_of(c, b) / c->runs;
	}
}

static void function_add(struct analyze_diff_blocks *out, const struct counted *c)
{
	struct kernel_graph graph = analyze_blocks_graph(c->blocks);
	struct kernel_loops loops;
	uint32_t i;

	kernel_loops_find(&graph, &loops);
	loops_add(out, c, &loops);
	for (i = 0; i < c->blocks->n_items; i++)
		if (loops.innermost[i] == KERNEL_LOOP_NONE && c->blocks->items[i].reached)
			row_add(out, c, i, 0, false);
	kernel_loops_clear(&loops);
	kernel_graph_clear(&graph);
}

static bool has_function(const struct profile *p, const char *function)
{
	uint32_t i;

	for (i = 0; i < p->n_blocks; i++)
		if (!strcmp(p->sites[p->blocks[i].site].name, function))
			return true;
	return false;
}

static void side_add(struct analyze_diff_blocks *out, struct counted *c,
		     const struct profile *other)
{
	uint32_t i, context;

	for (i = 0; i < c->p->n_blocks; i++) {
		uint64_t *counts = alloc_array(c->p->blocks[i].n_items, sizeof(*counts));

		c->blocks = &c->p->blocks[i];
		c->counts = counts;
		for (context = 0; context < c->p->n_contexts; context++) {
			if (!profile_has_block_counts(c->p, i, context) ||
			    !has_function(other, c->p->sites[c->blocks->site].name))
				continue;
			profile_block_counts_sum(c->p, c->blocks, context, counts);
			c->context = c->p->contexts[context].name;
			function_add(out, c);
		}
		free(counts);
	}
}

/* ---- the same on both sides ---- */

/* Of one function, context, kind, and body, and where the source is the same, line. */
static int place_compare(const struct analyze_diff_block *a, const struct analyze_diff_block *b)
{
	return strcmp(a->function, b->function)          ?:
		       strcmp(a->context, b->context)    ?:
		       (int)a->is_loop - (int)b->is_loop ?:
		       compare_text(a->chain, b->chain)  ?:
		       compare_text(a->match_location, b->match_location);
}

static int row_compare(const void *a, const void *b)
{
	return place_compare(a, b) ?:
				     compare_values(((const struct analyze_diff_block *)a)->nth,
						    ((const struct analyze_diff_block *)b)->nth);
}

/* Numbers the loops, from FIRST on, that have all in common, in the order of their addresses. */
static void loops_number(struct analyze_diff_blocks *out, uint32_t first)
{
	uint32_t i, j;

	for (i = first; i < out->n_rows; i++) {
		struct analyze_diff_block *row = &out->rows[i];

		for (j = i; row->is_loop && j-- > first;) {
			if (place_compare(&out->rows[j], row))
				continue;
			row->nth = out->rows[j].nth + 1;
			break;
		}
	}
}

static void row_free(struct analyze_diff_block *row)
{
	free(row->chain);
	free(row->location);
}

/* Rows of one thing become one: blocks of a line, and the two sides'. */
static void rows_join(struct analyze_diff_blocks *out)
{
	uint32_t i, n = 0;
	int side;

	sort_array(out->rows, out->n_rows, sizeof(*out->rows), row_compare);
	for (i = 0; i < out->n_rows; i++) {
		struct analyze_diff_block *row = &out->rows[i], *into = &out->rows[n - !!n];

		if (!n || row_compare(into, row)) {
			out->rows[n++] = *row;
			continue;
		}
		for (side = 0; side < 2; side++) {
			into->executions[side] += row->executions[side];
			into->insns[side] += row->insns[side];
		}
		row_free(row);
	}
	out->n_rows = n;
}

void analyze_diff_blocks_init(struct analyze_diff_blocks *out, const struct profile *baseline,
			      const struct profile *hardened, const uint32_t runs[2],
			      bool same_source)
{
	const struct profile *profiles[2] = { baseline, hardened };
	int side;

	memset(out, 0, sizeof(*out));
	for (side = 0; side < 2; side++) {
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
	rows_join(out);
}

void analyze_diff_blocks_deinit(struct analyze_diff_blocks *out)
{
	while (out->n_rows)
		row_free(&out->rows[--out->n_rows]);
	free(out->rows);
	memset(out, 0, sizeof(*out));
}
