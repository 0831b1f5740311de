/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Stacks as the programs took them, turned into the profile's. */
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
	const struct record_sites *sites; /* after the context, P's first */
	vec_of(uint64_t, probed); /* functions with probes, their addresses ascending */
	bool on_return; /* some are probed at the return by the kernel's return trampolines */
};

void record_stacks_init(struct record_stacks *s, struct profile *p, const struct record_code *code,
			const struct record_sites *sites);
void record_stacks_deinit(struct record_stacks *s);

/*
 * The stack of P that STACK is, without this recording's own code. IN_PROBE: its sample was taken in a probe of this
 * recording, or in the code around a system call that calibration takes for one.
 */
uint32_t record_stack_add(struct record_stacks *s, const struct engine_stack *stack,
			  bool *in_probe);

/* ---- code of the kernel that runs for probes alone ---- */

/*
 * Is SYMBOL a function that only leads to probes and their programs: ftrace's, kprobes' and rethook's
 * trampolines and handlers, the tracepoints' way into BPF? Breakpoint exceptions are among them.
 */
bool record_is_probe_code(const char *symbol);

/* The ways into that code, by SYMBOL, its outermost function. */
enum record_probe_code {
	RECORD_PROBE_FUNCTION, /* a probe on the function below it on the stack */
	RECORD_PROBE_RETURN, /* one on a return, to the function below it */
	RECORD_PROBE_TRACEPOINT, /* a tracepoint that recordings use */
	RECORD_PROBE_FOREIGN, /* another one */
};
enum record_probe_code record_probe_code_kind(const char *symbol);

/*
 * Is SYMBOL a function of the kernel's entry that has the syscall's tracepoints within it: of a syscall
 * it is outside, and the calibration takes it off as its probes' cost? LEAF: is it by itself, where
 * what it calls may be the syscall?
 */
bool record_is_entry_code(const char *symbol, bool leaf);
