/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The code of a function as the emulator executed it, in pieces that overlap: what its blocks and loops are made of. */
#pragma once

#include "base/alloc.h"
#include "kernel/image/kallsyms.h"
#include "kprotperf/exact.h"
#include "profile/profile.h"

/* A place at which control may go on after a piece. */
struct exact_way {
	uint64_t target; /* address; 0: none is known */
	bool falls; /* to what lies behind it */
};

struct exact_code {
	struct profile_blocks list; /* the pieces, in the emulator's order */
	vec_of(struct exact_way, ways); /* of each */
	uint32_t number; /* 1 + that of the list in the profile; 0: nothing is counted yet */
};

/* Piece number LOCAL of the function SYM, whose number in P is SITE: BYTES and INSNS at ADDR. No number is there twice. */
void exact_code_add(struct exact_code *c, struct profile *p, const struct kernel_kallsyms *ks,
		    uint32_t local, const struct profile_block *piece, struct exact_way way);
/* Once all pieces are there: the counts of C, which is of SITE, in CONTEXT. Valid until the next. */
struct profile_block_counts *exact_code_counts(struct exact_code *c, struct profile *p,
					       uint32_t site, uint32_t context);
void exact_code_deinit(struct exact_code *c);

/* ---- names in a profile of the contexts that the emulator tells ---- */

struct exact_context {
	enum exact_kind kind;
	bool command; /* of the tasks of the command */
	uint32_t function; /* of a syscall: the function that serves it */
	uint32_t profile; /* its index there */
	uint64_t instructions;
	vec_of(uint32_t, entered_by); /* the functions that are called first in it */
};

/* The function that a syscall at SYM is of: one without arguments is the same code for programs of 32 and of 64 bits. */
const char *exact_context_function(const struct kernel_kallsyms *ks, const struct kernel_sym *sym);
/* FUNCTION is the name of the syscall's or the kernel thread's, else NULL. BY: who queued it; NULL: nobody. */
void exact_context_init(struct exact_context *c, struct profile *p, enum exact_kind kind,
			bool command, const char *function, const struct exact_context *by);
void exact_context_entered_by(struct exact_context *c, uint32_t function);
/* Are calls of FUNCTION entries to C, whose times C's row is to have? */
bool exact_context_is_entered_by(const struct exact_context *c, uint32_t function);

/* ---- one call that was kept whole ---- */

struct exact_trace_list {
	vec_of(struct exact_trace_item, items);
};

struct exact_trace {
	struct exact_trace_list open; /* the calls that have not ended, outermost first */
	uint64_t lost;
};

/* INSNS instructions at LOCATION, in a call of the function at FUNCTION that is DEPTH calls below the one that is kept. */
void exact_trace_step(struct exact_trace *t, uint32_t depth, uint32_t function, uint32_t location,
		      uint32_t insns);
/* Puts it into run 0 of P and frees what T holds; without a step does nothing. */
void exact_trace_finish(struct exact_trace *t, struct profile *p);
