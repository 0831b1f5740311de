/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The part of the variance of a function's latency that each captured variable explains: docs/internals/why-varies.md has the
 * method, with its sources.
 */
#pragma once

#include "analyze/stats/statistics.h"
#include "base/alloc.h"
#include "profile/profile.h"

#define VARIES_FOLDS        10
#define VARIES_PERMUTATIONS 499
#define VARIES_DEPTH        3
#define VARIES_MINUS        " - " /* only in names of differences of two variables */
#define VARIES_NODES        15 /* of a tree of VARIES_DEPTH */

/* latency = SLOPE * value + CONSTANT, in ticks */
struct varies_law {
	const struct profile_variable *variable; /* NULL: there is none */
	double slope, constant;
	struct analyze_interval slope_interval; /* 95 % */
};

/* The context of calls as a variable, if contexts differ and no other variable has its name. */
extern const struct profile_variable varies_context;

struct varies_rank {
	const struct profile_variable *variable;
	uint32_t place; /* index among the variables */
	double n_values; /* number of distinct values */
	double alone; /* share of variance that it explains alone, cross-validated; at least 0 */
	bool is_selected; /* it explains something that those selected before it do not */
	double given_others; /* if selected: share of variance explained only with it; else NAN */
	double p; /* probability of explaining by chance as much of what selected ones leave */
	struct varies_law law; /* if a line over the variable is better than conditions */
};

enum varies_op {
	VARIES_ALL, /* no condition: all calls */
	VARIES_AT_MOST,
	VARIES_AT_LEAST,
	VARIES_EQUAL,
	VARIES_NOT_EQUAL,
	VARIES_BIT, /* the bit that is set in VALUE */
	VARIES_NO_BIT,
	VARIES_UNKNOWN, /* the value was not captured */
	VARIES_KNOWN,
};

/* The calls with one condition. Of the two parts of a split, the one with the greater mean latency comes first. */
struct varies_part {
	double depth; /* 0: all calls */
	enum varies_op op;
	const struct profile_variable *variable; /* of the condition */
	uint64_t value;
	double calls, mean;
	/* Shares of all variance: EXPLAINED by the split or LAW of this part; NAN: neither. UNEXPLAINED: left here; NAN: split. */
	double explained, unexplained;
	bool is_split;
	struct varies_law law;
};

struct varies {
	const char *function; /* NULL: none was requested */
	uint32_t n_rows; /* number of rows: calls with equal values */
	double calls, mean, deviation;
	double explained; /* by selected variables, cross-validated; NAN: no variance, too few calls */
	/* The share of variance between calls with equal values: no captured variable can explain it. */
	double equal;
	double lost, sampled; /* LOST: calls without room in the table; SAMPLED of them are known */
	struct varies_rank *ranks; /* selected variables first, then by falling ALONE */
	uint32_t n_ranks, n_selected;
	struct varies_part parts[VARIES_NODES]; /* depth first */
	uint32_t n_parts;
	struct alloc_texts differences; /* owns variables that are differences of two others */
	uint64_t steps; /* number of rows looked at: the effort of the analysis */
};

/*
 * Explain the latency of FUNCTION's calls in P, which must outlive V. FUNCTION NULL: explain nothing. Return 0, or -ENOENT
 * (reported): no values of FUNCTION were captured.
 */
int varies_init(struct varies *v, const struct profile *p, const char *function);
void varies_deinit(struct varies *v);

/* ---- the change of a function's mean latency between two sides: by other values, and at equal values ---- */

/* The maximum number of functions: take those with the largest change of the total time of captured calls. */
#define VARIES_SHIFTED_MAX 8

struct varies_side {
	double calls, mean; /* captured calls, weighted for those that were not captured */
	double value; /* mean of the variable; NAN: it is not a number, or not captured in all calls */
};

struct varies_shift {
	const char *function;
	const char *variable; /* NULL: all selected variables together, perhaps none */
	struct varies_side sides[2];
	double delta; /* difference of the means, second side less first */
	/* The parts of DELTA: by calls with other values, and by other times of calls with equal values. */
	double by_values, by_cost;
};

struct varies_shifts {
	/* By function: the row of all variables, then a row of each, the largest BY_VALUES first. */
	vec_of(struct varies_shift, rows);
	struct alloc_texts texts; /* owns differences of variables, and functions' names */
};

/* Set the rows of functions with captured calls on both sides. */
void varies_shifts_init(struct varies_shifts *s, const struct profile *a, const struct profile *b);
void varies_shifts_deinit(struct varies_shifts *s);
