/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Samples as stacks of frames, and the functions with most samples. Control runs are left out. */
#pragma once

#include <stddef.h>

#include "base/alloc.h"
#include "profile/profile.h"

/* Output cuts longer names. */
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
 * A stack, outermost frame first: the context, then functions and inlined bodies. A sample in user space has the frame "[user]",
 * after its context if it had one. A late sample ends in "[irqs_off]": it was due while interrupts were off, and the frame before
 * enabled them.
 */
struct analyze_stack {
	vec_of(struct analyze_frame, frames);
	double count[2]; /* indexed by side */
};

struct analyze_stacks {
	struct analyze_stack *rows; /* distinct stacks */
	size_t n_rows, cap_rows;
	size_t bytes; /* names in stacks, without the first 2048 bytes of each */
	struct alloc_texts texts;
};

/*
 * Add P's samples to the counts of SIDE (0 or 1), each multiplied by SCALE. P must outlive STACKS. Return 0, or -E2BIG
 * (reported): the names take more memory than those of any real recording.
 */
int analyze_stacks_add(struct analyze_stacks *stacks, const struct profile *p, unsigned int side,
		       double scale);
/* Add the calls in P, an exact recording, as stacks of side 0 that end in the callee. Return as analyze_stacks_add(). */
int analyze_stacks_add_calls(struct analyze_stacks *stacks, const struct profile *p);
/* Return the stack of sample S of P; free() its frames. TEXTS owns names that are not P's. */
struct analyze_stack analyze_stack_of(const struct profile *p, const struct profile_sample *s,
				      struct alloc_texts *texts);
/*
 * Return the number of frames, outermost first, in which the sample's time was surely spent. The time of a late sample was perhaps
 * not spent in the inlined bodies that enabled interrupts, nor in an unlock function that enabled them for its caller.
 */
uint32_t analyze_stack_sure(const struct analyze_stack *s);
void analyze_stacks_deinit(struct analyze_stacks *stacks);

/*
 * The samples taken in a function itself. Bodies inlined into the function count as the function, since they are too many for a
 * list. FRAMES has the function, then "[irqs_off]" if the samples came late.
 */
struct analyze_leaf {
	struct analyze_frame frames[2];
	uint32_t n_frames;
	double samples, share;
};

struct analyze_leaves {
	struct analyze_leaf *leaves; /* sorted by falling SAMPLES */
	size_t n_leaves, cap_leaves;
	double samples; /* of all leaves */
	struct alloc_texts texts;
};

/* Find the leaves of P's samples. P must outlive LEAVES. */
void analyze_leaves_init(struct analyze_leaves *leaves, const struct profile *p);
void analyze_leaves_deinit(struct analyze_leaves *leaves);

/* ---- callers and callees of a function or inlined body that samples show; exact recordings show all ---- */

struct analyze_neighbour {
	enum analyze_frame_kind kind;
	const char *name; /* as in the file; among callees NULL: the function itself */
	double samples, total; /* samples with both on the stack; their ticks, NAN: unknown */
	double calls; /* calls between the two; NAN: unknown (inlined body, or no edges) */
	double share; /* fraction of the function's samples */
};

struct analyze_neighbour_list {
	vec_of(struct analyze_neighbour, items); /* sorted by falling SAMPLES */
};

struct analyze_neighbours {
	const char *function; /* as requested */
	const char *name; /* the name in stacks, perhaps another symbol at FUNCTION's address */
	double samples; /* samples in the function and its callees */
	struct analyze_neighbour_list callers, callees;
	struct analyze_stacks stacks, calls;
};

/*
 * Find the callers and callees of FUNCTION in P; both must outlive N. If FUNCTION is on a stack several times, its samples count
 * for the caller of the outermost frame and the callee of the innermost frame. CALLS counts each call
 * with its own caller. Return 0, or -E2BIG (reported): see analyze_stacks_add().
 */
int analyze_neighbours_init(struct analyze_neighbours *n, const struct profile *p,
			    const char *function);
void analyze_neighbours_deinit(struct analyze_neighbours *n);
