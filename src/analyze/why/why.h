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

/* Return a switched protection's pattern that matches NAME, as "__x86_indirect_thunk_*"; else NAME. */
const char *why_switched_name(const struct why_switched *s, const char *name);

/*
 * Return the protection for which the catalogue lists a function that PART is, calls, or is in; NULL: none. If a protection has
 * the same state on both sides, only its own functions count, not functions that also do other work (CATALOGUE_HOST).
 */
const struct catalogue_protection *
why_owner(const struct why_switched *s, const struct tree_pair *t, const struct why_part *part);

/* Return the static key that differs between the sides and is tested in PART's code, by *FUNCTION; NULL: none. */
const struct analyze_static_key *why_static_key(const struct analyze_static_keys *keys,
						const struct tree_pair *t,
						const struct why_part *part, const char **function);

/* Patches: the lines of a cause that they change. The hardened kernel's sources are the baseline's with the patches. */

/* Lines of the patched source that PATCH adds to FILE. Removed lines are represented by the line after them. */
struct why_patched {
	const char *patch; /* the last part of its path */
	char *file; /* relative to the kernel's tree */
	char *function; /* the function around the lines; NULL: the patch does not show it */
	uint32_t first, last;
	/* First line of the statement that the added lines continue, or else FIRST. */
	uint32_t statement;
	/* The statement's first line, and the last removed line, in the source without PATCH. WAS_LAST 0: no lines removed. */
	uint32_t was_statement, was_last;
};

struct why_patches {
	vec_of(struct why_patched, items);
};

/* Add the changes of the patch in PATH, applied after all earlier ones. PATH must outlive P. Return 0 or -errno, reported. */
int why_patches_add(struct why_patches *p, const char *path);
void why_patches_deinit(struct why_patches *p);

/*
 * Find the lines, first to last, that a patch changes in the code to which PART is charged or, if PART is NEW, in the called
 * code. FILE is P's. Return whether there are any.
 */
bool why_patched_find(const struct why_patches *p, const struct tree_pair *t,
		      const struct why_part *part, struct why_patched *found);

/* Return the nearest caller above PART's node whose code a patch changes, with the change in *FOUND; NULL: none. */
const char *why_patched_caller(const struct why_patches *p, const struct tree_pair *t,
			       const struct why_part *part, struct why_patched *found);

/* A syscall or other context, or all of the command's together. All figures are per run, in ticks of the recordings' clock. */
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
	bool varying; /* VARIED is being determined */
	struct why_significance significance; /* of DELTA */
	double floor; /* ticks: smaller changes are ignored */
	/* The certainty that DELTA is more than chance and more than FLOOR. */
	enum why_sureness changed;
	/* The higher certainty of CHANGED and of its named causes. Two causes may cancel out in DELTA. */
	enum why_sureness sureness;
	struct why_causes causes;
};

struct why {
	const struct profile *p[2];
	struct tree tree;
	struct tree_pair pair; /* of all repetitions of both sides */
	struct why_switched switched;
	struct analyze_static_keys keys; /* none without the kernel's image */
	struct why_patches patches; /* known differences of the sources */
	uint32_t repetitions[2];
	double common; /* ticks, as in why_significance_judge() */
	/* All contexts that the command itself executes: not interrupts, other tasks, or work queued for later. */
	struct why_context command;
	/* Set by why_set_command(), for recordings by probes. */
	const struct analyze_diff *diff;
	const struct analyze_diff_workload_row *cpu; /* the command's CPU time */
	double outside; /* the change outside of all contexts, per run */
	vec_of(struct why_context, contexts); /* the surest change first, then the largest cause */
};

/* Return whether A and B are recordings of one kind and have calls. */
bool why_can_tell(const struct profile *a, const struct profile *b);
/* Both profiles must pass why_can_tell(), and outlive W. */
void why_init(struct why *w, const struct profile *baseline, const struct profile *hardened);
void why_deinit(struct why *w);

/*
 * Compare the code of causes by CHANGES, of both kernels; NULL: the kernels are the same. A cause whose code differs is named
 * even if it is small, provided that it is certain.
 */
void why_compare_code(struct why *w, struct analyze_changes *changes);

/*
 * Take the command's CPU time from DIFF, which must outlive W. W's contexts are parts of that time. A change within the noise
 * of DIFF's control becomes chance.
 */
void why_set_command(struct why *w, const struct analyze_diff *diff);

/* The hardened kernel is the baseline with PATCHES. Causes in their lines are named first. W takes PATCHES. */
void why_set_patches(struct why *w, struct why_patches *patches);

/* Mark causes with OTHER_CODE that are significant as CERTAIN, however small they are. why_compare_code() calls this. */
void why_find_certain(struct why *w);

/* Set P and the interval of SIGNIFICANCE by its squares, for DELTA, a change of a context or of causes. */
void why_judge(const struct why *w, struct why_significance *significance, double delta);

/* Return whether the command itself executes CONTEXT: it is no interrupt, other task, or work queued for later. */
bool why_is_of_command(const char *context);
/* Return whether CONTEXT is [irq] or [softirq]. */
bool why_is_interrupt(const char *context);

/* Return the context with most of the command's largest cause or, without a cause, the command's first context; NULL: none. */
const struct why_context *why_main_context(const struct why *w);

/* Return whether CAUSE, of a recording by probes, is time of a context that was spent in no timed function. */
bool why_is_untimed(const struct why *w, const struct why_causes *c, const struct why_cause *cause);

/* Return whether C changed more by the number of its calls than per call. C's causes explain the change per call. */
bool why_is_called_otherwise(const struct why_context *c);

/* Return the change that C's causes make up, without work that moved from or to another context. */
double why_caused(const struct why_context *c);

/* Return how sure C's cause I is; WHY_CHANCE: do not name it, as it is chance or too small. */
enum why_sureness why_is_named(const struct why_context *c, uint32_t i);

/* ---- the conditions on which causes call other code ---- */

/* Set the guards of all causes of W that are to be named. P is the hardened side's recording, IMG its kernel. */
void why_guards_find(struct why *w, const struct profile *p, struct kernel_image *img);

/* ---- changes that many functions have in common, such as code that compilers put everywhere ---- */

/* Many functions call one function, or execute one body, on one side only. */
struct why_spread {
	const char *name; /* the catalogue's pattern, if it matches all of them */
	const struct why_part *most; /* the largest part; NULL: there is no such change */
	/* DELTA: the change of these calls or bodies. REST: all other changes of the functions around them. Ticks per run. */
	double delta, rest;
	uint32_t n_functions;
	struct why_significance significance; /* of DELTA and REST together */
};

/* Find the largest change in C that many functions have in common, without a large part in a single function. */
struct why_spread why_spread_find(const struct why *w, const struct why_context *c);

/* Return how many of C's functions and bodies have SHARE of its change, the largest counted first. */
uint32_t why_spread_functions(const struct why_context *c, double share);

/* ---- the same comparison by probes, to check an exact one ---- */

/* Changes in exact recordings ([0]) and in recordings by probes ([1]); NAN: not known. */
struct why_check {
	const char *function; /* the timed function around the cause; NULL: none */
	double context[2]; /* instructions per call of the context */
	double functions[2]; /* of the function in the context, per run, with its callees */
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
 * Compare the largest cause of C, of T, in EXACT and PROBED, each with a baseline and a hardened side. Return 0 or the error of
 * analyze_diff_init(), reported.
 */
int why_check_init(struct why_check *check, const struct tree_pair *t, const struct why_context *c,
		   const struct profile *const exact[2], const struct profile *const probed[2]);
