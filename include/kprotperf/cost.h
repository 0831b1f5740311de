/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The costs of probes: one struct per mechanism. User space measures the costs, and the BPF programs subtract them. The includer
 * provides __u32 and __u64.
 */
#pragma once

/* Mechanisms that time the calls of a site; src/profile/names.h has their names. Data files contain these numbers. */
enum profile_mechanism {
	PROFILE_UNTIMED, /* no mechanism */
	PROFILE_MECH_TRACEPOINT, /* sys_enter/sys_exit */
	PROFILE_MECH_FENTRY, /* fentry/fexit */
	PROFILE_MECH_KPROBE, /* kprobe/kretprobe on an ftrace location */
	PROFILE_MECH_MULTI, /* kprobe.multi/kretprobe.multi */
	PROFILE_MECH_KPROBE_OPTIMIZED, /* kprobe/kretprobe reached by a jump */
	PROFILE_MECH_KPROBE_INT3, /* kprobe/kretprobe reached by a breakpoint */
	PROFILE_MECH_RANGE, /* kprobes inside a function, reached by jumps or breakpoints */
	/* Other costs, which belong to no site: */
	PROFILE_COSTS_BLOCK, /* a probe that counts a block */
	PROFILE_COSTS_SAMPLE, /* the sampler */
	PROFILE_COSTS_FAULT, /* page faults, by FENTRY or KPROBE */
	/* Capturing values of a call under FENTRY: AFTER_HANDLERS is added to FENTRY's FULL, in two's complement. */
	PROFILE_COSTS_CAPTURE,
	PROFILE_COSTS_CAPTURE_KPROBE, /* the same under all kinds of KPROBE */
};

#define PROFILE_N_MECHANISMS (PROFILE_MECH_RANGE + 1) /* mechanisms that sites have */
#define PROFILE_N_COSTS      (PROFILE_COSTS_CAPTURE_KPROBE + 1)

/* Costs in ticks; 0: none, or not measured. The BPF programs read the fields up to PENDING. */
struct engine_cost {
	__u64 inner; /* between the probes' two clock readings: part of the site's own time */
	__u64 full; /* all of a probed call's cost: part of the callers' time */
	__u64 nested; /* extra cost of closing a call with timed callees */
	/*
	 * A probed function that ends in a jump to another probed one shares its return trampoline. TRAMPOLINE: the way to the
	 * trampoline and back, which is taken once. AFTER_HANDLERS: the kernel's work per return after all handlers.
	 */
	__u64 trampoline, after_handlers;
	/* The sampler's latency: time from its timer's expiry to the start of its program. FULL is the whole interrupt. */
	__u64 latency;
	__u64 pending; /* sampler: if it starts later than this after the expiry, interrupts were off */
	/* fentry copies the function's arguments, which costs time: INNER and FULL of ENGINE_COST_ARGS additional arguments. */
	__u64 inner_args, full_args;
	__u64 inner_spread, full_spread; /* median absolute deviations of INNER and FULL */
	/*
	 * On a real clock only; 0: unknown. CLOSING: time that a program takes after it has read the clock at the end of a call.
	 * COLD_: CLOSING, INNER and FULL if the caches have lost the probe.
	 */
	__u64 closing, cold_closing, cold_inner, cold_full;
	__u32 known;
};

#define ENGINE_COST_ARGS 5

/* The way in which the kernel executes a probe inside a function. */
enum engine_range_kind {
	ENGINE_RANGE_OPTIMIZED, /* a jump to the probe; another jump continues after the replaced code */
	ENGINE_RANGE_STEPPED, /* a breakpoint; the kernel then executes a copy of the instruction */
	ENGINE_RANGE_EMULATED, /* a breakpoint; the kernel then emulates the instruction */
	ENGINE_RANGE_CALL_EMULATED, /* EMULATED, for calls and for instructions that set the interrupt flag */
	ENGINE_RANGE_JUMP_EMULATED, /* EMULATED, for unconditional jumps and returns */
	ENGINE_RANGE_PREPARED, /* STEPPED, with one more step: the optimizer prepared the probe, but could not optimize it */
	ENGINE_RANGE_KINDS = 8, /* array size: a power of two */
};

/* The cost of one hit of a probe inside a function, in ticks. HEAD: the part before the program reads the clock. */
struct engine_range_cost {
	__u64 open, open_head; /* hits that open a frame */
	__u64 close, close_head; /* hits that close a frame */
	__u64 idle_enter, idle_leave; /* hits at which the frame is already open, or closed */
	__u64 list, list_head; /* hits with a list, less the time between its readings */
	__u64 per_frame; /* cost per open frame that is passed in the search */
};
