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
#define VARIES_MINUS        " - " /* in the name of a difference of two variables, which no other has */
#define VARIES_NODES        15 /* of a tree of that depth */

/* latency = SLOPE * value + CONSTANT, in ticks */
struct varies_law {
	const struct profile_variable *variable; /* NULL: there is none */
	double slope, constant;
	struct analyze_interval slope_interval; /* 95 % */
};

/* The context of calls, as a variable, if it differs and no other has its name. */
extern const struct profile_variable varies_context;

struct varies_rank {
	const struct profile_variable *variable;
	uint32_t place; /* among the variables */
	double n_values; /* distinct ones */
	double alone; /* share of the variance that it explains alone, cross-validated; 0 at least */
	bool is_selected; /* it explains something that the others do not */
	double given_others; /* of these: what is explained less when it is left out; else NAN */
	double p; /* of explaining by chance as much of what those selected before it leave */
	struct varies_law law; /* where that says as much as conditions */
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

/* The calls of one condition, of which the slower side comes first. */
struct varies_part {
	double depth; /* 0: all calls */
	enum varies_op op;
	const struct profile_variable *variable; /* of the condition */
	uint64_t value;
	double calls, mean;
	/* Parts of all variance: explained by the conditions or the law below, and left by those that have none below. */
	double explained, unexplained;
	bool is_split;
	struct varies_law law;
};

struct varies {
	const char *function; /* NULL: none was asked for */
	uint32_t n_rows; /* calls with equal values */
	double calls, mean, deviation;
	double explained; /* by those selected, cross-validated; NAN: there is no variance, or too few calls */
	double equal; /* share of the variance between calls with equal values: nothing that was captured explains it */
	double lost, sampled; /* calls without room in the table; those of them that are known */
	struct varies_rank *ranks; /* selected ones first, by falling ALONE */
	uint32_t n_ranks, n_selected;
	struct varies_part parts[VARIES_NODES]; /* depth first */
	uint32_t n_parts;
	struct alloc_texts differences; /* of variables, which no profile has */
	uint64_t steps; /* rows looked at: what the analysis took */
};

/*
 * Explain the calls of FUNCTION in P, which must outlive V; FUNCTION NULL: explain nothing. Return 0, or -ENOENT,
 * reported: no values of it were captured.
 */
int varies_init(struct varies *v, const struct profile *p, const char *function);
void varies_deinit(struct varies *v);

/* ---- the change of a function's calls between two sides, from other values and at equal values ---- */

/* The number of functions, those whose captured calls changed most in all. */
#define VARIES_SHIFTED_MAX 8

struct varies_side {
	double calls, mean; /* of the captured calls, and of those that they stand for */
	double value; /* the variable's mean; NAN: of flags, or none is captured */
};

struct varies_shift {
	const char *function;
	const char *variable; /* alone; NULL: all that explain something, or none does */
	struct varies_side sides[2];
	double delta; /* of means */
	double by_values,
		by_cost; /* its parts: calls have other values; calls of equal values take another time */
};

struct varies_shifts {
	/* By function: all variables, then each by what it carries. */
	vec_of(struct varies_shift, rows);
	struct alloc_texts texts; /* differences of variables, and names of bodies */
};

/* Set the rows of the functions of which both sides have captured calls. */
void varies_shifts_init(struct varies_shifts *s, const struct profile *a, const struct profile *b);
void varies_shifts_deinit(struct varies_shifts *s);
