/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The change per run as rows that add up: the command, its contexts, the functions in a context, and the bodies inlined into a
 * function. A function's row has the own time of the function, without its callees in the tree, of all its calls in the context.
 */
#pragma once

#include "analyze/why/why.h"
#include "base/alloc.h"

enum why_attributed {
	WHY_ATTRIBUTED_COMMAND,
	WHY_ATTRIBUTED_CONTEXT,
	WHY_ATTRIBUTED_OUTSIDE, /* in no context: user space, entry and exit, waiting */
	WHY_ATTRIBUTED_MOVED, /* part of a context: work that the baseline does in other contexts */
	WHY_ATTRIBUTED_FUNCTION,
	WHY_ATTRIBUTED_UNTIMED, /* part of a context: outside all functions of the tree */
	WHY_ATTRIBUTED_BODY,
	WHY_ATTRIBUTED_REST, /* part of a function: outside its inlined bodies */
	WHY_ATTRIBUTED_OTHERS, /* for tables: the sum of a level's hidden lines */
};

/* A row of the table. Times are on-CPU, per run, in ticks; NAN: not known. */
struct why_attribution_row {
	enum why_attributed part;
	const char *name;
	enum analyze_how how; /* set for the command, and for figures from samples */
	double level; /* 0: the command; a row is part of the last row above with a lower level */
	double calls[2], totals[2]; /* per run of each side */
	double delta; /* a side without the row counts as 0 */
	double share; /* fraction of the level above; NAN if that level did not change */
	/* Parts of DELTA: more or fewer calls, at the baseline's mean, and the mean's change, in the hardened side's calls. */
	double by_calls, by_mean;
	enum analyze_verdict verdict; /* on the mean's change; for the command and contexts */
	bool hidden; /* tables leave it out */
	uint32_t others; /* for OTHERS: number of hidden lines of the level */
};

struct why_attribution {
	vec_of(struct why_attribution_row, rows); /* each before its parts, the largest first */
};

/* DIFF compares the recordings that W explains. DIFF and W must outlive A. */
void why_attribution_init(struct why_attribution *a, const struct why *w,
			  const struct analyze_diff *diff);
void why_attribution_deinit(struct why_attribution *a);
