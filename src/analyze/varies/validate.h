/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Regression trees over groups of calls. Splits by least squares (section 8.2) and pruning by cost and complexity (3.3) follow
 * Breiman, Friedman, Olshen and Stone, "Classification and Regression Trees" (1984). In addition, a leaf may predict latencies by
 * a straight line over one variable. A line is as complex as one split.
 */
#pragma once

#include "analyze/varies/varies.h"
#include "base/alloc.h"

/* Number, sum, and sum of squares of latencies. From each latency, the mean of all latencies is subtracted. */
struct varies_sums {
	double n, sum, squares;
};

/* A variable's distinct values, ascending. The code of a value is its index; N_VALUES is the code of a missing value. */
struct varies_column {
	const struct profile_variable *variable;
	uint32_t *codes; /* code of the value in each row */
	uint64_t *values;
	double *x; /* VALUES minus the first value; indexed by code */
	uint32_t n_values;
};

/* Maximum number of variables: captured variables, the context, and up to four differences of two captured variables. */
#define VARIES_COLUMNS (PROFILE_VALUES_MAX + 1 + 4)

/* All calls with the same values of all variables. */
struct varies_row {
	uint64_t values[VARIES_COLUMNS];
	uint32_t absent; /* bit C: variable number C was not captured */
	uint64_t context; /* hash of the context's name */
	double calls; /* number of captured calls */
	struct varies_sums sums; /* sums over captured calls; weights represent lost calls */
	struct varies_sums sides[2]; /* SUMS for each profile, without subtraction of the mean */
	double min, max;
};

struct varies_data {
	vec_of(struct varies_row, rows);
	struct varies_column columns[VARIES_COLUMNS];
	uint32_t n_columns;
	double mean; /* mean latency, subtracted from all latencies */
	struct varies_sums all;
	double lost, sampled; /* LOST: lost calls; SAMPLED: those of them with known latency */
	double weight, least; /* WEIGHT: maximum weight of a call; LEAST: minimum calls per leaf */
	double *calls; /* latencies of the sampled calls, row by row */
	uint32_t n_calls, *number; /* NUMBER: sampled calls of each row */
	struct varies_sums *folds; /* sums of sampled calls, for each row and fold */
	struct varies_sums *by_code; /* temporary: sums of one variable, indexed by code */
	uint32_t *order; /* temporary: indexes of rows */
	uint64_t steps;
};

/* Read the calls of FUNCTION from P, which is profile number SIDE (0 or 1). Call varies_data_finish() after the last profile. */
void varies_data_read(struct varies_data *d, const struct profile *p, uint32_t side,
		      const char *function);
/* Make D's rows and columns from the calls. DIFFERENCES owns the variables that are differences of two others. */
void varies_data_finish(struct varies_data *d, struct alloc_texts *differences);
/* Subtract OFFSET ticks from all latencies of the second profile. Call this at most once. */
void varies_data_offset(struct varies_data *d, double offset);
void varies_data_deinit(struct varies_data *d);
void varies_column_free(struct varies_column *c);
/* Return whether D has enough captured calls, and latencies that differ. */
bool varies_data_tells(const struct varies_data *d);

struct varies_split {
	double gain; /* decrease of the sum of squared errors; 0: no split */
	uint32_t column;
	enum varies_op op; /* calls in CHILD[0] meet this: AT_MOST, EQUAL, BIT or UNKNOWN */
	uint32_t code; /* code of the value in the condition; for BIT the bit's number */
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
	uint32_t child[2]; /* indexes of the two child nodes; 0: none */
	enum {
		VARIES_LEAF,
		VARIES_LINE,
		VARIES_SPLIT
	} use; /* set by pruning */
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

/* Return the sum of squared deviations from the mean. */
static inline double varies_rest(const struct varies_sums *s)
{
	return s->n > 0 ? s->squares - s->sum * s->sum / s->n : 0;
}
/* Return the leaf of the pruned tree T for row number ROW. */
const struct varies_node *varies_tree_leaf(const struct varies_tree *t, const struct varies_data *d,
					   uint32_t row);

/* Draw a sample of calls for validation and selection: all calls, unless there are too many or some have weights. */
void varies_draw(struct varies_data *d);
/*
 * Return the fraction of variance that a tree over COLUMNS (bits) explains in calls that were not used to grow the tree. Unless
 * COMPLEXITY is NULL, set *COMPLEXITY for the smallest tree whose error is at most one standard error above the best tree's error
 * (Breiman et al., section 3.4.3). The standard error is that of the differences between the two trees' errors in each fold.
 */
double varies_validate(struct varies_data *d, uint32_t columns, double *complexity);
/* Grow tree T over COLUMNS from all calls. Prune T to the complexity that varies_validate() sets. Return its result, too. */
double varies_fit(struct varies_tree *t, struct varies_data *d, uint32_t columns);
/*
 * Select variables one by one. Each time, take the variable that explains most of the remaining variance, until none is
 * significant. Return the selected columns as bits. Set P of each column to the fraction of shuffles (of the latencies, at random)
 * in which any unselected column explains as much as this column explains without shuffling.
 */
uint32_t varies_select(struct varies_data *d, double *p);
