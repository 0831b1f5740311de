/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The reasons why one kernel takes longer than another for the same work: docs/internals/why.md. */
#pragma once

#include "analyze/changes/changes.h"
#include "analyze/diff/diff.h"
#include "analyze/why/causes.h"
#include "base/alloc.h"
#include "catalogue/catalogue.h"
#include "tree/lines.h"

struct kernel_image;

/* ---- the protection of the catalogue that a cause belongs to ---- */

/* The protections whose known states differ between the sides. */
struct why_switched {
	vec_of(const struct catalogue_protection *, items);
	vec_of(const struct catalogue_protection *, off); /* known to be off on both sides */
};

void why_switched_init(struct why_switched *s, const struct profile *baseline,
		       const struct profile *hardened);
void why_switched_deinit(struct why_switched *s);
bool why_switched_has(const struct why_switched *s, const struct catalogue_protection *protection);

/* Return the pattern of a switched protection's functions that matches NAME, as "__x86_indirect_thunk_*"; without one, NAME. */
const char *why_switched_name(const struct why_switched *s, const char *name);

/*
 * Return the protection for which the catalogue lists PART's function, a caller, or a callee with most of the change; NULL:
 * none. Functions that also do other work (CATALOGUE_HOST) count only if the state of the protection differs between the sides.
 * Protections that are off on both sides are left out.
 */
const struct catalogue_protection *
why_owner(const struct why_switched *s, const struct tree_pair *t, const struct why_part *part);

/* Return a static key that differs between the sides and that PART's code tests, in *FUNCTION; NULL: there is none. */
const struct analyze_static_key *why_static_key(const struct analyze_static_keys *keys,
						const struct tree_pair *t,
						const struct why_part *part, const char **function);

/* ---- lines of causes that patches change: the hardened kernel's sources are the baseline's with the patches ---- */

/* Lines of the patched source that PATCH adds to FILE. Removed lines are represented by the line after them. */
struct why_patched {
	const char *patch; /* the patch's file name, without folders */
	char *file; /* relative to the kernel's tree */
	char *function; /* the function around the lines; NULL: the patch does not show it */
	uint32_t first, last;
	/* First line of the statement that line FIRST begins or continues. */
	uint32_t statement;
	/* The statement's first line, and the last removed line, as numbered without PATCH. WAS_LAST 0: no lines are removed. */
	uint32_t was_statement, was_last;
};

struct why_patches {
	vec_of(struct why_patched, items);
};

/* Add the changes of the patch in PATH, applied after all earlier ones. PATH must outlive P. Return 0 or -errno, reported. */
int why_patches_add(struct why_patches *p, const char *path);
void why_patches_deinit(struct why_patches *p);

/*
 * Set *FOUND to the range of lines that a patch changes in the code to which PART's change is attributed or, if PART is NEW, in
 * the called code. P owns the strings in *FOUND. Return whether a patch changes any.
 */
bool why_patched_find(const struct why_patches *p, const struct tree_pair *t,
		      const struct why_part *part, struct why_patched *found);

/* Return the nearest caller above PART's node whose code a patch changes, with the change in *FOUND; NULL: none. */
const char *why_patched_caller(const struct why_patches *p, const struct tree_pair *t,
			       const struct why_part *part, struct why_patched *found);

/* A syscall or other context, or all contexts of the command together. Figures are per run, in ticks of the recordings' clock. */
struct why_context {
	const char *name;
	uint32_t node;
	double calls[2], total[2];
	double delta;
	double moved; /* work that the baseline does in other contexts and the hardened side in this one */
	bool is_command; /* all contexts of the command together */
	bool by_itself; /* no code of the command calls it, as [softirq] */
	double least; /* fraction of TOTAL[0]: smaller changes are ignored */
	bool varied; /* the variation of its causes is known */
	bool varying; /* vary_causes() is determining the variation of its causes */
	struct why_significance significance; /* of DELTA */
	double floor; /* ticks: smaller changes are ignored */
	/* The certainty that DELTA is more than chance; WHY_CHANCE if DELTA is too small. */
	enum why_sureness changed;
	/* The highest certainty of CHANGED and of the named causes. Causes may be sure while DELTA is not: they may cancel out. */
	enum why_sureness sureness;
	struct why_causes causes;
};

struct why {
	const struct profile *p[2];
	struct tree tree;
	struct tree_pair pair; /* of all repetitions of both sides */
	struct why_switched switched;
	struct analyze_static_keys keys; /* none without the kernel's image */
	struct why_patches patches; /* set by why_set_patches() */
	uint32_t repetitions[2];
	double common; /* COMMON of why_significance_judge(), in ticks */
	/* All contexts that the command itself executes: not interrupts, other tasks, or work queued for later. */
	struct why_context command;
	/* Set by why_set_command(), for recordings by probes. */
	const struct analyze_diff *diff;
	const struct analyze_diff_workload_row *cpu; /* the command's CPU time */
	double outside; /* the change of CPU outside of the command's contexts, per run */
	vec_of(struct why_context, contexts); /* sorted by certainty, then by size of the change */
};

/* Return whether A and B can be compared: both are exact or both by probes, with the same clock, and both have calls. */
bool why_can_tell(const struct profile *a, const struct profile *b);
/* Find the reasons why HARDENED differs from BASELINE. Both must pass why_can_tell(), and outlive W. */
void why_init(struct why *w, const struct profile *baseline, const struct profile *hardened);
void why_deinit(struct why *w);

/*
 * Set for causes whether their code differs between the kernels, as CHANGES shows; NULL: the kernels are the same. A significant
 * cause whose code differs is named even if it is small.
 */
void why_compare_code(struct why *w, struct analyze_changes *changes);

/*
 * Replace the command's time, the sum of its contexts, by its CPU time from DIFF, which must outlive W. A change within the noise
 * of DIFF's control gets an uncertainty as large as the change.
 */
void why_set_command(struct why *w, const struct analyze_diff *diff);

/* Set the PATCHES that only the hardened kernel has. Causes in patched lines are named first. W takes ownership of PATCHES. */
void why_set_patches(struct why *w, struct why_patches *patches);

/* Mark causes with OTHER_CODE that are significant as CERTAIN, however small they are. why_compare_code() calls this. */
void why_find_certain(struct why *w);

/* Set P and CI of SIGNIFICANCE for DELTA, a change of a context or of causes. Both are corrected for the number of contexts. */
void why_judge(const struct why *w, struct why_significance *significance, double delta);

/* Return whether the command itself executes CONTEXT: it is no interrupt, other task, or work queued for later. */
bool why_is_of_command(const char *context);
/* Return whether CONTEXT is [irq] or [softirq]. */
bool why_is_interrupt(const char *context);

/* Return the context with most of the command's first named cause; without a cause, its first context; NULL: there is none. */
const struct why_context *why_main_context(const struct why *w);

/* Return whether CAUSE is the time that a context spends in no timed function. Exact recordings have no such cause. */
bool why_is_untimed(const struct why *w, const struct why_causes *c, const struct why_cause *cause);

/* Return whether more of C's change is due to the number of its calls than to the time per call, which C's causes explain. */
bool why_is_called_otherwise(const struct why_context *c);

/* Return the change that C's causes explain. It excludes work that moved from or to another context. */
double why_caused(const struct why_context *c);

/* Return the certainty of C's cause number I; WHY_CHANCE: the cause is not to be named, as it is chance or too small. */
enum why_sureness why_is_named(const struct why_context *c, uint32_t i);

/* ---- the conditions on which causes call other code ---- */

/* Set GUARD of all causes of W that are to be named. P is the hardened side's recording; IMG is the image of its kernel. */
void why_guards_find(struct why *w, const struct profile *p, struct kernel_image *img);

/* ---- changes that many functions have in common, such as code that compilers put everywhere ---- */

/* A change that many functions have in common: they call NAME, or have it inlined, on one side only. */
struct why_spread {
	const char *name; /* a function or body, or a pattern of the catalogue for several */
	const struct why_part *most; /* the largest part; NULL: there is no such change */
	/* DELTA: the change of these calls or bodies. REST: all other changes of the functions that have them. Ticks per run. */
	double delta, rest;
	uint32_t n_functions;
	struct why_significance significance; /* of DELTA and REST together */
};

/* Find the largest change in C that many functions have in common, without a large part in a single function. */
struct why_spread why_spread_find(const struct why *w, const struct why_context *c);

/* Return how many of C's causes, counted from the first, together have the fraction SHARE of its change. */
uint32_t why_spread_functions(const struct why_context *c, double share);

/* ---- the same comparison by probes, to check an exact one ---- */

/* Changes in exact recordings ([0]) and in recordings by probes ([1]); NAN: not known. */
struct why_check {
	const char *function; /* the timed function around the cause; NULL: none */
	double context[2]; /* change of the context, in instructions per call */
	double functions[2]; /* change of FUNCTION and its callees in the context, per run */
	/* Half of the range that these changes may have by chance, between recordings of one kernel; NAN: not known. */
	double context_noise, function_noise;
};

#define WHY_PROBED 3

/*
 * Find the functions around the largest cause of context C of T, innermost first: several, since some cannot be timed.
 * Functions called much more often than the innermost are left out. Return their number; 0: no cause is to be named.
 */
uint32_t why_probed_functions(const struct tree_pair *t, const struct why_context *c,
			      const char *names[WHY_PROBED]);

/*
 * Set CHECK to the changes of C and of the function around its largest cause, in EXACT and in PROBED recordings of both sides. T
 * is the tree of C. Return 0 or the error of analyze_diff_init(), reported.
 */
int why_check_init(struct why_check *check, const struct tree_pair *t, const struct why_context *c,
		   const struct profile *const exact[2], const struct profile *const probed[2]);
