/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Regression trees over groups of calls. Breiman, Friedman, Olshen and Stone, "Classification and Regression Trees" (1984):
 * splits by least squares (8.2), pruning by cost and complexity (3.3). Here a node may also end in a straight line of one
 * variable, which is as complex as one split.
 */
#pragma once

#include "analyze/varies/varies.h"
#include "base/alloc.h"

/* The number, sum, and sum of squares of latencies less the mean of all. */
struct varies_sums {
	double n, sum, squares;
};

/* A variable's values, ascending. A value's code is its index; a value that was not captured has the code N_VALUES. */
struct varies_column {
	const struct profile_variable *variable;
	uint32_t *codes; /* indexed by row */
	uint64_t *values;
	double *x; /* distance from the first value; indexed by code */
	uint32_t n_values;
};

/* Captured variables, the context, and differences of two variables. */
#define VARIES_COLUMNS (PROFILE_VALUES_MAX + 1 + 4)

/* Calls with equal values. */
struct varies_row {
	uint64_t values[VARIES_COLUMNS];
	uint32_t absent;
	uint64_t context; /* the value of its name */
	double calls; /* number of captured calls */
	struct varies_sums sums; /* of the calls that the captured ones stand for */
	struct varies_sums sides[2]; /* of each profile, without subtraction of the mean */
	double min, max;
};

struct varies_data {
	vec_of(struct varies_row, rows);
	struct varies_column columns[VARIES_COLUMNS];
	uint32_t n_columns;
	double mean; /* subtracted from all latencies */
	struct varies_sums all;
	double lost, sampled; /* as in struct varies */
	double weight, least; /* most calls that one stands for; fewest calls in a leaf */
	double *calls; /* drawn ones, row by row */
	uint32_t n_calls, *number; /* NUMBER: of drawn calls, indexed by row */
	struct varies_sums *folds; /* of drawn calls: VARIES_FOLDS sums per row */
	struct varies_sums *by_code; /* for work on one column, indexed by code */
	uint32_t *order; /* of rows, for work on one column */
	uint64_t steps;
};

/* Read the calls of FUNCTION in P, which is profile number SIDE of D. Call varies_data_finish() after the last. */
void varies_data_read(struct varies_data *d, const struct profile *p, uint32_t side,
		      const char *function);
/* Finish D. DIFFERENCES keeps the variables that are differences of two others. */
void varies_data_finish(struct varies_data *d, struct alloc_texts *differences);
/* Subtract OFFSET from all times of the second side. Call this once. */
void varies_data_offset(struct varies_data *d, double offset);
void varies_data_deinit(struct varies_data *d);
void varies_column_free(struct varies_column *c);
/* Return whether there are enough calls and any variance. */
bool varies_data_tells(const struct varies_data *d);

struct varies_split {
	double gain; /* decrease of the squares; 0: there is no split */
	uint32_t column;
	enum varies_op op; /* of the first side: AT_MOST, EQUAL, BIT or UNKNOWN */
	uint32_t code; /* of the value; for BIT the bit */
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
	uint32_t child[2]; /* indexes of nodes; 0: not split */
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

/* Return the sum of squared distances from the mean. */
static inline double varies_rest(const struct varies_sums *s)
{
	return s->n > 0 ? s->squares - s->sum * s->sum / s->n : 0;
}
/* Return the node that ROW ends in. */
const struct varies_node *varies_tree_leaf(const struct varies_tree *t, const struct varies_data *d,
					   uint32_t row);

/* Draw the calls for validation and selection: all, or an even sample of the calls that the rows stand for. */
void varies_draw(struct varies_data *d);
/*
 * Return the share of variance that a tree over the COLUMNS explains in calls that it was not grown from. Set *COMPLEXITY,
 * unless NULL, to prune to the smallest tree that is not surely worse than the best (3.4.3, the difference paired by fold).
 */
double varies_validate(struct varies_data *d, uint32_t columns, double *complexity);
/* Likewise, and set T to that tree, grown from all calls. */
double varies_fit(struct varies_tree *t, struct varies_data *d, uint32_t columns);
/*
 * Return the columns (bits) that explain something. Select the one that explains most of the remainder, as long as it is
 * significant. Set P of each column: how often shuffled latencies give any unselected column as much.
 */
uint32_t varies_select(struct varies_data *d, double *p);
