/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the change of a syscall passes through: the functions and inlined bodies on whose stacks most of it lies, outermost
 * first, each with its callees, whoever called it. Exact recordings count that; samples estimate it, as shares of
 * the syscall's own time, which was measured.
 */
#pragma once

#include "analyze/diff/conclusion.h"
#include "analyze/inline/stacks.h"
#include "analyze/stats/binomial.h"
#include "base/alloc.h"

/* A frame with less of the change is no part of the way. */
#define ANALYZE_PASSAGE_SHARE 0.5

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

/*
 * Of the change that C tells of, from profile A to B, both exact; or else both by probes, which did not time what carries it.
 * Otherwise empty. All three must outlive it. 0 or -E2BIG, reported.
 */
int analyze_passage_init(struct analyze_passage *passage, const struct profile *a,
			 const struct profile *b, const struct analyze_conclusion *c);
/* Sets in C what samples say where PASSAGE, which must outlive it, is of samples. */
void analyze_passage_lead(const struct analyze_passage *passage, struct analyze_conclusion *c);
void analyze_passage_deinit(struct analyze_passage *passage);
