/* SPDX-License-Identifier: GPL-2.0-or-later */
/* List a profile's samples as call stacks, and list the functions that samples hit. Skip runs without probes (control runs). */
#pragma once

#include <stddef.h>

#include "base/alloc.h"
#include "profile/profile.h"

/* Maximum length of a function name in output, in bytes. Longer names are cut. */
#define ANALYZE_FRAME_NAME_MAX 256

enum analyze_frame_kind {
	ANALYZE_FRAME_OTHER, /* a context, "[user]", "[no_stack]" or "[irqs_off]" */
	ANALYZE_FRAME_KERNEL, /* function, or "[MODULE]" or "_stext+0x12" without a symbol */
	ANALYZE_FRAME_INLINED,
};

struct analyze_frame {
	enum analyze_frame_kind kind;
	const char *name; /* as in the recording, not escaped for a terminal */
};

/*
 * A call stack, outermost frame first: the context (a system call or an interrupt), functions, inlined functions. A sample in user
 * space has the frame "[user]". A sample that was delayed while interrupts were off ends in "[irqs_off]", after the frame of the
 * function that enabled interrupts again.
 */
struct analyze_stack {
	vec_of(struct analyze_frame, frames);
	double count[2]; /* samples in each of two profiles */
};

struct analyze_stacks {
	vec_of(struct analyze_stack, rows); /* distinct stacks */
	size_t bytes; /* bytes of names above 2048 in a stack, summed over all stacks */
	struct alloc_texts texts;
};

/*
 * Multiply the numbers of P's samples by SCALE, and add them to COUNT[SIDE] of the stacks. P must outlive STACKS. Return 0, or
 * -E2BIG (reported) if the names take more memory than those of any real recording.
 */
int analyze_stacks_add(struct analyze_stacks *stacks, const struct profile *p, unsigned int side,
		       double scale);
/* Return the stack of sample S in P. The caller frees the frames. TEXTS owns the names that P does not own. */
struct analyze_stack analyze_stack_of(const struct profile *p, const struct profile_sample *s,
				      struct alloc_texts *texts);
/*
 * Return the number of outer frames that were surely running when the sample was due. For a delayed sample, leave out the inlined
 * functions or the unlock function that enabled interrupts: the sample may have been due before them.
 */
uint32_t analyze_stack_sure(const struct analyze_stack *s);
void analyze_stacks_deinit(struct analyze_stacks *stacks);

/*
 * The samples in one function, without called functions. Samples in inlined functions belong to the function around them.
 * FRAMES[0] is the function. FRAMES[1] is "[irqs_off]" if the samples were delayed.
 */
struct analyze_leaf {
	struct analyze_frame frames[2];
	uint32_t n_frames;
	double samples, share;
};

struct analyze_leaves {
	vec_of(struct analyze_leaf, leaves); /* most samples first */
	double samples; /* sum over all LEAVES */
	struct alloc_texts texts;
};

/* Find the functions that P's samples hit. P must outlive LEAVES. */
void analyze_leaves_init(struct analyze_leaves *leaves, const struct profile *p);
void analyze_leaves_deinit(struct analyze_leaves *leaves);

/* ---- callers and callees of a function, found in samples ---- */

struct analyze_neighbour {
	enum analyze_frame_kind kind;
	const char *name; /* as in the recording; a callee NULL is the function itself */
	double samples, total; /* samples with both on the stack, their total time in ticks */
	double calls; /* number of calls; NAN: the recording is not exact */
	double share; /* fraction of the function's samples */
};

struct analyze_neighbour_list {
	vec_of(struct analyze_neighbour, items); /* most samples first */
};

struct analyze_neighbours {
	const char *function; /* name that the user requested */
	const char *name; /* name in stacks: may be another symbol at the same address */
	double samples; /* samples in the function and its callees */
	struct analyze_neighbour_list callers, callees;
	struct analyze_stacks stacks, calls;
};

/*
 * Find the callers and callees of FUNCTION in P; both must outlive N. In a recursion, a sample belongs to the caller of the
 * outermost frame and to the callee of the innermost frame. A call in CALLS belongs to its direct caller. Return 0, or -E2BIG
 * (reported) as analyze_stacks_add().
 */
int analyze_neighbours_init(struct analyze_neighbours *n, const struct profile *p,
			    const char *function);
void analyze_neighbours_deinit(struct analyze_neighbours *n);
