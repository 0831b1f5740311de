/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the change of a syscall passes through, of two exact recordings: the functions and inlined bodies on whose stacks
 * most of it lies, outermost first. Each has what it executed with its callees, whoever called it.
 */
#ifndef KPROTPERF_ANALYZE_DIFF_PASSAGE_H
#define KPROTPERF_ANALYZE_DIFF_PASSAGE_H

#include "analyze/diff/conclusion.h"
#include "analyze/inline/stacks.h"

/* A frame with less of the change is no part of the way. */
#define ANALYZE_PASSAGE_SHARE 0.5

/* Instructions per run, callees included. */
struct analyze_step {
	enum analyze_frame_kind kind;
	const char *name; /* as it is in the file */
	double totals[2]; /* of baseline and hardened side */
	double delta, share; /* of the change of the context */
};

struct analyze_passage {
	const char *context; /* NULL: it is not known */
	struct analyze_step *steps;
	uint32_t n_steps, cap_steps;
	struct analyze_stacks stacks;
};

/*
 * Of the change of CONTEXT from profile A to B, where both are exact; else empty. A and B must outlive it. 0 or -E2BIG,
 * reported.
 */
int analyze_passage_init(struct analyze_passage *passage, const struct profile *a,
			 const struct profile *b, const char *context);
/* Sets what leads to the function that C names, in C, which PASSAGE must outlive. */
void analyze_passage_lead(const struct analyze_passage *passage, struct analyze_conclusion *c);
void analyze_passage_deinit(struct analyze_passage *passage);

#endif
