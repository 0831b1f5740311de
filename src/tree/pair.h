/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two sets of a tree's repetitions, matched for a comparison. Both sets may be of the same side. */
#pragma once

#include "tree/tree.h"

/* COUNT repetitions of SIDE from FIRST on. */
struct tree_part {
	int side;
	uint32_t first, count;
};

/* Return all repetitions of SIDE. */
static inline struct tree_part tree_side(const struct tree *t, int side)
{
	return (struct tree_part){ side, 0, t->n_repetitions[side] };
}

/* A node, like struct tree_node, with its figures per run in both sets of repetitions. Index 0 is the first set, 1 the second. */
struct tree_pair_node {
	const char *name;
	uint32_t parent;
	uint32_t first_child, next;
	uint32_t first_line, n_lines;
	bool extra, divided, sampled;
	double doubt[2], own_doubt[2]; /* uncertainty of TOTAL and SELF; see struct tree_node */
	bool differs; /* SELF of all untimed sampled nodes of this name changed beyond chance */
	double everywhere[2]; /* see struct tree_node */
	uint32_t moved; /* the node to which one side's figures were moved; 0: none */
	bool seen[2]; /* executed on that side */
	bool inlined[2];
	bool nested[2];
	double self[2], total[2]; /* instructions; clock ticks in recordings by probes */
	double error[2]; /* standard deviation of SELF */
	double one_sided; /* instructions that this node and those below it execute on one side only */
	double calls[2]; /* 0 for inlined bodies and for code that is only jumped to */
	const char *file[2];
	uint32_t from[2], to[2];
};

/* A function NAME that the first set calls in the context FROM, the second in TO. Its figures in the first set are moved to TO. */
struct tree_move {
	const char *name;
	uint32_t from, to;
	double insns; /* instructions per run in the first set, callees included */
};

struct tree_pair {
	const struct tree *tree;
	vec_of(struct tree_pair_node, nodes);
	vec_of(struct tree_move, moves); /* largest first */
	struct tree_line_table lines; /* sorted by node, file and number by tree_pair_init() */
	struct hash_index index;
};

/*
 * Match the repetitions A and B of TREE, which must outlive PAIR. If one side calls a function directly and the other side through
 * an additional function, the direct call is put below the additional function. A function that the sides call in different
 * contexts, about as often and with about as many instructions, has moved.
 */
void tree_pair_init(struct tree_pair *pair, const struct tree *tree, const struct tree_part *a,
		    const struct tree_part *b);
/* Match nodes by names only: no node is moved. */
void tree_pair_init_by_name(struct tree_pair *pair, const struct tree *tree,
			    const struct tree_part *a, const struct tree_part *b);
void tree_pair_deinit(struct tree_pair *pair);

/* Return the EXTRA sibling of NODE (struct tree_node), or TREE_NONE. */
uint32_t tree_pair_extra(const struct tree_pair *pair, uint32_t node);

/* Return whether NODE is ABOVE itself or below it. */
bool tree_pair_is_below(const struct tree_pair *pair, uint32_t node, uint32_t above);

/* Return the callee of NODE that only one side executes and that has most of ALL instructions, or TREE_NONE. */
uint32_t tree_pair_most(const struct tree_pair *pair, uint32_t node, double all);

/*
 * Return the body or untimed callee of the timed function NODE that has most of NODE's change DELTA, or TREE_NONE. If one
 * inside it has nearly all of its change, return the innermost, but none inside a node that only one side executes.
 */
uint32_t tree_pair_main_part(const struct tree_pair *pair, uint32_t node, double delta);

/* Return SIDE's own time of NODE per run, including the parts that samples attribute to sampled nodes below it. */
double tree_pair_own(const struct tree_pair *pair, uint32_t node, int side);

/* Return SIDE's calls per run of NODE's function or, if NODE is inlined, of the function around it; NAN: unknown. */
double tree_pair_calls(const struct tree_pair *pair, uint32_t node, int side);

/* Return the first set's instructions per run that moved into CONTEXT, less the instructions that moved out of CONTEXT. */
double tree_pair_moved(const struct tree_pair *pair, uint32_t context);
