/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The costs of probes: one struct per mechanism, shared by the BPF programs, which subtract it, and user
 * space, which measures it. The includer brings __u32 and __u64.
 */
#pragma once

/* The mechanism that times calls of a site: src/profile/mechanism.h. The numbers are those of data files. */
enum profile_mechanism {
	PROFILE_UNTIMED, /* no mechanism */
	PROFILE_MECH_TRACEPOINT, /* sys_enter/sys_exit */
	PROFILE_MECH_FENTRY, /* fentry/fexit */
	PROFILE_MECH_KPROBE, /* kprobe/kretprobe, on an ftrace location unless the next two say so */
	PROFILE_MECH_MULTI, /* kprobe.multi/kretprobe.multi */
	PROFILE_MECH_KPROBE_OPTIMIZED, /* the same as KPROBE, reached by a jump */
	PROFILE_MECH_KPROBE_INT3, /* by a breakpoint */
	PROFILE_MECH_RANGE, /* kprobes inside of a function, by either */
	/* Other costs, which belong to no site: */
	PROFILE_COSTS_BLOCK, /* a probe that counts a block */
	PROFILE_COSTS_SAMPLE, /* the sampler */
	PROFILE_COSTS_FAULT, /* page faults, by FENTRY or KPROBE */
	PROFILE_COSTS_CAPTURE, /* values of a call, by FENTRY: REST, which is added to its FULL, in two's complement */
	PROFILE_COSTS_CAPTURE_KPROBE, /* the same by KPROBE, however that is reached */
};

#define PROFILE_N_MECHANISMS (PROFILE_MECH_RANGE + 1) /* of sites */
#define PROFILE_N_COSTS      (PROFILE_COSTS_CAPTURE_KPROBE + 1)

/* In ticks; 0: nothing, or not measured. The BPF programs read those up to REST. */
struct engine_cost {
	__u64 inner; /* the part of its probes in a site's own time: between their clock readings */
	__u64 full; /* all that a probed call costs its callers */
	__u64 nested; /* extra for closing a call in which others were timed */
	/*
	 * A probed function that ends in a jump to another shares its return trampoline. TRAMPOLINE is the way there and back,
	 * which the second then saves; AFTER_HANDLERS is the work for each return after the handlers of all.
	 */
	__u64 trampoline, after_handlers;
	__u64 latency; /* of the sampler, whose interrupt is FULL: from the timer's expiry to its program */
	__u64 pending; /* after the sampler's timer has expired, until its interrupt has come if it can */
	/* fentry passes on a function's arguments, each at a cost: that of ENGINE_COST_ARGS more than one. */
	__u64 inner_args, full_args;
	__u64 inner_spread, full_spread; /* median absolute deviations */
	/* On a real clock: a cell's closings in calibration, and all three if caches have lost the probe. 0: unknown. */
	__u64 closing, cold_closing, cold_inner, cold_full;
	__u32 known;
};

#define ENGINE_COST_ARGS 5

/* The way the kernel executes a probe inside of a function. */
enum engine_range_kind {
	ENGINE_RANGE_OPTIMIZED, /* jumps to it, and back behind the instructions that the jump took */
	ENGINE_RANGE_STEPPED, /* a breakpoint, behind which the instruction is executed elsewhere */
	ENGINE_RANGE_EMULATED, /* a breakpoint, behind which the kernel does what the instruction would */
	ENGINE_RANGE_CALL_EMULATED, /* the same of a call, or of what turns interrupts on or off, */
	ENGINE_RANGE_JUMP_EMULATED, /* and of a jump without a condition, or a return */
	ENGINE_RANGE_PREPARED, /* as STEPPED, by way of what the optimizer prepared and then left alone */
	ENGINE_RANGE_KINDS = 8, /* a power of two */
};

/* The cost of a hit of such a probe, and the part of it in a frame that is opened or closed there. */
struct engine_range_cost {
	__u64 open, open_head; /* the rest of OPEN comes after the clock was read */
	__u64 close, close_head;
	__u64 idle_enter, idle_leave; /* where the frame was open, or was not */
	__u64 list, list_head; /* without what lies between its own two readings of the clock */
	__u64 per_frame; /* each further open frame looked at */
};
