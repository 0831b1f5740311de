/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Code of the kernel that runs for probes alone. */
#pragma once

#include <stdbool.h>

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
