/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The code that makes a context take more or less. Each part of the context's change is attributed to a function or inlined
 * body whose code makes the difference: it executes other instructions itself, calls a function that the other side does not
 * call there, or calls a function more or less often. A function that is called as often as before gets only its own
 * change. A function that is only called more often because its caller is called more often gets no part of the change.
 */
#pragma once

#include "analyze/stats/statistics.h"
#include "tree/pair.h"
#include "base/alloc.h"

/* ---- how sure a change is: docs/internals/why.md ---- */

struct why_significance {
	double squares[2]; /* by side: sum of squared differences of repetitions from their mean */
	/*
	 * A standard deviation that SQUARES do not show. It adds up those of waiting times, of probe costs, of changes within
	 * the noise of a control and, without enough repetitions, of the times of calls.
	 */
	double known;
	/* The variance of estimates from samples; for the command, also of the times of its contexts' calls. */
	double doubts;
	struct analyze_interval ci; /* of the change; NAN: one run on a side */
	double p; /* p-value, corrected for the number of changes looked at; NAN: not known */
	/* If P is NAN: KNOWN and DOUBTS, or the spread of one recording's runs, can explain the change. */
	bool within_known;
};

enum why_sureness {
	WHY_CHANCE,
	/* The p-value is below MOST. Without a p-value, the change exceeds the known variation. */
	WHY_LIKELY,
	WHY_SURE, /* the p-value is below ANALYZE_SIGNIFICANT */
};

/*
 * Set D's P, CI and WITHIN_KNOWN from its other members. DELTA is the difference between the means of RUNS[0] and RUNS[1]
 * repetitions. COMMON: a standard deviation that each repetition has, even if few do not show it. P and CI are corrected for
 * LOOKED_AT, the number of changes looked at.
 */
void why_significance_judge(struct why_significance *d, double delta, const uint32_t runs[2],
			    double common, double looked_at);

/* Return half the width of D's interval: the difference that recordings of one kernel may have by chance. NAN: not known. */
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

/* The part of a cause's change that has one reason, KIND with NAME, summed over all nodes. */
struct why_part {
	uint32_t cause;
	enum why_kind kind;
	const char *name; /* the called function or inlined body; for SELF the cause's name */
	bool inlined;
	double delta; /* ticks per run */
	double calls[2]; /* calls of NAME per run, by side; 0: not known */
	uint32_t node; /* the tree node of NAME with the largest change */
	double most; /* absolute change at NODE, for as many calls as the hardened side makes */
	double scale; /* factor by which NODE's baseline is multiplied for comparison */
	double ratio; /* for OFTEN: the hardened side's calls / the baseline's / SCALE */
};

/* The condition, as the source has it, on which CALLER calls CALLEE. All NULL: not known. */
struct why_guard {
	const char *caller, *callee;
	char *condition;
};

/* The part of a cause's change that is in one context. */
struct why_share {
	uint32_t cause;
	uint32_t context; /* a node */
	double delta;
};

/* A function or inlined body whose code makes a difference, and all changes that are attributed to this code. */
struct why_cause {
	const char *name;
	const char *function; /* its largest part is inlined into this one; NULL: not inlined */
	double delta, size; /* the cause's change; the sum of its parts' absolute changes */
	bool same_code; /* both kernels have the same code, but take different paths through it */
	bool other_code; /* the code is known to differ between the kernels */
	bool large; /* the change is large enough to be named */
	bool patched; /* the change is significant, and a patch changes lines of the code */
	bool certain; /* the change is small but significant, and the code differs: name it */
	const char *
		caller; /* without OTHER_CODE: the nearest caller whose code differs; NULL: not known */
	struct why_significance significance; /* of DELTA */
	struct why_guard guard; /* of the largest part; set by why_guards_find() */
	uint32_t first_part, n_parts; /* in PARTS of struct why_causes, largest first */
	uint32_t first_share, n_shares; /* in SHARES of struct why_causes, largest first */
};

struct why_causes {
	bool brief; /* leave out shares; set by the caller */
	/*
	 * DELTA is the change of the context, scaled to the number of calls of the side that calls it less often. So no change
	 * is larger than the executed code. BY_CALLS is the remainder of the change, from more or fewer calls of the context.
	 */
	double delta, by_calls;
	double waits; /* sum of the absolute changes of schedule() and related functions */
	/* Sorted: PATCHED causes, then CERTAIN causes, then all others. Each group begins with the largest change. */
	vec_of(struct why_cause, items);
	vec_of(struct why_part, parts);
	vec_of(struct why_share, shares);
};

/*
 * Find the causes in T's node CONTEXT. C is all zero except for BRIEF. BY_ITSELF: no code calls the context, so it is compared per
 * run, not per call. T must outlive C.
 */
void why_causes_init(struct why_causes *c, const struct tree_pair *t, uint32_t context,
		     bool by_itself);
/* Find the causes in all contexts of T whose names IS_OF_COMMAND accepts, as if the root called them. */
void why_causes_init_command(struct why_causes *c, const struct tree_pair *t,
			     bool (*is_of_command)(const char *context));
/*
 * OTHER has the causes of the difference between two repetitions of SIDE. For each of C's causes that OTHER also has, add WEIGHT
 * times the square of its change in OTHER to SIDE's SQUARES of the cause in C.
 */
void why_causes_vary(struct why_causes *c, const struct why_causes *other, int side, double weight);
/* Sort the causes again after some became PATCHED or CERTAIN. */
void why_causes_sort(struct why_causes *c);
void why_causes_deinit(struct why_causes *c);
