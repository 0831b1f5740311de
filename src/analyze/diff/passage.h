/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the change of a syscall passes through: the functions and inlined bodies on whose stacks most of it lies, outermost
 * first, each with its callees, whoever called it. Exact recordings count that; samples estimate it, as shares of
 * the syscall's own time, which was measured.
 */
#pragma once

#include "analyze/figures/table.h"
#include "analyze/inline/stacks.h"
#include "analyze/stats/binomial.h"
#include "base/alloc.h"

/* A frame with less of the change is no part of the way. */
#define ANALYZE_PASSAGE_SHARE 0.5

#define ANALYZE_WAY 3 /* names that still make a sentence */

/* In ticks per run, callees included. */
struct analyze_step {
	enum analyze_frame_kind kind;
	const char *name; /* as it is in the file */
	double totals[2]; /* of baseline and hardened side */
	/* What is counted is as it is; of estimates the interval leaves 0 out, for all frames that were looked at together. */
	struct analyze_estimated delta;
	double share; /* of the change of the context */
};

/* The samples of a side in the context, and what one stands for: ticks per run. */
struct analyze_sampled {
	double samples, tick;
};

struct analyze_passage {
	const char *context; /* NULL: it is not known */
	bool exact;
	struct analyze_sampled sampled[2];
	vec_of(struct analyze_step, steps);
	struct analyze_stacks stacks;
};

/* The innermost step with nearly all of the change that any has. */
struct analyze_passage_end {
	const struct analyze_step *step; /* NULL: there is none */
	double error; /* of its share: half the interval */
	const char *to_time; /* it, or the function that it is inlined into */
	/* What leads there, outermost first; NULL where it is not known or no more. */
	const char *by_way[ANALYZE_WAY];
};

/*
 * Of the change of CONTEXT, which takes TOTALS ticks per run on either side, from profile A to B. Empty where they are not of one
 * kind, or have no samples of the clock. They and CONTEXT must outlive it. 0 or -E2BIG, reported.
 */
int analyze_passage_init(struct analyze_passage *passage, const struct profile *a,
			 const struct profile *b, const char *context, const double totals[2]);
/* PASSAGE must outlive what it returns. */
struct analyze_passage_end analyze_passage_end(const struct analyze_passage *passage);
void analyze_passage_deinit(struct analyze_passage *passage);
