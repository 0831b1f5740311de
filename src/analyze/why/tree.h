/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The calling contexts of two exact recordings as one tree: functions and inlined bodies under what called them, by
 * their names in the source. So it makes no difference whether a function was inlined on one side only, nor
 * how the compiler cut it into parts.
 */
#pragma once

#include "base/alloc.h"
#include "base/hash.h"
#include "profile/profile.h"

#define WHY_NONE UINT32_MAX
#define WHY_ROOT 0 /* the node above the contexts */

/* The instructions of a node that are of one line; or what calls it from there, or has it inlined, in its caller. */
struct why_line {
	uint32_t node, number;
	const char *file; /* NULL: unknown */
	double insns[2];
	double times[2]; /* executions of the one that is executed most, or calls; 0: not known */
	bool apart
		[2]; /* of calls: this side has them in addition to those that both have: why_sites_divide() */
};

struct why_line_table {
	vec_of(struct why_line, items);
	struct hash_index index;
};

/* Of baseline [0] and hardened side [1], per run. */
struct why_node {
	const char *name;
	uint32_t parent; /* the root is its own */
	uint32_t first_child, next;
	uint32_t first_line, n_lines;
	bool apart; /* calls from places of one side's own, beside a node of this name for the others */
	bool divided; /* the other of the two */
	double everywhere
		[2]; /* calls of both, or executions of the body; of what is divided only */
	uint32_t moved; /* where one side's part was put, below the other's own; 0: nowhere */
	bool seen[2]; /* executed there; callees may be without it: why_tree_init() */
	bool inlined[2]; /* in some call */
	bool nested[2]; /* below itself: it called itself, or the compiler cut it up */
	double self[2], total[2]; /* instructions */
	double alone; /* instructions of it and its callees that one side alone executes there */
	double calls[2]; /* 0 of inlined bodies, and of what was only jumped to */
	/* From the first line to the last of what the hardened side executes of it, calls and inlined bodies too; NULL: not known. */
	const char *file;
	uint32_t from, to;
};

/* A loop in NODE, or a body around it, whose head was executed so often on SIDE. */
struct why_loop {
	uint32_t node;
	int side;
	double times;
	const char *condition; /* as of struct profile_condition */
};

struct why_tree {
	vec_of(struct why_node, nodes); /* each behind its parent; the first is the root */
	uint64_t max_nodes;
	struct why_line_table lines; /* by node, file and number */
	struct why_line_table
		sites; /* where nodes are called, those that are apart with the others */
	vec_of(struct why_loop, loops);
	struct hash_index index;
};

/* One side: some runs of a recording, which is exact. */
struct why_side {
	const struct profile *p;
	uint32_t first, end; /* its runs */
	const char *const *contexts; /* of these alone, which NULL ends; NULL: of all */
};

/*
 * Both sides' recordings must outlive T. Where one side calls B from A and the other from a function of its own
 * between the two, called about as often, both sides' calls of B are that function's.
 */
void why_tree_init(struct why_tree *t, const struct why_side *baseline,
		   const struct why_side *hardened);
void why_tree_deinit(struct why_tree *t);

/* The node that is apart from NODE; WHY_NONE: there is none. */
uint32_t why_tree_apart(const struct why_tree *t, uint32_t node);

/* The callee of NODE that has most of ALL, which are instructions that one side alone executes there; WHY_NONE: no single one has. */
uint32_t why_tree_most(const struct why_tree *t, uint32_t node, double all);

/* Calls on SIDE of the function that NODE is, or that it is inlined into; NAN: not known. */
double why_tree_calls(const struct why_tree *t, uint32_t node, int side);

/* The node of a context, "clone"; WHY_NONE: there is none. */
uint32_t why_tree_context(const struct why_tree *t, const char *name);
