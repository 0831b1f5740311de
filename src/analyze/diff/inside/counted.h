/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Loops and calls that changed in functions whose blocks were counted on both sides. */
#pragma once

#include "analyze/blocks/loops.h"
#include "base/alloc.h"
#include "profile/profile.h"

enum analyze_counted_kind {
	ANALYZE_COUNTED_LOOP, /* how often LOOP iterates per call, and the instructions of an iteration */
	ANALYZE_COUNTED_CALL, /* how often a call of FUNCTION calls CALLEE */
};

/* One change. What does not apply to the kind is NULL or NAN. */
struct analyze_counted_change {
	enum analyze_counted_kind kind;
	const char *function;
	const struct analyze_loop *loop; /* the hardened side's, or that of the one that has it */
	const char *callee;
	double often[2], cost[2]; /* of baseline and hardened */
	const char *through; /* the function that CALLEE leads to and that carries its cost */
	double slow[2]; /* where THROUGH is the slow path: the share of calls that take it */
	double insns; /* change of the function's own instructions per run */
	uint32_t order; /* among rows of as much */
};

struct analyze_diff_counted {
	/* By the change of the functions' own instructions per run; of each function its loops, then its calls. */
	vec_of(struct analyze_counted_change, rows);
	struct analyze_loops loops[2]; /* own the strings */
	uint32_t n_functions; /* counted on both sides */
};

/* Both profiles must outlive DIFF. */
void analyze_diff_counted_init(struct analyze_diff_counted *diff, const struct profile *baseline,
			       const struct profile *hardened);
void analyze_diff_counted_deinit(struct analyze_diff_counted *diff);
