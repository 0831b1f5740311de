/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Which code decided that a context executes more instructions, or fewer. Each instruction of the change is charged to one
 * function or inlined body, the one whose code makes the difference: that it executes other instructions itself, that it
 * calls what the other side does not call there, or calls something more often. What is called as often as before, from
 * unchanged code, is charged for its own change only; what all is called more often because its caller is, for none.
 */
#pragma once

#include "analyze/stats/statistics.h"
#include "tree/pair.h"
#include "base/alloc.h"

/* The certainty of a change that was counted in several boots of each kernel: docs/internals/why.md. */

struct why_significance {
	double squares[2]; /* of a side's runs: what each differs from their mean by, squared */
	/* A standard deviation besides: of scheduling, as when a task has to wait is a matter of timing, and of what probes cost. */
	double known;
	double doubts; /* likewise squared, of estimates from samples */
	struct analyze_interval ci; /* of the change; NAN: one run on a side */
	double p; /* that one kernel shows as much against itself in any of what was looked at; NAN likewise */
	bool within_known; /* P is NAN, and the change no more than twice KNOWN, or than what runs of one recording vary by */
};

enum why_sureness {
	WHY_CHANCE,
	WHY_LIKELY, /* or one run on a side, and more than KNOWN explains */
	WHY_SURE, /* the interval excludes 0 */
};

/*
 * What squares say of DELTA, a difference of means of RUNS on each side. COMMON: standard deviation of what all runs may
 * have besides, which so few do not show. LOOKED_AT: of so many this is one; level and p are corrected for it.
 */
void why_significance_judge(struct why_significance *d, double delta, const uint32_t runs[2],
			    double common, double looked_at);

/* What one kernel may differ from itself by: half the interval's width. NAN: not known. */
double why_significance_noise(const struct why_significance *d);

enum why_sureness why_significance_sureness(const struct why_significance *d);

/* ---- causes ---- */

enum why_kind {
	WHY_SELF, /* its own instructions */
	WHY_NEW, /* NAME and callees, which it does not call on the baseline */
	WHY_GONE, /* or on the hardened side */
	WHY_OFTEN, /* calls of NAME, more or fewer for each of its own */
	WHY_N_KINDS
};

/* One reason, over all places where it is found in the context. */
struct why_part {
	uint32_t cause;
	enum why_kind kind;
	const char *name; /* the callee or body; of SELF the cause itself */
	bool inlined;
	double delta; /* instructions per run */
	double calls[2]; /* of NAME per run; 0: not known */
	uint32_t node; /* where most of it is, */
	double most; /* how much, for the hardened side's calls */
	double scale; /* what its baseline was multiplied with */
	double ratio; /* of OFTEN: how much more often than by SCALE */
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
	const char *function; /* that most of it is inlined into; NULL: it is a function */
	double delta, size; /* of the change; of its parts without their signs */
	bool same_code; /* both kernels have the same instructions there: what is done otherwise is another path through them */
	bool other_code; /* they are known to have other instructions there */
	bool large; /* enough to be named */
	bool patched; /* significant, and in lines of a patch */
	bool certain; /* so that it need not be large: why_compare_code() */
	const char *
		caller; /* where SAME_CODE, the nearest one that has other instructions; NULL: none, or not known */
	struct why_significance significance; /* of DELTA */
	struct why_guard guard; /* of the first part: by why_guards_find() */
	uint32_t first_part, n_parts; /* largest first */
	uint32_t first_share, n_shares; /* likewise */
};

struct why_causes {
	bool brief; /* without shares; to be set before */
	/*
	 * Of the context, for as many calls as that side makes which calls it less often: so nothing has a larger change than
	 * what is executed of it. The rest is of its being called more or less often.
	 */
	double delta, by_calls;
	double waits; /* instructions of scheduling, whose sizes are added */
	vec_of(struct why_cause,
	       items); /* those that are PATCHED first, then the CERTAIN, then the largest */
	vec_of(struct why_part, parts);
	vec_of(struct why_share, shares);
};

/* Of T's node CONTEXT, where C is all zero but for BRIEF; BY_ITSELF: nobody calls it, and what it does is compared per run. T must outlive C. */
void why_causes_init(struct why_causes *c, const struct tree_pair *t, uint32_t context,
		     bool by_itself);
/* Find the causes in all contexts of T whose names IS_OF_COMMAND accepts, as if the root called them. */
void why_causes_init_command(struct why_causes *c, const struct tree_pair *t,
			     bool (*is_of_command)(const char *context));
/* Adds to what C's causes vary by on SIDE: OTHER are those of two runs of that side, whose squares count WEIGHT times. */
void why_causes_vary(struct why_causes *c, const struct why_causes *other, int side, double weight);
/* Has been done; to be repeated for what has become PATCHED or CERTAIN. */
void why_causes_sort(struct why_causes *c);
void why_causes_deinit(struct why_causes *c);
