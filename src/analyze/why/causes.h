/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The code that makes a context take more or less. Each part of the context's change is charged to one function or inlined
 * body, whose code makes the difference: it executes other instructions itself, calls a function that the other side does not
 * call there, or calls a function more or less often. A function that is called as often as before is charged with its own
 * change only. A function that is only called more often because its caller is called more often is not charged.
 */
#pragma once

#include "analyze/stats/statistics.h"
#include "tree/pair.h"
#include "base/alloc.h"

/* ---- how sure a change is: docs/internals/why.md ---- */

struct why_significance {
	double squares[2]; /* per side: the sum of squared differences from its mean */
	/*
	 * A standard deviation in addition to SQUARES: of scheduling, since waiting depends on timing; of the cost of probes;
	 * and of calls, if only the differences between calls show how much runs vary.
	 */
	double known;
	double doubts; /* the variance of estimates from samples; for the command also of its contexts' calls */
	struct analyze_interval ci; /* of the change; NAN: one run on a side */
	double p; /* probability of such a change by chance, in any of the changes looked at; NAN: not known */
	bool within_known; /* without P: KNOWN and DOUBTS, or the spread of one recording's runs, can explain the change */
};

enum why_sureness {
	WHY_CHANCE,
	WHY_LIKELY, /* P is below MOST; without P, not WITHIN_KNOWN */
	WHY_SURE, /* the interval excludes 0 */
};

/*
 * Judge DELTA, a difference of means of RUNS on each side, by D's squares. COMMON: a standard deviation that all changes have,
 * even if few RUNS do not show it. LOOKED_AT: the number of changes looked at, by which D's interval and P are corrected.
 */
void why_significance_judge(struct why_significance *d, double delta, const uint32_t runs[2],
			    double common, double looked_at);

/* Return how much one kernel may differ from itself: half the interval's width. NAN: not known. */
double why_significance_noise(const struct why_significance *d);

enum why_sureness why_significance_sureness(const struct why_significance *d);

/* ---- causes ---- */

enum why_kind {
	WHY_SELF, /* the function's own instructions */
	WHY_NEW, /* calls of NAME on the hardened side only, with all callees of NAME */
	WHY_GONE, /* calls of NAME on the baseline only, with all callees of NAME */
	WHY_OFTEN, /* more or fewer calls of NAME per call of the function */
	WHY_N_KINDS
};

/* A part of a cause: one reason, summed over all its places in the context. */
struct why_part {
	uint32_t cause;
	enum why_kind kind;
	const char *name; /* the callee or body; for SELF the cause itself */
	bool inlined;
	double delta; /* ticks per run */
	double calls[2]; /* of NAME per run; 0: not known */
	uint32_t node; /* the place with the largest change */
	double most; /* the change at NODE, without sign, for the hardened side's calls */
	double scale; /* factor by which NODE's baseline is multiplied for comparison */
	double ratio; /* for OFTEN: ratio of the sides' calls of NAME, divided by SCALE */
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

/* All parts that are charged to the code of one function or inlined body. */
struct why_cause {
	const char *name;
	const char *function; /* most of it is inlined into this function; NULL: not inlined */
	double delta, size; /* the change; the sum of its parts without their signs */
	bool same_code; /* both kernels have the same instructions there, and take another path through them */
	bool other_code; /* the kernels are known to have other instructions there */
	bool large; /* it is large enough to be named */
	bool patched; /* it is significant, and a patch changes its lines */
	bool certain; /* named although small: significant, and its code differs */
	const char *
		caller; /* without OTHER_CODE: the nearest caller whose code differs; NULL: not known */
	struct why_significance significance; /* of DELTA */
	struct why_guard guard; /* of the largest part; set by why_guards_find() */
	uint32_t first_part, n_parts; /* largest first */
	uint32_t first_share, n_shares; /* largest first */
};

struct why_causes {
	bool brief; /* leave out shares; set by the caller */
	/*
	 * DELTA is the context's change for as many calls as the side makes that calls it less often, so no change is larger
	 * than the executed code. BY_CALLS is the remainder, from more or fewer calls of the context.
	 */
	double delta, by_calls;
	double waits; /* changes of schedule() and related functions, without their signs */
	/* The PATCHED first, then the CERTAIN, then the largest. */
	vec_of(struct why_cause, items);
	vec_of(struct why_part, parts);
	vec_of(struct why_share, shares);
};

/*
 * Find the causes in T's node CONTEXT. C is all zero but for BRIEF. BY_ITSELF: no code calls the context, so it is compared per
 * run, not per call. T must outlive C.
 */
void why_causes_init(struct why_causes *c, const struct tree_pair *t, uint32_t context,
		     bool by_itself);
/* Find the causes in all contexts of T whose names IS_OF_COMMAND accepts, as if the root called them. */
void why_causes_init_command(struct why_causes *c, const struct tree_pair *t,
			     bool (*is_of_command)(const char *context));
/* Add to the squares of C's causes on SIDE those of the same causes in OTHER, which compares two repetitions, WEIGHT times. */
void why_causes_vary(struct why_causes *c, const struct why_causes *other, int side, double weight);
/* Sort the causes again after some became PATCHED or CERTAIN. */
void why_causes_sort(struct why_causes *c);
void why_causes_deinit(struct why_causes *c);
