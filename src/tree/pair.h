/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Two sets of a tree's repetitions, matched for a comparison. Both sets may be of the same side. */
#pragma once

#include "tree/tree.h"

/* COUNT repetitions of SIDE from FIRST on. */
struct tree_part {
	int side;
	uint32_t first, count;
};

/* All of SIDE. */
static inline struct tree_part tree_side(const struct tree *t, int side)
{
	return (struct tree_part){ side, 0, t->n_repetitions[side] };
}

/* A node of both parts, like struct tree_node. Figures are per run of each part. */
struct tree_pair_node {
	const char *name;
	uint32_t parent;
	uint32_t first_child, next;
	uint32_t first_line, n_lines;
	bool extra, divided, sampled;
	double doubt[2], own_doubt[2]; /* uncertainty of TOTAL and SELF; see struct tree_node */
	bool differs; /* SELF, summed over all untimed sampled nodes of this name, differs beyond chance */
	double everywhere[2];
	uint32_t moved; /* the node to which one side's figures were moved; 0: none */
	bool seen[2]; /* executed on that side */
	bool inlined[2];
	bool nested[2];
	double self[2], total[2]; /* instructions, or time where callers are not known */
	double error[2]; /* standard deviation of SELF */
	double one_sided; /* instructions that this node and those below it execute on one side only */
	double calls[2]; /* 0 for inlined bodies and for code that is only jumped to */
	const char *file[2];
	uint32_t from[2], to[2];
};

/* A call of NAME that moved between contexts: the first part makes it in FROM, the second in TO. Both parts count it in TO. */
struct tree_move {
	const char *name;
	uint32_t from, to;
	double insns; /* per run of the first part, callees included */
};

struct tree_pair {
	const struct tree *tree;
	vec_of(struct tree_pair_node, nodes);
	vec_of(struct tree_move, moves); /* largest first */
	struct tree_line_table lines; /* sorted by node, file and number by tree_pair_init() */
	struct hash_index index;
};

/*
 * Match the repetitions A and B of TREE, which must outlive PAIR. If one side calls a function directly and the other through
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
 * Return the body or untimed callee of the timed function NODE that has most of its change DELTA, or TREE_NONE. If nested nodes
 * have nearly all of it, return the innermost, but none inside a node that only one side executes.
 */
uint32_t tree_pair_main_part(const struct tree_pair *pair, uint32_t node, double delta);

/* Return SIDE's own time of NODE per run, including the parts that samples attribute to sampled nodes below it. */
double tree_pair_own(const struct tree_pair *pair, uint32_t node, int side);

/* Return SIDE's calls per run of NODE's function or, if NODE is inlined, of the function around it; NAN: unknown. */
double tree_pair_calls(const struct tree_pair *pair, uint32_t node, int side);

/* Return the instructions per run of the first part that moved into CONTEXT, less those that moved out of it. */
double tree_pair_moved(const struct tree_pair *pair, uint32_t context);
