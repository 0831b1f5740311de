/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compute how much variance of a function's latency each captured variable explains. Method: docs/internals/why-varies.md. */
#pragma once

#include "analyze/stats/statistics.h"
#include "base/alloc.h"
#include "profile/profile.h"

#define VARIES_FOLDS        10
#define VARIES_PERMUTATIONS 499
#define VARIES_DEPTH        3
#define VARIES_MINUS        " - " /* separates two variables in the name of their difference */
#define VARIES_NODES        15 /* maximum number of nodes of a tree with VARIES_DEPTH levels */

/* Latency in ticks = SLOPE * value of VARIABLE + CONSTANT. */
struct varies_law {
	const struct profile_variable *variable; /* NULL: no linear function of a variable fits */
	double slope, constant;
	struct analyze_interval slope_interval; /* 95 % interval of SLOPE */
};

/* The variable for the context of a call. It is used if contexts differ and no other variable is named "context". */
extern const struct profile_variable varies_context;

struct varies_rank {
	const struct profile_variable *variable;
	uint32_t place; /* index of the variable among the captured variables */
	double n_values; /* number of distinct values */
	double alone; /* fraction of variance that the variable explains alone, cross-validated */
	bool is_selected; /* the variable explains variance that earlier variables do not */
	double given_others; /* variance fraction that only VARIABLE explains; NAN: not selected */
	double p; /* probability that chance explains as much as the variable does */
	/* Set if a linear function of the variable explains the latency better than a condition does. */
	struct varies_law law;
};

enum varies_op {
	VARIES_ALL, /* all calls, without a condition */
	VARIES_AT_MOST,
	VARIES_AT_LEAST,
	VARIES_EQUAL,
	VARIES_NOT_EQUAL,
	VARIES_BIT, /* the bit in VALUE is set */
	VARIES_NO_BIT, /* the bit in VALUE is clear */
	VARIES_UNKNOWN, /* the value was not captured */
	VARIES_KNOWN,
};

/* The calls that meet a condition. A split divides these calls into two groups; the slower group comes first. */
struct varies_part {
	double depth; /* number of conditions; 0: all calls */
	enum varies_op op;
	const struct profile_variable *variable; /* the variable of the condition */
	uint64_t value;
	double calls, mean;
	/* EXPLAINED: fraction of all variance that the split or LAW explains, or NAN. UNEXPLAINED: the rest, or NAN if split. */
	double explained, unexplained;
	bool is_split;
	struct varies_law law;
};

struct varies {
	const char *function; /* NULL: no function was requested */
	uint32_t n_rows; /* number of different combinations of values */
	double calls, mean, deviation;
	/* Fraction of variance that the selected variables explain, cross-validated. NAN: no variance, or too few calls. */
	double explained;
	/* Fraction of variance among calls with equal values of all variables. No captured variable can explain it. */
	double equal;
	double lost, sampled; /* LOST: calls without room in a table; SAMPLED: sample of these */
	struct varies_rank *ranks; /* selected variables first, then largest ALONE */
	uint32_t n_ranks, n_selected;
	struct varies_part parts[VARIES_NODES]; /* a split group comes before its two subgroups */
	uint32_t n_parts;
	struct alloc_texts differences; /* owns variables that are differences of two variables */
	uint64_t steps; /* number of rows processed, as a measure of effort */
};

/*
 * Explain the latency of FUNCTION's calls in P, which must outlive V. Do nothing if FUNCTION is NULL. Return 0, or -ENOENT
 * (reported) if no values of FUNCTION were captured.
 */
int varies_init(struct varies *v, const struct profile *p, const char *function);
void varies_deinit(struct varies *v);

/* ---- change of a function's mean latency between two profiles: by other values, or by other costs of equal values ---- */

/* Maximum number of functions to explain: those whose captured calls changed most in total time. */
#define VARIES_SHIFTED_MAX 8

struct varies_side {
	double calls, mean; /* of captured calls, whose weights represent lost calls */
	double value; /* mean of the variable; NAN: not a number, or sometimes not captured */
};

struct varies_shift {
	const char *function;
	const char *variable; /* NULL: all selected variables together */
	struct varies_side sides[2];
	double delta; /* second mean minus first mean */
	/* Parts of DELTA. BY_VALUES: calls have other values. BY_COST: calls with equal values take another time. */
	double by_values, by_cost;
};

struct varies_shifts {
	/* Each function has one row for all selected variables, then a row for each of these, the largest BY_VALUES first. */
	vec_of(struct varies_shift, rows);
	struct alloc_texts texts; /* owns function names, and variables that are differences */
};

/* For the functions with captured calls in both A and B, explain the change of the mean latency by captured values. */
void varies_shifts_init(struct varies_shifts *s, const struct profile *a, const struct profile *b);
void varies_shifts_deinit(struct varies_shifts *s);
