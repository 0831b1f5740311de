/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compare two sets of a tree's repetitions. Both sets may come from the same kernel. */
#pragma once

#include "tree/tree.h"

/* COUNT repetitions of kernel SIDE, from number FIRST on. */
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
	bool differs; /* SELF, summed over untimed nodes of this name, changed beyond chance */
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

/* A function NAME that the first set calls in context FROM, the second set in TO. The first set's figures are moved to TO. */
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
/* Match nodes by their names, without moving any. */
void tree_pair_init_by_name(struct tree_pair *pair, const struct tree *tree,
			    const struct tree_part *a, const struct tree_part *b);
void tree_pair_deinit(struct tree_pair *pair);

/* Return the EXTRA sibling of NODE (struct tree_node), or TREE_NONE. */
uint32_t tree_pair_extra(const struct tree_pair *pair, uint32_t node);

/* Return whether NODE is ABOVE itself or a node below it. */
bool tree_pair_is_below(const struct tree_pair *pair, uint32_t node, uint32_t above);

/* Return NODE's child that only one set executes and that has at least half of the instructions (number ALL), or TREE_NONE. */
uint32_t tree_pair_most(const struct tree_pair *pair, uint32_t node, double all);

/*
 * Return the inlined or untimed function inside the timed function NODE that has most of NODE's change DELTA, or TREE_NONE. If
 * both sets execute this function, prefer a function inside it that has nearly all of its change.
 */
uint32_t tree_pair_main_part(const struct tree_pair *pair, uint32_t node, double delta);

/* Return NODE's own time per run in set SIDE. The time that samples attribute to sampled nodes below it is included. */
double tree_pair_own(const struct tree_pair *pair, uint32_t node, int side);

/* Return calls per run of NODE's function in set SIDE, or of the function that NODE is inlined into; NAN: unknown. */
double tree_pair_calls(const struct tree_pair *pair, uint32_t node, int side);

/* Return the first set's instructions per run that moved into CONTEXT minus those that moved out of it. */
double tree_pair_moved(const struct tree_pair *pair, uint32_t context);
