/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compare two sets of a tree's repetitions. Both sets may come from the same kernel. */
#pragma once

#include "tree/tree.h"

/* The repetitions FIRST to FIRST + COUNT - 1 of kernel SIDE. */
struct tree_part {
	int side;
	uint32_t first, count;
};

static inline struct tree_part tree_side(const struct tree *t, int side)
{
	return (struct tree_part){ side, 0, t->n_repetitions[side] };
}

/* A node with its figures per run in both sets of repetitions: [0] is the first set, [1] the second. See struct tree_node. */
struct tree_pair_node {
	const char *name;
	uint32_t parent;
	uint32_t first_child, next;
	uint32_t first_line, n_lines;
	bool extra, divided, sampled;
	double doubt[2], own_doubt[2]; /* standard deviations of TOTAL and SELF, from samples */
	bool differs; /* sum of SELF over untimed nodes of this name changed beyond chance */
	double everywhere[2]; /* if DIVIDED: calls per run, including the EXTRA sibling */
	uint32_t moved; /* node that took over this node's figures in one set; 0: none */
	bool seen[2]; /* executed in this set */
	bool inlined[2];
	bool nested[2];
	double self[2], total[2]; /* SELF without callees, in instructions or clock ticks */
	double error[2]; /* standard deviation of SELF */
	double one_sided; /* instructions in this node and below that only one set executes */
	double calls[2]; /* 0 if inlined, or if other code only jumps to the function */
	const char *file[2];
	uint32_t from[2], to[2];
};

/* The first set calls the function NAME in context FROM, the second in TO. The first set's figures were moved to TO. */
struct tree_move {
	const char *name;
	uint32_t from, to;
	double insns; /* instructions per run in the first set, with callees */
};

struct tree_pair {
	const struct tree *tree;
	vec_of(struct tree_pair_node, nodes);
	vec_of(struct tree_move, moves); /* largest first */
	struct tree_line_table lines; /* sorted by node, file and number */
	struct hash_index index;
};

/*
 * Match the repetitions A and B of TREE, which must outlive PAIR. If one set calls a function directly and the other through an
 * additional function, put the direct call below the additional function. If the sets call a function in different contexts, about
 * as often and with about as many instructions, treat it as moved between contexts.
 */
void tree_pair_init(struct tree_pair *pair, const struct tree *tree, const struct tree_part *a,
		    const struct tree_part *b);
/* Initialize PAIR as tree_pair_init() does, but match nodes only by names, and move none. */
void tree_pair_init_by_name(struct tree_pair *pair, const struct tree *tree,
			    const struct tree_part *a, const struct tree_part *b);
void tree_pair_deinit(struct tree_pair *pair);

/* Return the EXTRA sibling of NODE (struct tree_node), or TREE_NONE. */
uint32_t tree_pair_extra(const struct tree_pair *pair, uint32_t node);

/* Return whether NODE is ABOVE itself or a node below it. */
bool tree_pair_is_below(const struct tree_pair *pair, uint32_t node, uint32_t above);

/* Return NODE's child that only one set executes and that has at least half of ALL instructions, or TREE_NONE. */
uint32_t tree_pair_most(const struct tree_pair *pair, uint32_t node, double all);

/*
 * Return the inlined or untimed function inside the timed function NODE that has most of NODE's change DELTA, or TREE_NONE. If
 * both sets execute this function, prefer a function inside it that has nearly all of its change.
 */
uint32_t tree_pair_main_part(const struct tree_pair *pair, uint32_t node, double delta);

/* Return NODE's own time per run in set SIDE, including time that samples attribute to sampled nodes below NODE. */
double tree_pair_own(const struct tree_pair *pair, uint32_t node, int side);

/* Return how often set SIDE calls NODE's function per run. For an inlined NODE, use the function around it. NAN: unknown. */
double tree_pair_calls(const struct tree_pair *pair, uint32_t node, int side);

/* The first set's work may move between contexts. Return instructions per run that moved into CONTEXT minus those out of it. */
double tree_pair_moved(const struct tree_pair *pair, uint32_t context);
