/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The change of a function's calls between two sides, from other values and at equal values. */
#pragma once

#include "analyze/varies/varies.h"
#include "base/alloc.h"

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
