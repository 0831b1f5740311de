/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Costs of probes: user space measures and BPF programs subtract them. Files that include this define __u32 and __u64. */
#pragma once

/* Mechanisms that time the calls of a function (site); src/profile/names.h has their names. Data files contain these numbers. */
enum profile_mechanism {
	PROFILE_UNTIMED, /* not timed */
	PROFILE_MECH_TRACEPOINT, /* tracepoints sys_enter and sys_exit */
	PROFILE_MECH_FENTRY, /* BPF fentry and fexit */
	PROFILE_MECH_KPROBE, /* kprobe/kretprobe on an ftrace location */
	PROFILE_MECH_MULTI, /* kprobe.multi/kretprobe.multi */
	PROFILE_MECH_KPROBE_OPTIMIZED, /* kprobe/kretprobe that the kernel jumps to */
	PROFILE_MECH_KPROBE_INT3, /* kprobe/kretprobe that the kernel enters by a breakpoint */
	PROFILE_MECH_RANGE, /* kprobes inside a function, entered by jumps or breakpoints */
	/* Costs that belong to no site: */
	PROFILE_COSTS_BLOCK, /* a probe that counts a basic block */
	PROFILE_COSTS_SAMPLE, /* the sampler's interrupt */
	PROFILE_COSTS_FAULT, /* page faults, timed by FENTRY or KPROBE */
	/* Recording the values of a call timed by FENTRY. AFTER_HANDLERS, which may be negative, is added to FENTRY's FULL. */
	PROFILE_COSTS_CAPTURE,
	PROFILE_COSTS_CAPTURE_KPROBE, /* like CAPTURE, for calls timed by all KPROBE mechanisms */
};

#define PROFILE_N_MECHANISMS (PROFILE_MECH_RANGE + 1) /* mechanisms that time sites */
#define PROFILE_N_COSTS      (PROFILE_COSTS_CAPTURE_KPROBE + 1)

/* Costs in ticks; 0: none, or not measured. The BPF programs read only the members up to PENDING. */
struct engine_cost {
	__u64 inner; /* between a call's two clock readings: part of the site's own time */
	__u64 full; /* whole cost of a probed call: part of the callers' time */
	__u64 nested; /* extra cost of ending a call that has timed callees */
	/*
	 * A probed function that ends in a jump to another probed function shares the return trampoline. TRAMPOLINE: cost of the
	 * way to the trampoline and back, only once for both. AFTER_HANDLERS: the kernel's work per return, after all handlers.
	 */
	__u64 trampoline, after_handlers;
	/* The sampler's latency: time from its timer's expiry to the start of its program. FULL: cost of the whole interrupt. */
	__u64 latency;
	__u64 pending; /* the sampler's longest latency while interrupts are on */
	/* Parts of INNER and FULL for ENGINE_COST_ARGS additional arguments, which fentry copies. */
	__u64 inner_args, full_args;
	__u64 inner_spread, full_spread; /* median absolute deviations of INNER and FULL */
	/*
	 * For a clock in ns; 0: unknown. CLOSING: time of a program after it has read the clock at the end of a call.
	 * COLD_: values of CLOSING, INNER and FULL if the caches have lost the probe's code and data.
	 */
	__u64 closing, cold_closing, cold_inner, cold_full;
	__u32 known;
};

#define ENGINE_COST_ARGS 5

/* Ways in which the kernel executes a probe inside a function. */
enum engine_range_kind {
	ENGINE_RANGE_OPTIMIZED, /* a jump to the probe, and a jump back after the replaced code */
	ENGINE_RANGE_STEPPED, /* a breakpoint; the kernel then runs a copy of the instruction */
	ENGINE_RANGE_EMULATED, /* a breakpoint; the kernel then emulates the instruction */
	ENGINE_RANGE_CALL_EMULATED, /* like EMULATED, for calls, sti and cli */
	ENGINE_RANGE_JUMP_EMULATED, /* like EMULATED, for unconditional jumps and returns */
	ENGINE_RANGE_PREPARED, /* like STEPPED, but the kernel has prepared an unused jump */
	ENGINE_RANGE_KINDS = 8, /* array size: a power of two */
};

/* Cost of a hit of a probe inside a function, in ticks. The _head part is before the program reads the clock. */
struct engine_range_cost {
	__u64 open, open_head; /* hits that open a frame */
	__u64 close, close_head; /* hits that close a frame */
	__u64 idle_enter, idle_leave; /* hits without effect: a frame is already open, or closed */
	__u64 list, list_head; /* hits with several actions, without the actions' time */
	__u64 per_frame; /* cost per open frame that the search passes */
};
