/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The code by which a context takes more, or less. Each part of the change is charged to one function or inlined body, with the
 * code that makes the difference: it executes other instructions itself, calls a function that the other side does not call
 * there, or calls a function more often. A function that is called as often as before is charged with its own change only. A
 * function that is called more often because its caller is, is charged with nothing.
 */
#pragma once

#include "analyze/stats/statistics.h"
#include "tree/pair.h"
#include "base/alloc.h"

/* ---- how sure a change is: docs/internals/why.md ---- */

struct why_significance {
	double squares[2]; /* per side: the sum of squared differences from its mean */
	/*
	 * A standard deviation besides: of scheduling, since a task waits by timing; of the cost of probes; and of calls, where
	 * only the differences between them show how much runs vary.
	 */
	double known;
	double doubts; /* the variance of estimates from samples; for the command also of its contexts' calls */
	struct analyze_interval ci; /* of the change; NAN: one run on a side */
	double p; /* the probability that one kernel shows as much against itself anywhere; NAN likewise */
	bool within_known; /* P is NAN, and KNOWN with DOUBTS, or the spread of one recording's runs, explains the change */
};

enum why_sureness {
	WHY_CHANCE,
	WHY_LIKELY, /* P is below MOST; with one run on a side, not WITHIN_KNOWN */
	WHY_SURE, /* the interval excludes 0 */
};

/*
 * Judge DELTA, a difference of means of RUNS on each side, by D's squares. COMMON: a standard deviation of all runs, which RUNS
 * may be too few to show. LOOKED_AT: the number of changes looked at, for which level and p are corrected.
 */
void why_significance_judge(struct why_significance *d, double delta, const uint32_t runs[2],
			    double common, double looked_at);

/* Return how much one kernel may differ from itself: half the interval's width. NAN: not known. */
double why_significance_noise(const struct why_significance *d);

enum why_sureness why_significance_sureness(const struct why_significance *d);

/* ---- causes ---- */

enum why_kind {
	WHY_SELF, /* its own instructions */
	WHY_NEW, /* NAME and its callees, which it calls on the hardened side only */
	WHY_GONE, /* likewise on the baseline only */
	WHY_OFTEN, /* calls of NAME, more or fewer for each call of its own */
	WHY_N_KINDS
};

/* One reason, over all places where it is found in the context. */
struct why_part {
	uint32_t cause;
	enum why_kind kind;
	const char *name; /* the callee or body; for SELF the cause itself */
	bool inlined;
	double delta; /* ticks per run */
	double calls[2]; /* of NAME per run; 0: not known */
	uint32_t node; /* the place with most of it */
	double most; /* the change there, for the hardened side's calls */
	double scale; /* factor of the baseline */
	double ratio; /* for OFTEN: how much more often than SCALE */
};

/* CALLER calls CALLEE where CONDITION holds, in the source's words; NULL: not known. */
struct why_guard {
	const char *caller, *callee;
	char *condition;
};

/* The part of a cause that is in one context. */
struct why_share {
	uint32_t cause;
	uint32_t context; /* a node */
	double delta;
};

/* All reasons in the code of one function or body. */
struct why_cause {
	const char *name;
	const char *function; /* most of it is inlined into this one; NULL: it is a function */
	double delta, size; /* the change; the sum of its parts without their signs */
	bool same_code; /* both kernels have the same instructions there, and take another path through them */
	bool other_code; /* the kernels are known to have other instructions there */
	bool large; /* it is large enough to be named */
	bool patched; /* it is significant, and in lines of a patch */
	bool certain; /* it is named although it is not large: why_compare_code() */
	const char *
		caller; /* for SAME_CODE: the nearest one with other instructions; NULL: not known */
	struct why_significance significance; /* of DELTA */
	struct why_guard guard; /* of the first part; set by why_guards_find() */
	uint32_t first_part, n_parts; /* largest first */
	uint32_t first_share, n_shares; /* largest first */
};

struct why_causes {
	bool brief; /* leave out shares; set by the caller */
	/*
	 * DELTA is the context's change for the calls of the side that calls it less often, so that no change is larger than
	 * what is executed. BY_CALLS is the rest: the context is called more or less often.
	 */
	double delta, by_calls;
	double waits; /* changes of scheduling, without their signs */
	/* The PATCHED first, then the CERTAIN, then the largest. */
	vec_of(struct why_cause, items);
	vec_of(struct why_part, parts);
	vec_of(struct why_share, shares);
};

/*
 * Find the causes in T's node CONTEXT. C is all zero but for BRIEF. BY_ITSELF: nobody calls the context, so that it is compared
 * per run. T must outlive C.
 */
void why_causes_init(struct why_causes *c, const struct tree_pair *t, uint32_t context,
		     bool by_itself);
/* Find the causes in all contexts of T whose names IS_OF_COMMAND accepts, as if the root called them. */
void why_causes_init_command(struct why_causes *c, const struct tree_pair *t,
			     bool (*is_of_command)(const char *context));
/* Add to the squares of C's causes on SIDE those of OTHER, of two repetitions of that side, WEIGHT times. */
void why_causes_vary(struct why_causes *c, const struct why_causes *other, int side, double weight);
/* Sort again, after causes have become PATCHED or CERTAIN. */
void why_causes_sort(struct why_causes *c);
void why_causes_deinit(struct why_causes *c);
