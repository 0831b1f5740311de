/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Names in a profile of the contexts that the emulator tells. */
#pragma once

#include "base/alloc.h"
#include "kernel/image/kallsyms.h"
#include "kprotperf/exact.h"
#include "profile/profile.h"

struct exact_context {
	enum exact_kind kind;
	bool command; /* of the tasks of the command */
	uint32_t function; /* whose calls it is, of syscalls */
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
