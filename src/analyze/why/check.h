/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The same comparison by probes, to hold what was counted against. */
#pragma once

#include "analyze/why/why.h"

/* Changes, of recordings that are exact [0] and by probes [1]; NAN: not known. */
struct why_check {
	const char *function; /* around the cause, that probes timed; NULL: none */
	double context[2]; /* instructions per call of the context */
	double functions[2]; /* per run, of the function in the context with its callees */
	/* By how much both may differ by chance, likewise: as runs on one kernel do; NAN: not known. */
	double context_noise, function_noise;
};

#define WHY_PROBED 3

/*
 * The functions that have the largest cause of context C of T in them, innermost first: compilers and kernels do not let probes
 * time each. None is called much more often than the innermost. Returns how many; 0 where no cause is to be named.
 */
uint32_t why_probed_functions(const struct tree_pair *t, const struct why_context *c,
			      const char *names[WHY_PROBED]);

/*
 * Of the largest cause of C, of T. EXACT, PROBED: baseline and hardened side. 0, or what analyze_diff_init() returns, reported.
 */
int why_check_init(struct why_check *check, const struct tree_pair *t, const struct why_context *c,
		   const struct profile *const exact[2], const struct profile *const probed[2]);
