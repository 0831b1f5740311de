/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Why one kernel executes more than another for the same work, from two exact recordings: docs/internals/why.md. */
#pragma once

#include "analyze/changes/changes.h"
#include "analyze/diff/diff.h"
#include "analyze/changes/static_keys.h"
#include "analyze/why/causes.h"
#include "analyze/why/owner.h"
#include "analyze/why/patch.h"
#include "base/alloc.h"
#include "tree/lines.h"

/* A syscall or other context, or all of the command's together; all figures are per run. */
struct why_context {
	const char *name;
	uint32_t node;
	double calls[2], total[2]; /* instructions */
	double delta;
	double moved; /* instructions of the baseline's that other contexts execute there, and this one on the hardened side */
	bool is_command; /* it is all of them */
	bool by_itself; /* nobody calls it: [softirq] */
	double least; /* a smaller part of it is no change */
	bool varied; /* what its causes vary by is known, */
	bool varying; /* or being found out */
	struct why_significance significance; /* of DELTA */
	double floor; /* instructions: what slab caches do as much as, or what is negligible */
	enum why_sureness changed; /* whether DELTA is FLOOR at all, and if so how sure */
	enum why_sureness told; /* that, or how sure its largest cause is: two may cancel out */
	struct why_causes causes;
};

struct why {
	const struct profile *p[2];
	struct tree tree;
	struct tree_pair pair; /* of all repetitions of both sides */
	struct why_switched switched;
	struct analyze_static_keys keys; /* by who has the kernel's image; else none */
	struct why_patches patches; /* by which the sources differ, as far as they are known */
	uint32_t repetitions[2];
	double common; /* instructions: why_significance_judge() */
	/* All contexts in which the command itself executes something: not interrupts, other tasks and what is queued for later. */
	struct why_context command;
	/* Set by why_set_command(), for recordings by probes. */
	const struct analyze_diff *diff;
	const struct analyze_diff_workload_row *cpu; /* what the command takes */
	double outside; /* the change outside of all contexts, per run */
	vec_of(struct why_context, contexts); /* the surest to have changed first, then by cause */
};

/* Return whether A and B are recordings of one kind that have any calls. */
bool why_can_tell(const struct profile *a, const struct profile *b);
/* They must be such, and outlive W. */
void why_init(struct why *w, const struct profile *baseline, const struct profile *hardened);
void why_deinit(struct why *w);

/*
 * Finds out whose code is the same on both sides, which CHANGES are of; NULL: both are one kernel. Of code that is not the
 * same a change need not be large to be told of: that it is certain is enough.
 */
void why_compare_code(struct why *w, struct analyze_changes *changes);

/*
 * The command's own CPU time, of which W's contexts are parts, is as DIFF has it, which must outlive W; and what is within the
 * noise of DIFF's control has not changed.
 */
void why_set_command(struct why *w, const struct analyze_diff *diff);

/* The hardened kernel is the baseline with PATCHES, which W takes: what they change is named first. */
void why_set_patches(struct why *w, struct why_patches *patches);

/* Done by why_compare_code(): has causes with OTHER_CODE told of, however little they are of their contexts, that are certain. */
void why_find_certain(struct why *w);

/* How sure DELTA is, of a context, a cause or several, of which DOUBT has the squares. */
void why_judge(const struct why *w, struct why_significance *significance, double delta);

/* Return whether the command itself executes CONTEXT, as opposed to interrupts, other tasks and work queued for later. */
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

/* Whether C's change is of its being called more or less often, more than of what a call does: its causes are of the latter. */
bool why_is_called_otherwise(const struct why_context *c);

/* The change that C's causes make up, per run: without work that moved from or to another context. */
double why_caused(const struct why_context *c);

/* Whether C's cause I is one to be named, being enough of the change, and if so how sure that is. */
enum why_sureness why_is_named(const struct why_context *c, uint32_t i);
