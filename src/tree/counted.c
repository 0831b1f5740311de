// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Fill a tree with functions whose blocks were counted. Their time is not known, as the probes of blocks distort it: where
 * time is counted in instructions, their own instructions take its place, and the rest is their context's, with as much doubt.
 */
#include <math.h>

#include "base/alloc.h"
#include "tree/fill.h"

struct filler {
	struct tree *t;
	const struct profile *p;
	int side;
	vec_of(struct tree_times, times);
};

static uint32_t find_context(struct tree *t, const struct profile *p, uint32_t context)
{
	return tree_find_or_add(t, &(struct tree_key){ TREE_ROOT, p->contexts[context].name });
}

/* Move to its context the time of CELL's function, which has counted blocks. */
static void move_time(const struct filler *f, const struct profile_cell *cell)
{
	uint32_t column = tree_column(f->t, f->side, cell->run);
	uint32_t context = find_context(f->t, f->p, cell->context);
	const struct tree_key key = { context, f->p->sites[cell->site].name };
	double self = (double)(int64_t)cell->stats.self;
	struct tree_value *from, *to;
	uint32_t node = tree_find(f->t, &key);

	/* Without a node of its own the time is the context's already. */
	if (column == TREE_NONE || node == TREE_NONE)
		return;
	from = tree_value_of(f->t, node, column);
	to = tree_value_of(f->t, context, column);
	to->insns += self;
	to->error += from->error + fabs(self);
	from->insns -= self;
	from->error = 0;
}

/* BLOCK, in NODE, makes TIMES calls. Those of functions that were timed are counted already. */
static void add_callee(struct filler *f, uint32_t node, uint32_t context,
		       const struct profile_block *block, const struct tree_times *times)
{
	struct tree_value *value;

	if (!block->callee || f->t->n_nodes >= f->t->max_nodes ||
	    tree_find(f->t, &(struct tree_key){ context, block->callee }) != TREE_NONE)
		return;
	node = tree_find_or_add(f->t, &(struct tree_key){ node, block->callee });
	value = tree_value_of(f->t, node, times->column);
	value->times += times->times;
	value->seen = true;
}

/* Add TIMES executions of BLOCK, which is in the node of FUNCTION or in bodies that are inlined there. */
static void add_block(struct filler *f, uint32_t function, uint32_t context,
		      const struct profile_block *block, struct tree_times times)
{
	const struct profile_location *l = &f->p->locations[block->location];
	double insns = times.times * block->insns;

	times.node = function;
	times.location = block->location;
	for (uint32_t k = l->n_frames; k-- > 0 && f->t->n_nodes < f->t->max_nodes;) {
		times.frame = &l->frames[k];
		if (times.frame->inlined) {
			times.node = tree_find_or_add(
				f->t, &(struct tree_key){ times.node, times.frame->name });
			f->t->nodes[times.node].inlined[f->side] = true;
		}
		tree_extend(&f->t->nodes[times.node], times.frame, f->side);
	}
	add_callee(f, times.node, context, block, &times);
	if (times.frame && times.frame->line) {
		tree_line_value(f->t, times.node, times.frame, times.column)->insns += insns;
		vec_push(f, times, times);
	}
	tree_value_of(f->t, times.node, times.column)->seen = true;
	if (f->p->clock == PROFILE_CLOCK_INSN) {
		tree_value_of(f->t, times.node, times.column)->insns += insns;
		tree_value_of(f->t, context, times.column)->insns -= insns;
	}
}

static void add_counts(struct filler *f, const struct profile_block_counts *c)
{
	const struct profile_blocks *blocks = &f->p->blocks[c->blocks];
	uint32_t column = tree_column(f->t, f->side, c->run), context, function;

	if (column == TREE_NONE)
		return;
	context = find_context(f->t, f->p, c->context);
	function = tree_find_or_add(f->t,
				    &(struct tree_key){ context, f->p->sites[blocks->site].name });
	for (uint32_t i = 0; i < c->n_counts; i++)
		if (c->counts[i] && c->counts[i] != PROFILE_NOT_COUNTED)
			add_block(f, function, context, &blocks->items[i],
				  (struct tree_times){ .column = column,
						       .times = (double)c->counts[i] });
}

void tree_fill_counted(struct tree *t, int side)
{
	struct filler f = { .t = t, .p = t->p[side], .side = side };
	scoped_free bool *counted = alloc_array(f.p->n_sites, sizeof(*counted));

	vec_each(const struct profile_blocks, blocks, f.p, blocks)
		counted[blocks->site] = true;
	vec_each(const struct profile_cell, cell, f.p, cells)
		if (counted[cell->site])
			move_time(&f, cell);
	vec_each(const struct profile_block_counts, c, f.p, block_counts)
		add_counts(&f, c);
	f.n_times = tree_times_unite(f.times, f.n_times);
	tree_times_add(t, side, f.times, f.n_times);
	free(f.times);
}
