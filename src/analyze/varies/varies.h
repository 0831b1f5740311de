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

/* A variable for the context of calls, used if contexts differ and no other variable is named "context". */
extern const struct profile_variable varies_context;

struct varies_rank {
	const struct profile_variable *variable;
	uint32_t place; /* index of the variable's column */
	double n_values; /* number of distinct values */
	double alone; /* share of variance that the variable explains alone, cross-validated */
	bool is_selected; /* explains some variance that variables selected before do not */
	double given_others; /* share of variance not explained without it; NAN: not selected */
	double p; /* probability that chance explains as much of what selected variables leave */
	/* Set if a linear function of the variable explains the latency better than conditions on it. */
	struct varies_law law;
};

enum varies_op {
	VARIES_ALL, /* no condition: all calls */
	VARIES_AT_MOST,
	VARIES_AT_LEAST,
	VARIES_EQUAL,
	VARIES_NOT_EQUAL,
	VARIES_BIT, /* the one bit of VALUE is set */
	VARIES_NO_BIT, /* the one bit of VALUE is clear */
	VARIES_UNKNOWN, /* the value was not captured */
	VARIES_KNOWN,
};

/* The calls that meet a condition. A split divides them into two parts; the part with the greater mean latency comes first. */
struct varies_part {
	double depth; /* 0: all calls */
	enum varies_op op;
	const struct profile_variable *variable; /* the condition is on its value */
	uint64_t value;
	double calls, mean;
	/* Shares of all variance. EXPLAINED: by the part's split or LAW; NAN: neither. UNEXPLAINED: the rest; NAN: it is split. */
	double explained, unexplained;
	bool is_split;
	struct varies_law law;
};

struct varies {
	const char *function; /* NULL: none was requested */
	uint32_t n_rows; /* number of rows: calls with equal values */
	double calls, mean, deviation;
	/* The share of variance that the selected variables explain, cross-validated; NAN: no variance, or too few calls. */
	double explained;
	/* The share of variance among calls with equal values of all variables: no captured variable can explain it. */
	double equal;
	double lost, sampled; /* calls without room in the table; SAMPLED of them are known */
	struct varies_rank *ranks; /* selected variables first, then by falling ALONE */
	uint32_t n_ranks, n_selected;
	struct varies_part parts[VARIES_NODES]; /* a split part, then the parts below it */
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

/* The maximum number of functions. Functions with the largest change of the total time of captured calls come first. */
#define VARIES_SHIFTED_MAX 8

struct varies_side {
	double calls, mean; /* captured calls, weighted to stand for lost calls too */
	double value; /* the variable's mean; NAN: not a number, or not captured in all calls */
};

struct varies_shift {
	const char *function;
	const char *variable; /* NULL: all selected variables together, perhaps none */
	struct varies_side sides[2];
	double delta; /* difference of the means, second side less first */
	/* The parts of DELTA: because calls have other values, and because calls with equal values take another time. */
	double by_values, by_cost;
};

struct varies_shifts {
	/* Each function has a row of all selected variables, then a row of each of them, the largest BY_VALUES first. */
	vec_of(struct varies_shift, rows);
	struct alloc_texts texts; /* owns differences of variables, and functions' names */
};

/* Set S's rows for functions with captured calls in both A and B. */
void varies_shifts_init(struct varies_shifts *s, const struct profile *a, const struct profile *b);
void varies_shifts_deinit(struct varies_shifts *s);
