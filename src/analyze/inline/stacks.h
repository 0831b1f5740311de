/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Samples as stacks of frames, and what was sampled most. Control runs are left out. */
#pragma once

#include <stddef.h>

#include "base/alloc.h"
#include "profile/profile.h"

/* Longer names are cut where they are printed. */
#define ANALYZE_FRAME_NAME_MAX 256

enum analyze_frame_kind {
	ANALYZE_FRAME_OTHER, /* the context, "[user]", "[no_stack]", "[irqs_off]" */
	ANALYZE_FRAME_KERNEL, /* a function; without a name "[MODULE]", or "_stext+0x12" */
	ANALYZE_FRAME_INLINED,
};

struct analyze_frame {
	enum analyze_frame_kind kind;
	const char *name; /* as it is in the file, so not for a terminal */
};

/*
 * Outermost frame first: functions of user space, where they were recorded, then the context; user code itself is "[user]", without a context where there was none;
 * a sample that came late ends in "[irqs_off]": its time was spent with interrupts off, up to the place before.
 */
struct analyze_stack {
	vec_of(struct analyze_frame, frames);
	double count[2]; /* of the sides that were added */
};

struct analyze_stacks {
	struct analyze_stack *rows; /* each once */
	size_t n_rows, cap_rows;
	size_t bytes; /* of names in large stacks */
	struct alloc_texts texts;
};

/*
 * Add P's samples to the counts of SIDE, 0 or 1, each multiplied by SCALE. P must outlive STACKS. Return 0 or, having said so,
 * -E2BIG where the names would be larger than any real recording's.
 */
int analyze_stacks_add(struct analyze_stacks *stacks, const struct profile *p, unsigned int side,
		       double scale);
/* Likewise the calls of P's edges, to side 0: the last frame is what was called. Exact recordings have them. */
int analyze_stacks_add_calls(struct analyze_stacks *stacks, const struct profile *p);
/* Return the stack of sample S of P, without user space's part; frames are for free(). Names that are not P's are kept in TEXTS. */
struct analyze_stack analyze_stack_of(const struct profile *p, const struct profile_sample *s,
				      struct alloc_texts *texts);
/*
 * Return how many of its frames the sample was surely taken in. A late sample was not taken in the body that enabled
 * interrupts, nor in the unlock function that did so for its caller.
 */
uint32_t analyze_stack_sure(const struct analyze_stack *s);
void analyze_stacks_deinit(struct analyze_stacks *stacks);

/*
 * The share of samples taken in a function itself, what is inlined into it included: single inlined bodies are too
 * many for a list. A stack of one frame, or two where they came late.
 */
struct analyze_leaf {
	struct analyze_frame frames[2];
	uint32_t n_frames;
	double samples, share;
};

struct analyze_leaves {
	struct analyze_leaf *leaves; /* by falling count */
	size_t n_leaves, cap_leaves;
	double samples; /* all of them */
	struct alloc_texts texts;
};

/* P must outlive LEAVES. */
void analyze_leaves_init(struct analyze_leaves *leaves, const struct profile *p);
void analyze_leaves_deinit(struct analyze_leaves *leaves);

/* ---- callers and callees of a function or inlined body, as far as samples tell; exact recordings tell all ---- */

struct analyze_neighbour {
	enum analyze_frame_kind kind;
	const char *name; /* as it is in the file; of callees NULL: the function itself */
	double samples, total; /* taken with both on the stack, and that in ticks; NAN: not known */
	double calls; /* from the one to the other; NAN: not known, as of bodies and without edges */
	double share; /* of all of the function */
};

struct analyze_neighbour_list {
	vec_of(struct analyze_neighbour, items); /* by falling count */
};

struct analyze_neighbours {
	const char *function; /* as it was asked for */
	const char
		*name; /* as stacks have it, which may be that of another symbol of its address */
	double samples; /* in it and its callees */
	struct analyze_neighbour_list callers, callees;
	struct analyze_stacks stacks, calls;
};

/*
 * Find the neighbours of FUNCTION in P; both must outlive N. If the function is on a stack several times, the time is
 * the outermost's caller's and the innermost's callee's; each of its calls has a caller. Return 0 or -E2BIG, reported.
 */
int analyze_neighbours_init(struct analyze_neighbours *n, const struct profile *p,
			    const char *function);
void analyze_neighbours_deinit(struct analyze_neighbours *n);
