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
	double alone; /* share of variance that it alone explains, cross-validated; at least 0 */
	bool is_selected; /* it explains something that the others do not */
	double given_others; /* if selected: explained variance that is lost without it; else NAN */
	double p; /* probability of explaining as much of the remainder by chance */
	struct varies_law law; /* if a line says as much as conditions */
};

enum varies_op {
	VARIES_ALL, /* no condition: the first node */
	VARIES_AT_MOST,
	VARIES_AT_LEAST,
	VARIES_EQUAL,
	VARIES_NOT_EQUAL,
	VARIES_BIT, /* set in VALUE */
	VARIES_NO_BIT,
	VARIES_UNKNOWN, /* was not captured */
	VARIES_KNOWN,
};

/* The calls of one condition. Of two sides, the slower one comes first. */
struct varies_part {
	double depth; /* 0: all calls */
	enum varies_op op;
	const struct profile_variable *variable; /* of the condition */
	uint64_t value;
	double calls, mean;
	/* Parts of all variance: explained by the conditions or the law below; left in parts below without these. */
	double explained, unexplained;
	bool is_split;
	struct varies_law law;
};

struct varies {
	const char *function; /* NULL: none was requested */
	uint32_t n_rows; /* number of rows: calls with equal values */
	double calls, mean, deviation;
	double explained; /* by selected ones, cross-validated; NAN: no variance, too few calls */
	/* The share of the variance between calls with equal values, which no captured variable explains. */
	double equal;
	double lost, sampled; /* LOST calls had no room in the table; SAMPLED of these are known */
	struct varies_rank *ranks; /* selected ones first, then by falling ALONE */
	uint32_t n_ranks, n_selected;
	struct varies_part parts[VARIES_NODES]; /* depth first */
	uint32_t n_parts;
	struct alloc_texts differences; /* variables that no profile has */
	uint64_t steps; /* number of rows looked at: the effort of the analysis */
};

/*
 * Explain the calls of FUNCTION in P, which must outlive V; FUNCTION NULL: explain nothing. Return 0, or -ENOENT,
 * reported: no values of it were captured.
 */
int varies_init(struct varies *v, const struct profile *p, const char *function);
void varies_deinit(struct varies *v);

/* ---- the change of a function's calls between two sides, from other values and at equal values ---- */

/* The maximum number of functions: those whose captured calls changed most in total. */
#define VARIES_SHIFTED_MAX 8

struct varies_side {
	double calls, mean; /* of the captured calls and the calls that they stand for */
	double value; /* mean of the variable; NAN: flags, or none is captured */
};

struct varies_shift {
	const char *function;
	const char *variable; /* the only one; NULL: all that explain something, or none does */
	struct varies_side sides[2];
	double delta; /* of the means, the second side less the first */
	/* The parts of DELTA: calls have other values; calls with equal values take another time. */
	double by_values, by_cost;
};

struct varies_shifts {
	/* By function: the row of all variables, then each variable by its part. */
	vec_of(struct varies_shift, rows);
	struct alloc_texts texts; /* differences of variables, and names of bodies */
};

/* Set the rows of functions with captured calls on both sides. */
void varies_shifts_init(struct varies_shifts *s, const struct profile *a, const struct profile *b);
void varies_shifts_deinit(struct varies_shifts *s);
