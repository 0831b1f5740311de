/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Find out why one kernel takes longer than another for the same work. docs/internals/why.md has the method. */
#pragma once

#include "analyze/changes/changes.h"
#include "analyze/diff/diff.h"
#include "analyze/why/causes.h"
#include "base/alloc.h"
#include "catalogue/catalogue.h"
#include "tree/lines.h"

struct kernel_image;

/* ---- the protection in the catalogue that causes a change ---- */

/* The protections whose known states differ between the two kernels. */
struct why_switched {
	vec_of(const struct catalogue_protection *, items);
	vec_of(const struct catalogue_protection *, off); /* known to be off in both kernels */
};

void why_switched_init(struct why_switched *s, const struct profile *baseline,
		       const struct profile *hardened);
void why_switched_deinit(struct why_switched *s);
bool why_switched_has(const struct why_switched *s, const struct catalogue_protection *protection);

/* If a protection in S lists NAME by a pattern, such as "__x86_indirect_thunk_*", return the pattern. Otherwise return NAME. */
const char *why_switched_name(const struct why_switched *s, const char *name);

/*
 * Return the protection that lists PART's function, one of its callers, or a callee with most of the change; NULL: none. A listed
 * function that also does other work (CATALOGUE_HOST) counts only if the protection's state differs between the kernels.
 * Protections that are off in both kernels are skipped.
 */
const struct catalogue_protection *
why_owner(const struct why_switched *s, const struct tree_pair *t, const struct why_part *part);

/* Return a static key that differs between the kernels and that PART's code tests, or NULL. *FUNCTION: function with the test. */
const struct analyze_static_key *why_static_key(const struct analyze_static_keys *keys,
						const struct tree_pair *t,
						const struct why_part *part, const char **function);

/* ---- causes in lines that patches change, if the hardened kernel is the baseline plus patches ---- */

/* PATCH adds lines FIRST to LAST of FILE, numbered as in the patched source. If it only removes lines, FIRST is the next one. */
struct why_patched {
	const char *patch; /* file name of the patch, without folders */
	char *file; /* relative to the kernel's tree */
	char *function; /* function around the lines; NULL: unknown */
	uint32_t first, last;
	/* First line of the statement that contains line FIRST. */
	uint32_t statement;
	/* First line of the statement and last removed line, in the source without PATCH. WAS_LAST is 0 if no line is removed. */
	uint32_t was_statement, was_last;
};

struct why_patches {
	vec_of(struct why_patched, items);
};

/* Read the patch file PATH, which applies after earlier patches. PATH must outlive P. Return 0 or -errno (reported). */
int why_patches_add(struct why_patches *p, const char *path);
void why_patches_deinit(struct why_patches *p);

/*
 * Find lines that a patch changes in the code responsible for PART, or if PART is NEW, in the called code. Set *FOUND to these
 * lines; P owns the strings in *FOUND. Return false if there are no such lines.
 */
bool why_patched_find(const struct why_patches *p, const struct tree_pair *t,
		      const struct why_part *part, struct why_patched *found);

/* Return the nearest caller above PART whose code a patch changes, or NULL. Set *FOUND to the changed lines. */
const char *why_patched_caller(const struct why_patches *p, const struct tree_pair *t,
			       const struct why_part *part, struct why_patched *found);

/* A system call or other context, or the whole command. Figures are per run, in ticks (ns or counted instructions). */
struct why_context {
	const char *name;
	uint32_t node;
	double calls[2], total[2];
	double delta;
	double moved; /* time of work that the baseline does in other contexts */
	bool is_command; /* all contexts of the command together */
	bool by_itself; /* the command's code does not call this context, such as [softirq] */
	double least; /* ignore changes below this fraction of TOTAL[0] */
	bool varied; /* SQUARES (struct why_significance) of all CAUSES are known */
	bool varying; /* vary_causes() is computing SQUARES of all CAUSES */
	struct why_significance significance; /* certainty of DELTA */
	double floor; /* ignore changes below this number of ticks */
	/* Certainty that DELTA is more than chance. WHY_CHANCE if DELTA is too small. */
	enum why_sureness changed;
	/* Highest certainty of CHANGED and of the causes to report. Causes that cancel out may be certain when DELTA is not. */
	enum why_sureness sureness;
	struct why_causes causes;
};

struct why {
	const struct profile *p[2];
	struct tree tree;
	struct tree_pair pair; /* compares all repetitions of both kernels */
	struct why_switched switched;
	struct analyze_static_keys keys; /* empty without the kernel's image */
	struct why_patches patches; /* set by why_set_patches() */
	uint32_t repetitions[2];
	double common; /* argument COMMON of why_significance_judge(), in ticks */
	/* All contexts that the command itself executes. This excludes interrupts, other tasks, and work queued for later. */
	struct why_context command;
	/* why_set_command() sets DIFF, CPU and OUTSIDE, for recordings by probes. */
	const struct analyze_diff *diff;
	const struct analyze_diff_workload_row *cpu; /* CPU time of the command */
	double outside; /* change of CPU time outside of the command's contexts, in ticks per run */
	vec_of(struct why_context, contexts); /* most certain first, then the largest change */
};

/* Return whether A and B can be compared: both have calls and the same clock, and both are exact or both are timed by probes. */
bool why_can_tell(const struct profile *a, const struct profile *b);
/* Find out why HARDENED differs from BASELINE. why_can_tell() must accept both profiles, and both must outlive W. */
void why_init(struct why *w, const struct profile *baseline, const struct profile *hardened);
void why_deinit(struct why *w);

/*
 * Use CHANGES to find out which causes have different code in the two kernels. If the kernels are the same, CHANGES is NULL.
 * Report a significant cause with different code even if it is small.
 */
void why_compare_code(struct why *w, struct analyze_changes *changes);

/*
 * Use the command's CPU time from DIFF instead of the sum of the command's contexts. DIFF must outlive W. If a change is no larger
 * than the noise of DIFF's control recording, add the change's size to its standard deviation.
 */
void why_set_command(struct why *w, const struct analyze_diff *diff);

/* Set the PATCHES that only the hardened kernel has. Report causes in patched lines first. W takes ownership of PATCHES. */
void why_set_patches(struct why *w, struct why_patches *patches);

/* Mark significant causes with OTHER_CODE as CERTAIN, even small ones. why_compare_code() calls this. */
void why_find_certain(struct why *w);

/* Set P and CI of SIGNIFICANCE for DELTA, the change of a context or a cause. Adjust them for the number of contexts. */
void why_judge(const struct why *w, struct why_significance *significance, double delta);

/* Return whether the command itself executes CONTEXT: no interrupts, other tasks, or work queued for later. */
bool why_is_of_command(const char *context);
bool why_is_interrupt(const char *context);

/* Return the context where the command's first reported cause has its largest change, else the first context, or NULL. */
const struct why_context *why_main_context(const struct why *w);

/* Return whether CAUSE is a context's time outside of all timed functions. Exact recordings have no such cause. */
bool why_is_untimed(const struct why *w, const struct why_causes *c, const struct why_cause *cause);

/* Return whether C changed more by the number of its calls than by the time per call, which is what C's causes explain. */
bool why_is_called_otherwise(const struct why_context *c);

/* Return the change that C's causes explain. It excludes work that moved between contexts. */
double why_caused(const struct why_context *c);

/* Return the certainty of C's cause number I. WHY_CHANCE: do not report the cause, since it is chance or too small. */
enum why_sureness why_is_named(const struct why_context *c, uint32_t i);

/* ---- conditions in the source under which functions call other functions ---- */

/* Set GUARD of all causes to report. P is the hardened kernel's recording, and IMG its image. */
void why_guards_find(struct why *w, const struct profile *p, struct kernel_image *img);

/* ---- changes that many functions share, such as code that compilers insert everywhere ---- */

/* A change that many functions share: they call or inline NAME in only one kernel. */
struct why_spread {
	const char *name; /* a function, or the catalogue's pattern for several functions */
	const struct why_part *most; /* largest part of the change; NULL: no shared change */
	/* Ticks per run. DELTA: change from calls and inlined copies of NAME. REST: other changes of the functions with these. */
	double delta, rest;
	uint32_t n_functions;
	struct why_significance significance; /* certainty of DELTA + REST */
};

/* Find the largest change in C that many functions share, without a large part in any single function. */
struct why_spread why_spread_find(const struct why *w, const struct why_context *c);

/* Return how many of C's first causes are needed to explain the fraction SHARE of C's change. */
uint32_t why_spread_functions(const struct why_context *c, double share);

/* ---- exact recordings, checked against recordings by probes ---- */

/* Changes in exact recordings ([0]) and in recordings by probes ([1]). NAN: unknown. */
struct why_check {
	const char *function; /* the timed function around the cause, or NULL */
	double context[2]; /* change of the context, in instructions per call */
	double functions[2]; /* change of FUNCTION and its callees in the context, per run */
	/* CONTEXT and FUNCTIONS vary by plus or minus this noise between recordings of one kernel. NAN: unknown. */
	double context_noise, function_noise;
};

#define WHY_PROBED 3

/*
 * Store in NAMES up to WHY_PROBED functions around the largest cause of context C, innermost first: probes cannot time every
 * function. Skip functions called much more often than the innermost. Return the number of NAMES; 0: no cause to report.
 */
uint32_t why_probed_functions(const struct tree_pair *t, const struct why_context *c,
			      const char *names[WHY_PROBED]);

/*
 * Set CHECK to the changes of C and of the function around its largest cause, in EXACT recordings and in PROBED recordings of both
 * kernels. T is the tree of C. Return 0, or the error of analyze_diff_init() (reported).
 */
int why_check_init(struct why_check *check, const struct tree_pair *t, const struct why_context *c,
		   const struct profile *const exact[2], const struct profile *const probed[2]);
