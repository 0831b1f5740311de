/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The same comparison by probes, to check an exact one. */
#pragma once

#include "analyze/why/why.h"

/* Changes in exact recordings [0] and by probes [1]; NAN: not known. */
struct why_check {
	const char *function; /* the timed function around the cause; NULL: none */
	double context[2]; /* instructions per call of the context */
	double functions[2]; /* of the function in the context, per run, with its callees */
	/* The same of two recordings of one kernel, by chance; NAN: not known. */
	double context_noise, function_noise;
};

#define WHY_PROBED 3

/*
 * Find the functions around the largest cause of context C of T, innermost first, since not each can be timed. None is called
 * much more often than the innermost. Return their number; 0: no cause is to be named.
 */
uint32_t why_probed_functions(const struct tree_pair *t, const struct why_context *c,
			      const char *names[WHY_PROBED]);

/*
 * Check the largest cause of C, of T. EXACT and PROBED have a baseline and a hardened side. Return 0, or as
 * analyze_diff_init(), reported.
 */
int why_check_init(struct why_check *check, const struct tree_pair *t, const struct why_context *c,
		   const struct profile *const exact[2], const struct profile *const probed[2]);
