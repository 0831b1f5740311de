/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Convert the stacks that BPF programs took to stacks of the profile. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "kprotperf/engine.h"
#include "profile/profile.h"
#include "record/collect/code.h"
#include "record/target/sites.h"

struct record_stacks {
	struct profile *p;
	const struct record_code *code;
	const struct record_sites *sites; /* functions of P, which come after P's site 0 */
	vec_of(uint64_t, probed); /* addresses of probed functions, ascending */
	bool on_return; /* some functions have a return probe whose stacks lack the function */
};

void record_stacks_init(struct record_stacks *s, struct profile *p, const struct record_code *code,
			const struct record_sites *sites);
void record_stacks_deinit(struct record_stacks *s);

/*
 * Add STACK to P, without frames of this recording's programs. Return the new stack's index in P. Set IN_PROBE if the sample was
 * taken in a probe of this recording, or in syscall entry code, whose time calibration counts as a cost of probes.
 */
uint32_t record_stack_add(struct record_stacks *s, const struct engine_stack *stack,
			  bool *in_probe);

/* ---- code of the kernel that only runs for probes ---- */

/*
 * Return whether SYMBOL is a function that only leads to probes and their programs: a trampoline or handler of ftrace, kprobes or
 * rethook, a breakpoint exception, or code that calls BPF from tracepoints.
 */
bool record_is_probe_code(const char *symbol);

/* Kinds of probe code. SYMBOL is the outermost function of the probe code in a stack. */
enum record_probe_code {
	RECORD_PROBE_FUNCTION, /* belongs to the function in the next outer frame */
	RECORD_PROBE_RETURN, /* hit a return to the function in the next outer frame */
	RECORD_PROBE_TRACEPOINT, /* a tracepoint with a program of this recording */
	RECORD_PROBE_FOREIGN, /* a tracepoint that only other tools use */
};
enum record_probe_code record_probe_code_kind(const char *symbol);

/*
 * Return whether SYMBOL is a function of the kernel's entry code around the syscall, which runs the syscall's tracepoints.
 * Calibration counts the time of this code as a cost of syscalls' probes. LEAF is true if SYMBOL is the innermost function on the
 * stack, and so has not called the syscall.
 */
bool record_is_entry_code(const char *symbol, bool leaf);
