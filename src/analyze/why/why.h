/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The reasons why one kernel takes longer than another for the same work: docs/internals/why.md. */
#pragma once

#include "analyze/changes/changes.h"
#include "analyze/diff/diff.h"
#include "analyze/changes/static_keys.h"
#include "analyze/why/causes.h"
#include "analyze/why/owner.h"
#include "analyze/why/patch.h"
#include "base/alloc.h"
#include "tree/lines.h"

/* A syscall or other context, or all of the command's together. All figures are per run, in ticks of the recordings' clock. */
struct why_context {
	const char *name;
	uint32_t node;
	double calls[2], total[2];
	double delta;
	double moved; /* work that the baseline does in other contexts and the hardened side in this one */
	bool is_command; /* all contexts of the command together */
	bool by_itself; /* nobody calls it, as [softirq] */
	double least; /* a smaller part of it is no change */
	bool varied; /* the variation of its causes is known */
	bool varying; /* it is being determined */
	struct why_significance significance; /* of DELTA */
	double floor; /* ticks: a smaller change is none */
	enum why_sureness
		changed; /* how sure it is that DELTA is more than chance and more than FLOOR */
	enum why_sureness
		told; /* the same, or how sure its largest cause is: two causes may cancel out */
	struct why_causes causes;
};

struct why {
	const struct profile *p[2];
	struct tree tree;
	struct tree_pair pair; /* of all repetitions of both sides */
	struct why_switched switched;
	struct analyze_static_keys keys; /* none without the kernel's image */
	struct why_patches patches; /* the sources differ by these, as far as is known */
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
/* They must be such, and outlive W. */
void why_init(struct why *w, const struct profile *baseline, const struct profile *hardened);
void why_deinit(struct why *w);

/*
 * Compare the code of causes by CHANGES, of both kernels; NULL: both are one kernel. A change of code that is not the same is
 * named even if it is small, provided that it is certain.
 */
void why_compare_code(struct why *w, struct analyze_changes *changes);

/*
 * Take the command's CPU time, of which W's contexts are parts, from DIFF, which must outlive W. A change within the noise of
 * DIFF's control becomes chance.
 */
void why_set_command(struct why *w, const struct analyze_diff *diff);

/* The hardened kernel is the baseline with PATCHES. Causes in their lines are named first. W takes PATCHES. */
void why_set_patches(struct why *w, struct why_patches *patches);

/* Mark causes with OTHER_CODE that are certain, however small they are; why_compare_code() does that. */
void why_find_certain(struct why *w);

/* Set how sure DELTA is, the change of a context, a cause or several, of which SIGNIFICANCE has the squares. */
void why_judge(const struct why *w, struct why_significance *significance, double delta);

/* Return whether the command itself executes CONTEXT: it is no interrupt, other task, or work queued for later. */
bool why_is_of_command(const char *context);

/*
 * Return the context that has nearly all of the command's change and of its causes that are named; NULL: no single one has,
 * or work moved from or to it.
 */
const struct why_context *why_only_context(const struct why *w);

/* Return the context with most of the command's largest cause, or else of its change; NULL: there is none. */
const struct why_context *why_main_context(const struct why *w);

/* Return whether CAUSE, of a recording by probes, is time of a context that was spent in no timed function. */
bool why_is_untimed(const struct why *w, const struct why_causes *c, const struct why_cause *cause);

/* Return whether C changed more by how often it is called than by what a call does. Its causes are of the latter. */
bool why_is_called_otherwise(const struct why_context *c);

/* Return the change that C's causes make up, without work that moved from or to another context. */
double why_caused(const struct why_context *c);

/* Return how sure C's cause I is; WHY_CHANCE: it is not to be named, being chance or too small. */
enum why_sureness why_is_named(const struct why_context *c, uint32_t i);
