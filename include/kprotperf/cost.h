/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The costs of probes: one struct per mechanism, shared by the BPF programs, which subtract it, and user
 * space, which measures it. The includer brings __u32 and __u64.
 */
#pragma once

/* The mechanisms that time calls of a site; see src/profile/names.h. Data files contain these numbers. */
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
	/* Capturing values of a call by FENTRY: AFTER_HANDLERS is added to FENTRY's FULL, in two's complement. */
	PROFILE_COSTS_CAPTURE,
	PROFILE_COSTS_CAPTURE_KPROBE, /* the same by KPROBE, however it is reached */
};

#define PROFILE_N_MECHANISMS (PROFILE_MECH_RANGE + 1) /* mechanisms that sites have */
#define PROFILE_N_COSTS      (PROFILE_COSTS_CAPTURE_KPROBE + 1)

/* Costs in ticks; 0: none, or not measured. The BPF programs read the fields up to PENDING. */
struct engine_cost {
	__u64 inner; /* the part between the probes' clock readings, which a site's own time includes */
	__u64 full; /* all of a probed call's cost, which its callers' time includes */
	__u64 nested; /* extra for closing a call in which others were timed */
	/*
	 * A probed function that ends in a jump to another shares its return trampoline. TRAMPOLINE is the way there and back,
	 * which the second then saves; AFTER_HANDLERS is the work for each return after the handlers of all.
	 */
	__u64 trampoline, after_handlers;
	/* The sampler (FULL: its interrupt): time from the timer's expiry to the start of the program. */
	__u64 latency;
	__u64 pending; /* sampler: later than this after expiry, interrupts must have been off */
	/* fentry passes on each of a function's arguments at a cost: the cost of ENGINE_COST_ARGS additional ones. */
	__u64 inner_args, full_args;
	__u64 inner_spread, full_spread; /* median absolute deviations */
	/*
	 * Only on a real clock; 0: unknown. CLOSING is the time that a program takes after reading the clock at the end of a call.
	 * The others are CLOSING, INNER and FULL if the caches no longer hold the probe.
	 */
	__u64 closing, cold_closing, cold_inner, cold_full;
	__u32 known;
};

#define ENGINE_COST_ARGS 5

/* The way the kernel executes a probe inside a function. */
enum engine_range_kind {
	ENGINE_RANGE_OPTIMIZED, /* a jump to the probe, and another back to the code after the first one */
	ENGINE_RANGE_STEPPED, /* a breakpoint; the instruction is then executed out of line */
	ENGINE_RANGE_EMULATED, /* a breakpoint; the kernel then emulates the instruction */
	ENGINE_RANGE_CALL_EMULATED, /* EMULATED, for calls and for instructions that set the interrupt flag */
	ENGINE_RANGE_JUMP_EMULATED, /* EMULATED, for unconditional jumps and returns */
	ENGINE_RANGE_PREPARED, /* STEPPED, with one more step: the optimizer prepared the probe in vain */
	ENGINE_RANGE_KINDS = 8, /* array size: a power of two */
};

/* The cost of a hit of such a probe, in ticks. HEAD: the part before the program reads the clock. */
struct engine_range_cost {
	__u64 open, open_head; /* hits that open a frame */
	__u64 close, close_head; /* hits that close a frame */
	__u64 idle_enter, idle_leave; /* hits that enter an open frame, or leave without one */
	__u64 list, list_head; /* lists of actions, less the time between their clock readings */
	__u64 per_frame; /* added for each further open frame that is searched */
};
