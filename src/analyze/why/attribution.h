/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * List the change per run as rows that add up: the command, its contexts, the functions in each context, and the functions inlined
 * into each function. A function's row has its own time in all calls in the context, without callees that have rows.
 */
#pragma once

#include "analyze/why/why.h"
#include "base/alloc.h"

enum why_attributed {
	WHY_ATTRIBUTED_COMMAND,
	WHY_ATTRIBUTED_CONTEXT,
	WHY_ATTRIBUTED_OUTSIDE, /* time outside of contexts: user space, entry and exit, waiting */
	WHY_ATTRIBUTED_MOVED, /* part of a context: work that moved from other contexts */
	WHY_ATTRIBUTED_FUNCTION,
	WHY_ATTRIBUTED_UNTIMED, /* part of a context: time outside of all functions in the tree */
	WHY_ATTRIBUTED_BODY,
	WHY_ATTRIBUTED_REST, /* part of a function: time outside of its inlined functions */
	WHY_ATTRIBUTED_OTHERS, /* for tables: sum of a level's hidden rows */
};

/* One row. Times are on-CPU, per run, in ticks. NAN: unknown. */
struct why_attribution_row {
	enum why_attributed part;
	const char *name;
	enum analyze_how how; /* source of the figures; set for the command and for samples */
	double level; /* 0: the command; parent: nearest earlier row with a lower level */
	double calls[2], totals[2]; /* per run */
	double delta; /* hardened minus baseline; a kernel without the row counts as 0 */
	double share; /* fraction of the parent row's change; NAN: the parent did not change */
	/* BY_CALLS: part of DELTA from more or fewer calls, at the baseline's mean. BY_MEAN: the rest, from another mean. */
	double by_calls, by_mean;
	enum analyze_verdict verdict; /* on the change of the mean; only of command and contexts */
	bool hidden; /* tables omit this row */
	uint32_t others; /* if PART is WHY_ATTRIBUTED_OTHERS: number of hidden rows */
};

struct why_attribution {
	vec_of(struct why_attribution_row, rows); /* sorted: each row before its parts */
};

/* List the changes of W in A. DIFF compares the same two recordings as W. DIFF and W must outlive A. */
void why_attribution_init(struct why_attribution *a, const struct why *w,
			  const struct analyze_diff *diff);
void why_attribution_deinit(struct why_attribution *a);
