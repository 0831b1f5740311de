/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Regression trees over groups of calls. Breiman, Friedman, Olshen and Stone, "Classification and Regression Trees" (1984):
 * splits by least squares (8.2), pruning by cost and complexity (3.3). Here a node may also end in a straight line of one
 * variable, which is as complex as one split.
 */
#pragma once

#include "analyze/varies/varies.h"
#include "base/alloc.h"

/* The number, sum, and sum of squares of latencies. The mean of all latencies is subtracted from each latency first. */
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

/* The maximum number of columns: captured variables, the context, and four differences of two variables. */
#define VARIES_COLUMNS (PROFILE_VALUES_MAX + 1 + 4)

/* All calls with the same values of all variables. */
struct varies_row {
	uint64_t values[VARIES_COLUMNS];
	uint32_t absent; /* bits: columns without a captured value */
	uint64_t context; /* the value that stands for the context's name */
	double calls; /* number of captured calls */
	struct varies_sums sums; /* captured calls, weighted to stand for lost calls too */
	struct varies_sums sides[2]; /* SUMS by profile, but the mean is not subtracted */
	double min, max;
};

struct varies_data {
	vec_of(struct varies_row, rows);
	struct varies_column columns[VARIES_COLUMNS];
	uint32_t n_columns;
	double mean; /* subtracted from all latencies */
	struct varies_sums all;
	double lost, sampled; /* as in struct varies */
	double weight, least; /* maximum weight of a call; minimum number of calls in a leaf */
	double *calls; /* latencies of the drawn calls, row by row */
	uint32_t n_calls, *number; /* NUMBER: number of drawn calls of each row */
	struct varies_sums *folds; /* of drawn calls: for each row, one sum per fold */
	struct varies_sums *by_code; /* scratch for one column, indexed by code */
	uint32_t *order; /* scratch: indexes of rows */
	uint64_t steps;
};

/* Read the calls of FUNCTION in P, which is profile number SIDE of D. Call varies_data_finish() after the last profile. */
void varies_data_read(struct varies_data *d, const struct profile *p, uint32_t side,
		      const char *function);
/* Make D's rows and columns from the calls read. DIFFERENCES owns the variables that are differences of two others. */
void varies_data_finish(struct varies_data *d, struct alloc_texts *differences);
/* Subtract OFFSET from all latencies of the second profile. Call this at most once. */
void varies_data_offset(struct varies_data *d, double offset);
void varies_data_deinit(struct varies_data *d);
void varies_column_free(struct varies_column *c);
/* Return whether D has enough captured calls, and latencies that vary. */
bool varies_data_tells(const struct varies_data *d);

struct varies_split {
	double gain; /* decrease of the sum of squared errors; 0: there is no split */
	uint32_t column;
	enum varies_op op; /* condition of the calls in child 0: AT_MOST, EQUAL, BIT or UNKNOWN */
	uint32_t code; /* code of the condition's value; for BIT the number of the bit */
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
	uint32_t child[2]; /* indexes of the nodes below; 0: not split */
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
/* Return the leaf of the pruned tree T that row number ROW belongs to. */
const struct varies_node *varies_tree_leaf(const struct varies_tree *t, const struct varies_data *d,
					   uint32_t row);

/* Draw the calls for validation and selection: all of them, or an even sample if there are too many or some have weights. */
void varies_draw(struct varies_data *d);
/*
 * Return the share of variance that a tree over the COLUMNS (bits) explains in calls that it was not grown from. Set *COMPLEXITY,
 * unless NULL, to the complexity of the smallest tree whose error exceeds the best tree's by at most one standard error (section
 * 3.4.3 of the book; differences are paired by fold).
 */
double varies_validate(struct varies_data *d, uint32_t columns, double *complexity);
/* Set T to the tree over the COLUMNS from all calls, pruned by varies_validate()'s complexity. Return varies_validate()'s share. */
double varies_fit(struct varies_tree *t, struct varies_data *d, uint32_t columns);
/*
 * Select columns one after the other: always the column that explains most of the variance that the selected columns leave, as
 * long as it is significant. Return the selected columns (bits). Set each column's P to the share of shuffles of the latencies in
 * which some unselected column explains as much as this column explains without shuffling.
 */
uint32_t varies_select(struct varies_data *d, double *p);
