/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The functions that fill a tree, and what they use. */
#pragma once

#include "tree/tree.h"

/* A child's name below its parent. */
struct tree_key {
	uint32_t parent;
	const char *name;
	bool extra;
};

uint32_t tree_key_hash(const struct tree_key *key);
uint32_t tree_find_or_add(struct tree *t, const struct tree_key *key);
/* Return TREE_NONE where there is no such node. */
uint32_t tree_find(const struct tree *t, const struct tree_key *key);

/* Return the line of FRAME in NODE; add it to TABLE if it is missing. */
struct tree_line *tree_line_find(struct tree_line_table *table, uint32_t node,
				 const struct profile_frame *frame);

/* Return the place of SIDE's run RUN among all repetitions; TREE_NONE: a control run. */
uint32_t tree_column(const struct tree *t, int side, uint32_t run);
/* Return a value, valid until nodes or lines are added. */
struct tree_value *tree_value_of(struct tree *t, uint32_t node, uint32_t column);
struct tree_value *tree_line_value(struct tree *t, uint32_t node, const struct profile_frame *frame,
				   uint32_t column);

/* Let SIDE's code of NODE reach to FRAME's line. */
void tree_extend(struct tree_node *node, const struct profile_frame *frame, int side);

/* Executions of an instruction of a node in a repetition. */
struct tree_times {
	uint32_t node, location, column;
	const struct profile_frame *frame; /* its line in NODE */
	/* The line that has NODE, an inlined body, in it. NULL: not known, or the body is in itself. */
	const struct profile_frame *caller;
	double times;
};

/* Return whether A and B are of one instruction. */
static inline bool tree_times_same(const struct tree_times *a, const struct tree_times *b)
{
	return a->node == b->node && a->location == b->location;
}

/* Sort N items and make one of all of an instruction in a repetition; return how many are left. */
size_t tree_times_unite(struct tree_times *all, size_t n);
/* Return the sum per run of SIDE of N TIMES, all of one instruction. */
double tree_times_per_run(const struct tree *t, int side, const struct tree_times *times, size_t n);
/* Add the N items, united, to the lines of their nodes, and the loops that these instructions are the heads of. */
void tree_times_add(struct tree *t, int side, const struct tree_times *all, size_t n);

/* Fill in everything that the recordings know. */
void tree_fill_exact(struct tree *t);
void tree_fill_probed(struct tree *t, int side);
/* SIDE's probes come first. */
void tree_fill_counted(struct tree *t, int side);
/* Both sides' probes come first. */
void tree_fill_sampled(struct tree *t);
