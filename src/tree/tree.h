/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The calling contexts of two recordings as one tree: functions and inlined bodies below their callers, by the
 * names that they have in the source. So it makes no difference whether a function was inlined on one side only,
 * nor how the compiler cut it into parts. Each node has a value per repetition; tree_pair compares any two of them.
 */
#pragma once

#include "analyze/stats/sample.h"
#include "base/alloc.h"
#include "base/hash.h"
#include "profile/profile.h"

#define TREE_NONE UINT32_MAX
#define TREE_ROOT 0 /* the command, the node above its contexts */

/* More repetitions than this on a side are taken together. */
#define TREE_REPETITIONS 32

/* One repetition of a node or a line: sums over its runs. */
struct tree_value {
	double insns; /* of a node without its callees; of recordings by probes ticks of their clock */
	double error; /* of these, a standard deviation: what is subtracted for probes is not known better */
	double times; /* calls of a node, 0 for an inlined body; executions of a line */
	bool seen; /* the repetition executes something there or below */
};

struct tree_node {
	const char *name;
	uint32_t parent; /* the root is its own */
	uint32_t first_child, next;
	bool extra; /* calls from lines of one side alone; a divided node of this name has the others */
	bool divided; /* see EXTRA */
	bool sampled; /* estimated, with a DOUBT on each side: tree/sampled.c */
	double doubt[2],
		own_doubt
			[2]; /* of the time per run, with what it calls and without, standard deviations */
	double everywhere
		[2]; /* of a divided node: calls of both per run, or executions of the body */
	bool inlined[2]; /* in some call */
	bool nested[2]; /* below itself: it called itself, or the compiler cut it up */
	/* The first and last line that a side executes of it, calls and inlined bodies included; NULL: not known. */
	const char *file[2];
	uint32_t from[2], to[2];
};

/* A line of a node; or a line of its caller that calls it, or has it inlined. */
struct tree_line {
	uint32_t node, number;
	const char *file; /* NULL: unknown */
	double insns[2]; /* per run */
	double times[2]; /* executions of its most frequent instruction, or calls; 0: not known */
	bool extra[2]; /* of calls: only this side makes them from there */
};

struct tree_line_table {
	vec_of(struct tree_line, items);
	struct hash_index index; /* by node, file and number */
};

/* A loop in NODE; its head was executed TIMES times per run on SIDE. */
struct tree_loop {
	uint32_t node;
	int side;
	double times;
	const char *condition; /* as of struct profile_condition */
};

struct tree {
	const struct profile *p[2];
	bool has_callers; /* otherwise functions are directly below their contexts */
	bool has_noise; /* repetitions of both sides show what one kernel varies by */
	bool has_runs; /* both sides have several, which show at least what runs vary by */
	enum analyze_unit unit[2]; /* what a repetition is */
	uint32_t n_repetitions[2];
	uint32_t runs[2][TREE_REPETITIONS], n_runs[2]; /* in each, and in all of them */
	uint32_t *repetition_of[2]; /* by run; TREE_NONE: a control run */
	vec_of(struct tree_node, nodes); /* each behind its parent; the first is the root */
	uint64_t max_nodes;
	struct tree_line_table lines; /* without figures, which are in LINE_VALUES */
	struct tree_line_table sites; /* lines that call a node, for it and the extra one */
	vec_of(struct tree_loop, loops);
	/* For each node or line, and each repetition of the baseline and then of the hardened side. */
	vec_of(struct tree_value, values);
	vec_of(struct tree_value, line_values);
	struct hash_index index;
	uint32_t n_sampled, n_untimed; /* nodes that are; of these, in no timed function */
	struct alloc_texts texts; /* names that are no profile's */
};

/* Both are exact recordings, or neither is. They must outlive T. */
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

/* Return the standard deviations that make all untimed nodes together as sure as CHANCE_DEVIATIONS make one. */
double tree_sure_deviations(const struct tree *t);
