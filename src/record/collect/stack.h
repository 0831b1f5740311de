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
	const struct record_sites *sites; /* the functions of P, without site 0 (the context) */
	vec_of(uint64_t, probed); /* addresses of probed functions, ascending */
	bool on_return; /* some functions have a return probe by kprobe or kprobe.multi */
};

void record_stacks_init(struct record_stacks *s, struct profile *p, const struct record_code *code,
			const struct record_sites *sites);
void record_stacks_deinit(struct record_stacks *s);

/*
 * Add STACK, without code of this recording's programs, to P, and return its index. Set IN_PROBE if the sample was taken in a
 * probe of this recording, or in syscall entry code, which calibration counts as cost of probes.
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
	RECORD_PROBE_FUNCTION, /* a probe on the function of the next outer frame */
	RECORD_PROBE_RETURN, /* a probe on a return to the function of the next outer frame */
	RECORD_PROBE_TRACEPOINT, /* a tracepoint that recordings use */
	RECORD_PROBE_FOREIGN, /* a tracepoint that recordings do not use */
};
enum record_probe_code record_probe_code_kind(const char *symbol);

/*
 * Return whether SYMBOL is a function of the kernel's entry code around the syscall, which runs the syscall's tracepoints.
 * Calibration counts its time as a cost of syscalls' probes. LEAF: SYMBOL is the innermost function on the stack, so that it has
 * not called the syscall.
 */
bool record_is_entry_code(const char *symbol, bool leaf);
