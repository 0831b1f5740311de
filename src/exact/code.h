/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The code of a function as the emulator executed it: pieces that may overlap, from which blocks and loops are derived. */
#pragma once

#include "base/alloc.h"
#include "kernel/image/kallsyms.h"
#include "kprotperf/exact.h"
#include "profile/profile.h"

/* The places at which control may continue after a piece. */
struct exact_way {
	uint64_t target; /* address of a jump's or call's target; 0: unknown or none */
	bool falls; /* it may continue at the end of the piece */
};

struct exact_code {
	struct profile_blocks list; /* the pieces, in the emulator's order */
	vec_of(struct exact_way, ways); /* indexed by piece */
	uint32_t number; /* 1 + index of LIST in the profile; 0: not added yet */
};

/* Add PIECE as number LOCAL of the function's pieces, with WAY, by which control leaves it. Add each number once. */
void exact_code_add(struct exact_code *c, struct profile *p, const struct kernel_kallsyms *ks,
		    uint32_t local, const struct profile_block *piece, struct exact_way way);
/* Return the counts of C, the code of SITE, in CONTEXT; valid until the next call. Call this after all pieces were added. */
struct profile_block_counts *exact_code_counts(struct exact_code *c, struct profile *p,
					       uint32_t site, uint32_t context);
void exact_code_deinit(struct exact_code *c);

/* ---- contexts: from the emulator's to the profile's ---- */

struct exact_context {
	enum exact_kind kind;
	bool command; /* context of the command's tasks */
	uint32_t function; /* for a syscall: index of the function that serves it */
	uint32_t profile; /* index in the profile's contexts */
	uint64_t instructions;
	vec_of(uint32_t, entered_by); /* indexes of functions called first in it */
};

/* Return the name of SYM, a syscall's function. If the syscall's 32-bit and 64-bit functions are one, prefer the name __x64_. */
const char *exact_context_function(const struct kernel_kallsyms *ks, const struct kernel_sym *sym);
/* Initialize C. FUNCTION is the function of a syscall or kernel thread, else NULL. BY is the context that queued C; NULL: none. */
void exact_context_init(struct exact_context *c, struct profile *p, enum exact_kind kind,
			bool command, const char *function, const struct exact_context *by);
void exact_context_entered_by(struct exact_context *c, uint32_t function);
/* Return whether a call of FUNCTION enters C, so that its time counts in C's own row. */
bool exact_context_is_entered_by(const struct exact_context *c, uint32_t function);

/* ---- trace of one call ---- */

struct exact_trace_list {
	vec_of(struct exact_trace_item, items);
};

struct exact_trace {
	struct exact_trace_list open; /* the calls that have not ended, outermost first */
	uint64_t lost;
};

/* Add INSNS instructions at LOCATION. Their function begins at the location FUNCTION, and is DEPTH calls below the traced call. */
void exact_trace_step(struct exact_trace *t, uint32_t depth, uint32_t function, uint32_t location,
		      uint32_t insns);
/* Add the trace to run 0 of P, and free T's memory. Do nothing if no step was added. */
void exact_trace_finish(struct exact_trace *t, struct profile *p);
