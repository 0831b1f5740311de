/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calibration measures the cost of probes on the running kernel before the workload starts.
 *
 * INNER is the part of the probes' cost between the clock readings at a call's entry and return, and so in the function's own
 * time. FULL is the extra time of a probed call over an unprobed one, and is in the time of all calls around the probed call.
 * docs/accounting.md has the method.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "profile/profile.h"
#include "record/engine/engine.h"
#include "record/probe/probes.h"
#include "record/cost/cost.h"
#include "record/cost/range_cost.h"

struct record_calibration {
	struct engine_cost cost[PROFILE_N_COSTS]; /* indexed by enum profile_mechanism */
	struct record_series unprobed; /* times of syscalls before any probe was attached */
	struct record_series unprobed_cold; /* real clock: times of syscalls with cold caches */
	struct record_walk walk; /* memory to make caches cold, until syscalls are calibrated */
	struct engine_cost returns; /* cost of the return trampoline of kprobes and kprobe.multi */
	struct record_range_costs ranges;
	uint64_t place_spread; /* spread of FULL over a kprobe's positions in the hash table */
	int run; /* real clock: descriptor of the program of record_calibrate_runner(); -1: none */
	uint64_t step; /* least step of a real clock, in ns; 0: the clock is not real */
	bool repeats; /* real clock: the probes are to be measured again after the runs */
	struct record_series time_again, inner_again; /* readings of syscalls after the runs */
	/* Times that probes on empty functions read after the runs, indexed by mechanism; 0: not read. */
	uint64_t read_again[PROFILE_N_COSTS];
	struct record_drift {
		uint64_t before, after; /* FULL before and after the runs; 0: the two agree */
	} drift[PROFILE_N_COSTS];
	/* Indexed by mechanism. True: the mechanism's probes were attached, but did not run when a function was called. */
	bool is_silent[PROFILE_N_MECHANISMS];
	double interrupts; /* share of the time that interrupts take */
	bool captures; /* measure the cost of captured values */
	bool saves; /* measure the cost of values captured by kprobes */
	const struct record_event *counters;
	uint32_t n_counters;
	/* Number of events that each mechanism's probes cause; below, INNER of these numbers, measured after the runs. */
	struct engine_cost counted[PROFILE_N_MECHANISMS][ENGINE_COUNTERS];
	uint64_t counted_again[PROFILE_N_MECHANISMS][ENGINE_COUNTERS];
};

/* The kernel has the functions bpf_fentry_test1() to bpf_fentry_test6(), with one to six arguments. */
#define RECORD_N_TESTS 6

/*
 * Functions of the kernel that do next to nothing. BPF_PROG_TEST_RUN of a fentry program on tests[0] makes OUTER call each of
 * TESTS once. If the kernel lacks a function, all members of its struct are 0.
 */
#define RECORD_EMPTY_OUTER "bpf_prog_test_run_tracing"
struct record_empty {
	struct record_target tests[RECORD_N_TESTS], outer;
};

/*
 * The number of instructions of each empty function: the nop at the entry, a calculation, and the return (a single instruction if
 * the kernel needs no return thunk). On a real clock an empty function takes a nanosecond.
 */
extern const uint64_t record_empty_insns[RECORD_N_TESTS];

/* range_cost.c uses the engine's spare sites from this number on. */
#define RECORD_SPARE_RANGES 14

/* Load a BPF program whose test run calls each empty function once. Return the descriptor or -errno. */
int record_calibrate_runner(struct record_engine *e, const struct record_empty *empty);

/* Return whether MECH times a function of P. */
bool record_has_functions(const struct profile *p, enum profile_mechanism mech);

/* Initialize OUT, and time syscalls without probes. Call this before any probe is attached. */
void record_calibrate_before(struct record_calibration *out, enum profile_clock clock);

/*
 * On a real clock, measure probes again after the runs, since the machine may have changed. Call record_calibrate_again() before
 * detaching the probes, and record_calibrate_after(), which times unprobed syscalls, afterwards. The difference from the first
 * calibration estimates the error of the costs; a large difference gives a warning. On any clock, the mean cost in COLD, that of
 * syscalls' probes in the runs, becomes the cost of these probes.
 */
void record_calibrate_again(struct record_engine *e, struct record_calibration *out);
void record_calibrate_after(struct record_calibration *out, const struct record_cold_costs *cold);

/*
 * Measure the probes that P's functions and page faults use, except kprobe.multi, and set the engine's costs. Call this after
 * record_engine_start() and before record_engine_arm(). If the kernel lacks the functions that calibration needs, tell the user
 * that costs stay unknown. Known costs are kept, so call this again if another mechanism turns out to be needed.
 */
void record_calibrate(struct record_probes *probes, const struct profile *p,
		      const struct record_empty *empty, struct record_calibration *out);

/*
 * Correct the costs in OUT for N kprobes in the kernel's hash table, which was nearly empty during calibration: each hit costs
 * more on average, and the cost varies with the probe's position. Only a clock of instructions is fine enough for this.
 */
void record_calibration_add_kprobes(struct record_probes *probes, uint32_t n,
				    struct record_calibration *out);

/*
 * A kind of kprobe for functions without an ftrace location, and the function on which its cost is measured. The kernel's
 * optimizer replaces the probe on the first function by a jump, and keeps a breakpoint on the second function.
 */
struct record_untraced {
	enum profile_mechanism mech;
	const char *function;
};
#define RECORD_N_UNTRACED 2
extern const struct record_untraced record_untraced[RECORD_N_UNTRACED];

/*
 * Measure the mechanisms of record_untraced[] on their functions, which are at ADDRS; 0: the kernel lacks the function. Wait until
 * the optimizer has replaced the probe on the first function, and so has handled all kprobes enabled before. Return false if the
 * optimizer does not replace that probe. Costs that cannot be measured stay unknown, without a message.
 */
bool record_calibrate_kprobes(struct record_probes *probes, const struct profile *p,
			      const uint64_t addrs[RECORD_N_UNTRACED],
			      struct record_calibration *out);

/*
 * Measure the sampler's cost, and set the engine's costs. Call this after record_engine_arm(). It takes up to 20 sampling periods.
 * The cost stays unknown if no sample comes.
 */
void record_calibrate_sampler(struct record_engine *e, const struct profile *p,
			      struct record_calibration *out);

/*
 * Attach the N functions of ITEMS by kprobe.multi, together with the empty functions, on which the cost is measured. ITEMS must
 * have room for RECORD_MULTI_MORE more. The cost depends on all attached functions, so call this last.
 */
#define RECORD_MULTI_MORE (RECORD_N_TESTS + 1)
void record_calibrate_multi(struct record_probes *probes, const struct profile *p,
			    const struct record_empty *empty, struct record_target *items,
			    uint32_t n, struct record_calibration *out);

/*
 * Measure probes inside functions, and set the engine's costs. Call this after record_engine_start() and before
 * record_engine_arm(), while EMPTY's functions have no probes except those of calibration. N_BLOCKS is the number of block probes
 * of the recording. If the code of EMPTY's functions is not as expected, tell the user that costs are not subtracted.
 */
void record_calibrate_ranges(struct record_probes *probes, const struct profile *p,
			     const struct record_empty *empty, uint32_t n_blocks,
			     struct record_calibration *out);

void record_calibration_store(const struct record_calibration *c, struct profile *p);
