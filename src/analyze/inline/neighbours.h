/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Callers and callees of a function or inlined body, as far as samples tell; exact recordings tell all. */
#pragma once

#include "analyze/inline/stacks.h"
#include "base/alloc.h"

struct analyze_neighbour {
	enum analyze_frame_kind kind;
	const char *name; /* as it is in the file; of callees NULL: the function itself */
	double samples, total; /* taken with both on the stack, and that in ticks; NAN: not known */
	double calls; /* from the one to the other; NAN: not known, as of bodies and without edges */
	double share; /* of all of the function */
};

struct analyze_neighbour_list {
	vec_of(struct analyze_neighbour, items); /* by falling count */
};

struct analyze_neighbours {
	const char *function; /* as it was asked for */
	const char
		*name; /* as stacks have it, which may be that of another symbol of its address */
	double samples; /* in it and its callees */
	struct analyze_neighbour_list callers, callees;
	struct analyze_stacks stacks, calls;
};

/*
 * Find the neighbours of FUNCTION in P; both must outlive N. If the function is on a stack several times, the time is
 * the outermost's caller's and the innermost's callee's; each of its calls has a caller. Return 0 or -E2BIG, reported.
 */
int analyze_neighbours_init(struct analyze_neighbours *n, const struct profile *p,
			    const char *function);
void analyze_neighbours_deinit(struct analyze_neighbours *n);
