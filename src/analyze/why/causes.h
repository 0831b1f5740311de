/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Find the code that makes a context (a system call or an interrupt) take more or less time. Each part of the context's change is
 * attributed to one function or inlined function: because its own instructions differ, because it calls a function that the other
 * kernel does not call there, or because it calls a function more or less often. A function that is called as often as before gets
 * only its own change. A function gets no change just because its caller is called more often.
 */
#pragma once

#include "analyze/stats/statistics.h"
#include "tree/pair.h"
#include "base/alloc.h"

/* ---- certainty of a change: docs/internals/why.md ---- */

struct why_significance {
	double squares[2]; /* for each kernel: repetitions' squared differences from their mean */
	/*
	 * A standard deviation to add to SQUARES. It sums up the deviations of waiting times, of probe costs, and of changes below
	 * the noise of a control recording. Without enough repetitions, it includes those of the times of calls.
	 */
	double known;
	/* Variance of estimates from samples. For the command, also the variance of its contexts' times. */
	double doubts;
	struct analyze_interval ci; /* interval of the change; NAN: a kernel has only one run */
	double p; /* p-value, adjusted for the number of tested changes; NAN: unknown */
	/* Only if P is NAN. True: KNOWN and DOUBTS, or the spread between one recording's runs, can explain the change. */
	bool within_known;
};

enum why_sureness {
	WHY_CHANCE,
	/* The p-value is below MOST (0.5). If there is no p-value, the change exceeds its known variation. */
	WHY_LIKELY,
	WHY_SURE, /* the p-value is below ANALYZE_SIGNIFICANT */
};

/*
 * Set P, CI and WITHIN_KNOWN of D. DELTA is the difference between the means of two kernels with RUNS[0] and RUNS[1] repetitions.
 * COMMON is added to the standard deviation, since few repetitions may show too little variation. P and CI are adjusted for
 * LOOKED_AT, the number of tested changes.
 */
void why_significance_judge(struct why_significance *d, double delta, const uint32_t runs[2],
			    double common, double looked_at);

/* Return half the width of D's interval: a difference that recordings of one kernel may have by chance. NAN: unknown. */
double why_significance_noise(const struct why_significance *d);

enum why_sureness why_significance_sureness(const struct why_significance *d);

/* ---- causes ---- */

enum why_kind {
	WHY_SELF, /* the function's own instructions differ */
	WHY_NEW, /* a call that only the hardened kernel makes, with all its time */
	WHY_GONE, /* a call that only the baseline makes, with all its time */
	WHY_OFTEN, /* a callee is called more or less often per call of the function */
	WHY_N_KINDS
};

/* The part of a cause's change that has one reason (KIND and NAME), summed over all nodes of the tree. */
struct why_part {
	uint32_t cause;
	enum why_kind kind;
	const char *name; /* the called or inlined function; for WHY_SELF, the cause itself */
	bool inlined;
	double delta; /* ticks per run */
	double calls[2]; /* calls of NAME per run in each kernel; 0: unknown */
	uint32_t node; /* the tree node of NAME with the largest change */
	double most; /* absolute change at NODE, before scaling to the smaller number of calls */
	double scale; /* multiply NODE's baseline figures by this before a comparison */
	double ratio; /* for WHY_OFTEN: hardened calls / (SCALE * baseline calls) */
};

/* The condition in the source under which CALLER calls CALLEE. All members are NULL if it is unknown. */
struct why_guard {
	const char *caller, *callee;
	char *condition;
};

/* The part of a cause's change in one context. */
struct why_share {
	uint32_t cause;
	uint32_t context; /* number of the context's tree node */
	double delta;
};

/* A function or inlined function whose code makes a difference, and all changes that are attributed to it. */
struct why_cause {
	const char *name;
	const char *function; /* function into which the largest part's code is inlined, or NULL */
	double delta, size; /* DELTA: total change; SIZE: sum of the parts' absolute changes */
	bool same_code; /* both kernels have the same code, but execute other paths in it */
	bool other_code; /* the code is known to differ between the kernels */
	bool large; /* the change is large enough to report */
	bool patched; /* the cause is significant, and a patch changes lines of its code */
	bool certain; /* report the cause even if small: it is significant, and code differs */
	const char *
		caller; /* without OTHER_CODE: the nearest caller whose code differs; NULL: not known */
	struct why_significance significance; /* certainty of DELTA */
	struct why_guard guard; /* condition of the largest part; set by why_guards_find() */
	uint32_t first_part, n_parts; /* range in PARTS of struct why_causes, largest first */
	uint32_t first_share, n_shares; /* range in SHARES of struct why_causes, largest first */
};

struct why_causes {
	bool brief; /* omit SHARES; set by the caller */
	/*
	 * DELTA is the change if both kernels called the context as often as the kernel with fewer calls. So no cause changes by
	 * more than its own time. BY_CALLS is the rest of the change, from more or fewer calls of the context.
	 */
	double delta, by_calls;
	double waits; /* sum of absolute changes of schedule() and similar functions */
	/* Sorted: PATCHED causes, then CERTAIN causes, then others; in each group, the largest change first. */
	vec_of(struct why_cause, items);
	vec_of(struct why_part, parts);
	vec_of(struct why_share, shares);
};

/*
 * Find the causes of changes in T's node CONTEXT. The caller sets BRIEF of C, and zeroes the rest of C. BY_ITSELF: no code calls
 * the context, so compare it per run instead of per call. T must outlive C.
 */
void why_causes_init(struct why_causes *c, const struct tree_pair *t, uint32_t context,
		     bool by_itself);
/* Find the causes in all contexts whose names IS_OF_COMMAND accepts, as if the tree's root called these contexts. */
void why_causes_init_command(struct why_causes *c, const struct tree_pair *t,
			     bool (*is_of_command)(const char *context));
/*
 * OTHER compares two repetitions of kernel SIDE. For each cause that C and OTHER share, square its change in OTHER, multiply it by
 * WEIGHT, and add it to SQUARES[SIDE] of the cause in C.
 */
void why_causes_vary(struct why_causes *c, const struct why_causes *other, int side, double weight);
/* Sort the causes again after setting PATCHED or CERTAIN. */
void why_causes_sort(struct why_causes *c);
void why_causes_deinit(struct why_causes *c);
