/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One tree of the calling contexts in two recordings: functions below their callers, by their names in the source. Inlined
 * functions are nodes like others, and parts that a compiler split off belong to their function. Each node has a value for each
 * repetition (run, boot or recording). tree_pair compares any two sets of repetitions.
 */
#pragma once

#include "analyze/stats/sample.h"
#include "base/alloc.h"
#include "base/hash.h"
#include "profile/profile.h"

#define TREE_NONE UINT32_MAX
#define TREE_ROOT 0 /* the command, above all contexts (system calls and interrupts) */

/* Maximum number of repetitions per kernel. If there are more, neighbouring repetitions are merged. */
#define TREE_REPETITIONS 32

/* The figures of a node or a source line in one repetition, summed over its runs. */
struct tree_value {
	double insns; /* instructions without callees; for recordings by probes, clock ticks */
	double error; /* standard deviation of INSNS, from estimated probe costs */
	double times; /* node: calls, 0 if inlined; line: executions */
	bool seen; /* this node or one below it was executed */
};

struct tree_node {
	const char *name;
	uint32_t parent; /* index of the caller's node; the root is its own parent */
	uint32_t first_child, next;
	/* EXTRA: the node has just the calls from source lines that only one kernel has. Its sibling has all other calls. */
	bool extra;
	bool divided; /* an EXTRA sibling has some of the function's calls */
	bool sampled; /* node found by samples: its time is estimated, with uncertainty DOUBT */
	/*
	 * DOUBT and OWN_DOUBT: standard deviations of a sampled node's time per run in each kernel, with and without callees. With
	 * few repetitions, the differences between a timed node's calls give it an OWN_DOUBT, too.
	 */
	double doubt[2], own_doubt[2];
	/* For DIVIDED nodes: calls (or executions, if inlined) per run in each kernel, including the EXTRA sibling. */
	double everywhere[2];
	bool inlined[2]; /* for each kernel: inlined at least at one call site */
	bool nested[2]; /* for each kernel: the function calls itself or its split-off part */
	/* Range of source lines that each kernel executes in the node, with lines that call or inline. FILE NULL: unknown. */
	const char *file[2];
	uint32_t from[2], to[2];
};

/* A source line of a node. In SITES, a line of the caller that calls or inlines the node. */
struct tree_line {
	uint32_t node, number;
	const char *file; /* NULL: unknown */
	double insns[2]; /* instructions per run in each kernel */
	/* Calls, or executions of the line's most frequent instruction, per run. 0: unknown. */
	double times[2];
	bool extra[2]; /* in SITES: only this kernel calls from this line */
};

struct tree_line_table {
	vec_of(struct tree_line, items);
	struct hash_index index; /* keys: node, file, line number */
};

/* A loop in NODE. Kernel SIDE executed the loop's head TIMES times per run. */
struct tree_loop {
	uint32_t node;
	int side;
	double times;
	const char *condition; /* source text of the loop's condition, such as "i < n"; or NULL */
};

struct tree {
	const struct profile *p[2];
	bool has_callers; /* exact recordings; otherwise functions are directly below contexts */
	bool has_noise; /* repetitions show how much recordings of one kernel differ */
	bool has_runs; /* both kernels have several repetitions */
	enum analyze_unit unit[2]; /* unit of a repetition: run, recording or boot */
	uint32_t n_repetitions[2];
	uint32_t runs[2][TREE_REPETITIONS], n_runs[2]; /* runs in each repetition, and in all */
	uint32_t *repetition_of[2]; /* for each run; TREE_NONE: a run without probes */
	vec_of(struct tree_node, nodes); /* each node after its parent; the root first */
	uint64_t max_nodes;
	struct tree_line_table lines; /* figures of the lines are in LINE_VALUES */
	struct tree_line_table sites; /* lines that call or inline a node; EXTRA nodes have none */
	vec_of(struct tree_loop, loops);
	/* A row for each node or line. Its columns are the baseline's repetitions, then the hardened kernel's. */
	vec_of(struct tree_value, values);
	vec_of(struct tree_value, line_values);
	struct hash_index index;
	uint32_t n_untimed; /* number of sampled nodes that are in no timed function */
	struct alloc_texts texts; /* owns names that neither profile owns */
};

/* Both BASELINE and HARDENED are exact recordings, or neither is. Both must outlive T. */
void tree_init(struct tree *t, const struct profile *baseline, const struct profile *hardened);
void tree_deinit(struct tree *t);

static inline uint32_t tree_columns(const struct tree *t)
{
	return t->n_repetitions[0] + t->n_repetitions[1];
}

/* Return the index of SIDE's first repetition in a row of values. */
static inline uint32_t tree_first_column(const struct tree *t, int side)
{
	return side ? t->n_repetitions[0] : 0;
}

/* Return how many standard deviations a change of an untimed node must exceed: CHANCE_DEVIATIONS, increased for many nodes. */
double tree_sure_deviations(const struct tree *t);
