/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The functions that fill a tree, and what they use. */
#pragma once

#include "tree/tree.h"

/* Identifies a node: siblings differ by name or by EXTRA. */
struct tree_key {
	uint32_t parent;
	const char *name;
	bool extra;
};

uint32_t tree_key_hash(const struct tree_key *key);
uint32_t tree_find_or_add(struct tree *t, const struct tree_key *key);
/* Return the node of KEY, or TREE_NONE. */
uint32_t tree_find(const struct tree *t, const struct tree_key *key);

/* Return the line of FRAME in NODE; add it to TABLE if it is missing. */
struct tree_line *tree_line_find(struct tree_line_table *table, uint32_t node,
				 const struct profile_frame *frame);

/* Return the index of the repetition of SIDE's run RUN among both sides' repetitions; TREE_NONE: a control run. */
uint32_t tree_column(const struct tree *t, int side, uint32_t run);
/* Return the value of a node or line in repetition COLUMN. It is valid until nodes or lines are added. */
struct tree_value *tree_value_of(struct tree *t, uint32_t node, uint32_t column);
struct tree_value *tree_line_value(struct tree *t, uint32_t node, const struct profile_frame *frame,
				   uint32_t column);

/* Extend NODE's range of lines on SIDE to FRAME's line. */
void tree_extend(struct tree_node *node, const struct profile_frame *frame, int side);

/* Executions of an instruction of a node in a repetition. */
struct tree_times {
	uint32_t node, location, column;
	const struct profile_frame *frame; /* the instruction's line in NODE */
	/* The caller's line that calls NODE or has it inlined; NULL: unknown, or NODE calls itself. */
	const struct profile_frame *caller;
	double times;
};

/* Return whether A and B count the same instruction. */
static inline bool tree_times_same(const struct tree_times *a, const struct tree_times *b)
{
	return a->node == b->node && a->location == b->location;
}

/* Sort N items and merge those of the same instruction and repetition; return how many remain. */
size_t tree_times_unite(struct tree_times *all, size_t n);
/* Return the sum of N TIMES, all of one instruction, divided by SIDE's runs. */
double tree_times_per_run(const struct tree *t, int side, const struct tree_times *times, size_t n);
/* Add N items from tree_times_unite() to the lines of their nodes. If an instruction is the head of a loop, add the loop. */
void tree_times_add(struct tree *t, int side, const struct tree_times *all, size_t n);

/* Fill T from exact recordings of both sides, or from SIDE's recording by probes. */
void tree_fill_exact(struct tree *t);
void tree_fill_probed(struct tree *t, int side);
/* Add SIDE's functions whose basic blocks were counted. Call tree_fill_probed() for SIDE first. */
void tree_fill_counted(struct tree *t, int side);
/* Add functions and bodies that are known from samples only. Call tree_fill_probed() for both sides first. */
void tree_fill_sampled(struct tree *t);
