/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Pieces of a function's code (address ranges) that the emulator executed. Pieces may overlap. They make up blocks and loops. */
#pragma once

#include "base/alloc.h"
#include "kernel/image/kallsyms.h"
#include "kprotperf/exact.h"
#include "profile/profile.h"

/* The addresses at which control may continue after a piece of code. */
struct exact_way {
	uint64_t target; /* target of the jump or call; 0: unknown or none */
	bool falls; /* control may continue at the end of the piece */
};

struct exact_code {
	struct profile_blocks list; /* pieces of code, in the emulator's order */
	vec_of(struct exact_way, ways); /* for each piece of code: where control continues */
	uint32_t number; /* 1 + index of LIST in the profile; 0: not yet added */
};

/* Add PIECE, number LOCAL of the function's pieces of code. Callers add each piece once. WAY tells where control continues after PIECE. */
void exact_code_add(struct exact_code *c, struct profile *p, const struct kernel_kallsyms *ks,
		    uint32_t local, const struct profile_block *piece, struct exact_way way);
/* Return the counts in CONTEXT for C, the code of SITE, valid until the next call. All pieces of code must have been added. */
struct profile_block_counts *exact_code_counts(struct exact_code *c, struct profile *p,
					       uint32_t site, uint32_t context);
void exact_code_deinit(struct exact_code *c);

/* ---- contexts: convert the emulator's to the profile's ---- */

struct exact_context {
	enum exact_kind kind;
	bool command; /* context of the tasks of the measured command */
	uint32_t function; /* for a system call: index of its kernel function */
	uint32_t profile; /* index in the profile's contexts */
	uint64_t instructions;
	vec_of(uint32_t, entered_by); /* functions whose calls begin the context */
};

/* Return the name of SYM, a system call's function. Prefer the prefix __x64_ if the 32-bit system call has the same function. */
const char *exact_context_function(const struct kernel_kallsyms *ks, const struct kernel_sym *sym);
/* Initialize C. FUNCTION is the function of a system call or kernel thread, or NULL. BY is the context that queued C, or NULL. */
void exact_context_init(struct exact_context *c, struct profile *p, enum exact_kind kind,
			bool command, const char *function, const struct exact_context *by);
void exact_context_entered_by(struct exact_context *c, uint32_t function);
/* Return whether a call of FUNCTION enters context C. The time of such a call is also a time of the whole context. */
bool exact_context_is_entered_by(const struct exact_context *c, uint32_t function);

/* ---- trace of one call ---- */

struct exact_trace_list {
	vec_of(struct exact_trace_item, items);
};

struct exact_trace {
	struct exact_trace_list open; /* calls that have not ended, outermost first */
	uint64_t lost;
};

/* Add INSNS instructions at LOCATION, in the function at the location FUNCTION, DEPTH calls below the traced call. */
void exact_trace_step(struct exact_trace *t, uint32_t depth, uint32_t function, uint32_t location,
		      uint32_t insns);
/* Add the trace to run 0 of P, and free T's memory. An empty trace is not added. */
void exact_trace_finish(struct exact_trace *t, struct profile *p);
