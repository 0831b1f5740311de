/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Samples as stacks of frames, and the functions with most samples. Control runs are left out. */
#pragma once

#include <stddef.h>

#include "base/alloc.h"
#include "profile/profile.h"

/* Longer names are cut where they are printed. */
#define ANALYZE_FRAME_NAME_MAX 256

enum analyze_frame_kind {
	ANALYZE_FRAME_OTHER, /* the context, "[user]", "[no_stack]", "[irqs_off]" */
	ANALYZE_FRAME_KERNEL, /* a function; without a name "[MODULE]" or "_stext+0x12" */
	ANALYZE_FRAME_INLINED,
};

struct analyze_frame {
	enum analyze_frame_kind kind;
	const char *name; /* as in the file, not escaped for a terminal */
};

/*
 * Outermost frame first: functions of user space if recorded, then the context. User code is "[user]", without a context if
 * there was none. A late sample ends in "[irqs_off]": its time was spent with interrupts off, up to the place before.
 */
struct analyze_stack {
	vec_of(struct analyze_frame, frames);
	double count[2]; /* indexed by side */
};

struct analyze_stacks {
	struct analyze_stack *rows; /* each stack once */
	size_t n_rows, cap_rows;
	size_t bytes; /* of names in large stacks */
	struct alloc_texts texts;
};

/*
 * Add P's samples to the counts of SIDE (0 or 1), each multiplied by SCALE. P must outlive STACKS. Return 0; or -E2BIG
 * (reported) if the names are larger than in any real recording.
 */
int analyze_stacks_add(struct analyze_stacks *stacks, const struct profile *p, unsigned int side,
		       double scale);
/* Likewise add the calls of P's edges to side 0. The last frame is the callee. Only exact recordings have edges. */
int analyze_stacks_add_calls(struct analyze_stacks *stacks, const struct profile *p);
/* Return the stack of sample S of P, without user space's part; free() its frames. TEXTS keeps names that are not P's. */
struct analyze_stack analyze_stack_of(const struct profile *p, const struct profile_sample *s,
				      struct alloc_texts *texts);
/*
 * Return how many of its frames the sample was surely taken in. A late sample was not taken in the body that enabled
 * interrupts, nor in the unlock function that did so for its caller.
 */
uint32_t analyze_stack_sure(const struct analyze_stack *s);
void analyze_stacks_deinit(struct analyze_stacks *stacks);

/*
 * The samples taken in a function itself, inlined bodies included: single bodies are too many for a list. FRAMES has one frame,
 * or two if the samples came late.
 */
struct analyze_leaf {
	struct analyze_frame frames[2];
	uint32_t n_frames;
	double samples, share;
};

struct analyze_leaves {
	struct analyze_leaf *leaves; /* by falling count */
	size_t n_leaves, cap_leaves;
	double samples; /* of all leaves */
	struct alloc_texts texts;
};

/* P must outlive LEAVES. */
void analyze_leaves_init(struct analyze_leaves *leaves, const struct profile *p);
void analyze_leaves_deinit(struct analyze_leaves *leaves);

/* ---- callers and callees of a function or inlined body, as far as samples tell; exact recordings tell all ---- */

struct analyze_neighbour {
	enum analyze_frame_kind kind;
	const char *name; /* as in the file; among callees NULL: the function itself */
	double samples, total; /* with both on the stack; TOTAL in ticks, NAN: unknown */
	double calls; /* between the two; NAN: unknown, as for bodies or without edges */
	double share; /* of the function's samples */
};

struct analyze_neighbour_list {
	vec_of(struct analyze_neighbour, items); /* by falling count */
};

struct analyze_neighbours {
	const char *function; /* as requested */
	const char *name; /* in stacks: maybe of another symbol at its address */
	double samples; /* in it and its callees */
	struct analyze_neighbour_list callers, callees;
	struct analyze_stacks stacks, calls;
};

/*
 * Find the neighbours of FUNCTION in P; both must outlive N. If FUNCTION is on a stack several times, the time is that of the
 * outermost one's caller and the innermost one's callee. Each call has its own caller. Return 0, or -E2BIG (reported).
 */
int analyze_neighbours_init(struct analyze_neighbours *n, const struct profile *p,
			    const char *function);
void analyze_neighbours_deinit(struct analyze_neighbours *n);
