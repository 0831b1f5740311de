/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Regression trees over groups of calls. Breiman, Friedman, Olshen and Stone, "Classification and Regression Trees" (1984): splits by
 * least squares (8.2), pruning by cost and complexity (3.3). Here a node may end in a straight line of one variable too, which is as
 * complex as one split.
 */
#pragma once

#include "analyze/varies/varies.h"
#include "base/alloc.h"

/* Sums of latencies less the mean of all: their number, their sum, and that of their squares. */
struct varies_sums {
	double n, sum, squares;
};

/* A variable's values by number, ascending; a value that was not captured has the number N_VALUES. */
struct varies_column {
	const struct profile_variable *variable;
	uint32_t *codes; /* of each row */
	uint64_t *values;
	double *x; /* of each value its distance from the first */
	uint32_t n_values;
};

/* Captured variables, the context, and differences of two variables. */
#define VARIES_COLUMNS (PROFILE_VALUES_MAX + 1 + 4)

/* Calls with equal values. */
struct varies_row {
	uint64_t values[VARIES_COLUMNS];
	uint32_t absent;
	uint64_t context; /* the value of its name */
	double calls; /* captured */
	struct varies_sums sums; /* of those that they stand for */
	struct varies_sums sides[2]; /* the same of each of two profiles, but not less the mean */
	double min, max;
};

struct varies_data {
	vec_of(struct varies_row, rows);
	struct varies_column columns[VARIES_COLUMNS];
	uint32_t n_columns;
	double mean; /* was taken off */
	struct varies_sums all;
	double lost, sampled; /* as in struct varies */
	double weight, least; /* calls that one stands for at most; calls of a leaf */
	double *calls; /* that were drawn, those of a row side by side */
	uint32_t n_calls, *number; /* of each row */
	struct varies_sums *folds; /* of them: VARIES_FOLDS sums for each row */
	struct varies_sums *by_code; /* for the work on one column */
	uint32_t *order; /* of rows, likewise */
	uint64_t steps;
};

/* Reads the calls of FUNCTION in P, which is that SIDE of D's profiles; FINISH after the last. */
void varies_data_read(struct varies_data *d, const struct profile *p, uint32_t side,
		      const char *function);
/* Differences of variables are kept in DIFFERENCES. */
void varies_data_finish(struct varies_data *d, struct alloc_texts *differences);
/* Takes OFFSET off all times of the second side, once. */
void varies_data_offset(struct varies_data *d, double offset);
void varies_data_deinit(struct varies_data *d);
void varies_column_free(struct varies_column *c);
/* Return whether there are enough calls and any variance. */
bool varies_data_tells(const struct varies_data *d);

struct varies_split {
	double gain; /* squares that it takes off; 0: there is no split */
	uint32_t column;
	enum varies_op op; /* AT_MOST, EQUAL, BIT or UNKNOWN: the first side */
	uint32_t code; /* of the value; of BIT the bit */
};

struct varies_line {
	double gain;
	uint32_t column;
	double slope, mean_x, squares_x;
};

struct varies_node {
	struct varies_sums sums;
	struct varies_split split;
	struct varies_line line;
	uint32_t child[2]; /* nodes; 0: it was not split */
	enum {
		VARIES_LEAF,
		VARIES_LINE,
		VARIES_SPLIT
	} use; /* after pruning */
};

struct varies_tree {
	struct varies_node nodes[VARIES_NODES];
	uint32_t n_nodes;
};

static inline double varies_value(const struct varies_column *c, uint64_t value)
{
	return c->variable->is_signed ? (double)(int64_t)value : (double)value;
}

static inline void varies_sums_add(struct varies_sums *to, const struct varies_sums *more)
{
	to->n += more->n;
	to->sum += more->sum;
	to->squares += more->squares;
}

/* The squares of the distances from the mean. */
static inline double varies_rest(const struct varies_sums *s)
{
	return s->n > 0 ? s->squares - s->sum * s->sum / s->n : 0;
}
/* The node that ROW ends in. */
const struct varies_node *varies_tree_leaf(const struct varies_tree *t, const struct varies_data *d,
					   uint32_t row);

/* Draws the calls that the two below work on: all, or an even sample of what the rows stand for. */
void varies_draw(struct varies_data *d);
/*
 * The share of variance that a tree over the COLUMNS explains in calls that it was not grown from. *COMPLEXITY becomes the one that
 * prunes to the smallest tree that is not surely worse than the best (3.4.3, the difference paired by fold); NULL: is not asked for.
 */
double varies_validate(struct varies_data *d, uint32_t columns, double *complexity);
/* Likewise; T becomes that tree, of all calls. */
double varies_fit(struct varies_tree *t, struct varies_data *d, uint32_t columns);
/*
 * The columns (bits) that explain something, one after the other: the one that explains most of what those before leave, while that is
 * significant. P of each: how often shuffled latencies give any of those not selected yet as much.
 */
uint32_t varies_select(struct varies_data *d, double *p);
