/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions that fill a tree from recordings, and their helpers. */
#pragma once

#include "tree/tree.h"

/* Key of a node. Siblings differ by NAME or by EXTRA. */
struct tree_key {
	uint32_t parent;
	const char *name;
	bool extra;
};

uint32_t tree_key_hash(const struct tree_key *key);
uint32_t tree_find_or_add(struct tree *t, const struct tree_key *key);
/* Return the node with KEY, or TREE_NONE. */
uint32_t tree_find(const struct tree *t, const struct tree_key *key);

/* Return the entry for FRAME's source line in NODE. Add an entry to TABLE if there is none. */
struct tree_line *tree_line_find(struct tree_line_table *table, uint32_t node,
				 const struct profile_frame *frame);

/* Rows of values have a column for each repetition. Return the column of RUN's repetition, or TREE_NONE if RUN has no probes. */
uint32_t tree_column(const struct tree *t, int side, uint32_t run);
/* Return the value of a node or line in column COLUMN. Adding a node or line makes the pointer invalid. */
struct tree_value *tree_value_of(struct tree *t, uint32_t node, uint32_t column);
struct tree_value *tree_line_value(struct tree *t, uint32_t node, const struct profile_frame *frame,
				   uint32_t column);

/* Extend the range of lines that kernel SIDE executes in NODE to FRAME's line. */
void tree_extend(struct tree_node *node, const struct profile_frame *frame, int side);

/* One instruction in NODE is executed TIMES times in one repetition. */
struct tree_times {
	uint32_t node, location, column;
	const struct profile_frame *frame; /* the instruction's source line */
	/* The caller's source line that calls or inlines NODE. NULL: unknown, or NODE calls itself. */
	const struct profile_frame *caller;
	double times;
};

/* Return whether A and B are executions of the same instruction. */
static inline bool tree_times_same(const struct tree_times *a, const struct tree_times *b)
{
	return a->node == b->node && a->location == b->location;
}

/* Sort the N items of ALL. Merge those of one instruction and repetition: add up TIMES. Return the number of items left. */
size_t tree_times_unite(struct tree_times *all, size_t n);
/* TIMES are N items of one instruction. Return the instruction's executions per run of kernel SIDE. */
double tree_times_per_run(const struct tree *t, int side, const struct tree_times *times, size_t n);
/* Add N items from tree_times_unite() to the source lines of their nodes. Add a loop for each item that is a loop's head. */
void tree_times_add(struct tree *t, int side, const struct tree_times *all, size_t n);

/* tree_fill_exact() fills T from two exact recordings, tree_fill_probed() from kernel SIDE's recording by probes. */
void tree_fill_exact(struct tree *t);
void tree_fill_probed(struct tree *t, int side);
/* Add the functions whose basic blocks kernel SIDE's recording counts. Call tree_fill_probed() for SIDE first. */
void tree_fill_counted(struct tree *t, int side);
/* Add functions that only samples show. Call tree_fill_probed() for both kernels first. */
void tree_fill_sampled(struct tree *t);
