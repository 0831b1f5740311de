/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Samples as folded stacks, and what was sampled most. Control runs are left out. */
#ifndef KPROTPERF_ANALYZE_STACKS_H
#define KPROTPERF_ANALYZE_STACKS_H

#include <stddef.h>

#include "output/folded.h"
#include "profile/profile.h"

/*
 * The root frame is the context; kernel functions end in "_[k]", inlined bodies in "_[i]"; user
 * space is "[user]", without a context where there was none; a sample that came late ends in
 * "[irqs_off]": its time was spent with interrupts off, up to the place it names.
 */
struct analyze_stacks {
	struct output_folded_line *lines; /* by stack, each once */
	size_t n_lines, cap_lines;
	size_t bytes; /* of all their text */
};

/*
 * Adds P's samples to the counts of SIDE, 0 or 1, each multiplied by SCALE. Returns 0 or, having
 * said so, -E2BIG where the text would be larger than any real recording's.
 */
int analyze_stacks_add(struct analyze_stacks *stacks, const struct profile *p, unsigned int side,
		       double scale);
void analyze_stacks_deinit(struct analyze_stacks *stacks);

/*
 * The share of samples taken in the function NAME itself, what is inlined into it included: single
 * inlined bodies are too many for a list. Suffixes as above.
 */
struct analyze_leaf {
	char *name;
	double samples, share;
};

struct analyze_leaves {
	struct analyze_leaf *leaves; /* by falling count */
	size_t n_leaves, cap_leaves;
	double samples; /* all of them */
};

void analyze_leaves_init(struct analyze_leaves *leaves, const struct profile *p);
void analyze_leaves_deinit(struct analyze_leaves *leaves);

#endif
