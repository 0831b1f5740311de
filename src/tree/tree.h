/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The calling contexts of two recordings as one tree: functions and inlined bodies below their callers, by their names in the
 * source. It does not matter if a function is inlined on one side only, or split into parts by the compiler. Each node has a
 * value per repetition; tree_pair compares any two of them.
 */
#pragma once

#include "analyze/stats/sample.h"
#include "base/alloc.h"
#include "base/hash.h"
#include "profile/profile.h"

#define TREE_NONE UINT32_MAX
#define TREE_ROOT 0 /* the command, the node above its contexts */

/* Maximum number of repetitions per side. If there are more, neighbouring repetitions are merged. */
#define TREE_REPETITIONS 32

/* One repetition of a node or a line: sums over its runs. */
struct tree_value {
	double insns; /* without callees; clock ticks in recordings by probes */
	double error; /* standard deviation of INSNS: probe costs are estimates */
	double times; /* node: calls, 0 for an inlined body; line: executions */
	bool seen; /* the repetition executes the node or one below it */
};

struct tree_node {
	const char *name;
	uint32_t parent; /* the root is its own parent */
	uint32_t first_child, next;
	/* The node has only calls from lines that one side alone has. Its DIVIDED sibling of the same name has all other calls. */
	bool extra;
	bool divided; /* an EXTRA sibling has some of its calls */
	bool sampled; /* estimated from samples, with a DOUBT per side: tree/sampled.c */
	/*
	 * Standard deviations of a sampled node's time per run on each side, with callees and without. Without enough
	 * repetitions, a timed node has OWN_DOUBT, from the differences between its calls.
	 */
	double doubt[2], own_doubt[2];
	/* Divided nodes: calls per run on each side, including those of the EXTRA sibling; for an inlined body, executions. */
	double everywhere[2];
	bool inlined[2]; /* by side: inlined at one call site or more */
	bool nested[2]; /* by side: includes calls of itself: recursion, or a split-off part */
	/* The first and last line that a side executes of the node, calls and inlined bodies included; FILE NULL: unknown. */
	const char *file[2];
	uint32_t from[2], to[2];
};

/* A line of a node; or, in SITES, a line of the node's caller that calls or inlines the node. */
struct tree_line {
	uint32_t node, number;
	const char *file; /* NULL: unknown */
	double insns[2]; /* instructions per run, by side */
	/* Calls, or executions of the line's most frequent instruction, per run; 0: unknown. */
	double times[2];
	bool extra[2]; /* in SITES: only this side makes calls from this line */
};

struct tree_line_table {
	vec_of(struct tree_line, items);
	struct hash_index index; /* keys: node, file and number */
};

/* A loop in NODE; its head was executed TIMES times per run on SIDE. */
struct tree_loop {
	uint32_t node;
	int side;
	double times;
	const char *condition; /* see struct profile_condition */
};

struct tree {
	const struct profile *p[2];
	bool has_callers; /* exact recordings; otherwise functions are directly below their contexts */
	bool has_noise; /* repetitions of both sides show how much one kernel varies */
	bool has_runs; /* both sides have several repetitions, which show at least how much runs vary */
	enum analyze_unit unit[2]; /* a repetition is a run, a recording or a boot */
	uint32_t n_repetitions[2];
	uint32_t runs[2][TREE_REPETITIONS], n_runs[2]; /* runs per repetition, and all runs */
	uint32_t *repetition_of[2]; /* indexed by run; TREE_NONE: a control run */
	vec_of(struct tree_node, nodes); /* each after its parent; the first is the root */
	uint64_t max_nodes;
	struct tree_line_table lines; /* their figures are in LINE_VALUES */
	struct tree_line_table sites; /* lines that call or inline a node; EXTRA nodes have none */
	vec_of(struct tree_loop, loops);
	/* Rows for each node or line; their columns are the baseline's repetitions, then the hardened side's. */
	vec_of(struct tree_value, values);
	vec_of(struct tree_value, line_values);
	struct hash_index index;
	uint32_t n_sampled, n_untimed; /* sampled nodes, and those in no timed function */
	struct alloc_texts texts; /* names that belong to neither profile */
};

/* BASELINE and HARDENED are both exact recordings, or both are not. They must outlive T. */
void tree_init(struct tree *t, const struct profile *baseline, const struct profile *hardened);
void tree_deinit(struct tree *t);

static inline uint32_t tree_columns(const struct tree *t)
{
	return t->n_repetitions[0] + t->n_repetitions[1];
}

/* Return the index of SIDE's first repetition among all. */
static inline uint32_t tree_first_column(const struct tree *t, int side)
{
	return side ? t->n_repetitions[0] : 0;
}

/* Return how many standard deviations make conclusions on all untimed nodes as sure as CHANCE_DEVIATIONS make a single one. */
double tree_sure_deviations(const struct tree *t);
