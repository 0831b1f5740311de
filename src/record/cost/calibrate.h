/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Calibration: measuring the cost of probes on the running kernel before the workload starts.
 *
 * INNER is the part of the cost of a site's probes that lies between their two clock readings, and so in
 * the site's own time. FULL is the extra time of a probed call over an unprobed one; it is in the time of
 * every enclosing call and context. docs/accounting.md has the method.
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
	struct record_series unprobed; /* times of syscalls without any probe */
	struct record_series unprobed_cold; /* real clock: times after a walk over memory */
	struct record_walk walk; /* freed when syscalls have been calibrated */
	struct engine_cost returns; /* trampoline costs, for kprobes and kprobe.multi */
	struct record_range_costs ranges;
	uint64_t place_spread; /* spread of a kprobe's full cost by its place in the hash table */
	int run; /* real clock: record_calibrate_runner()'s program; -1: none */
	uint64_t step; /* real clock: its least step in ns; else 0 */
	bool repeats; /* real clock: measure once more after the runs */
	struct record_series time_again, inner_again; /* syscalls, measured after the runs */
	/* Readings of the spare sites of functions after the runs, indexed by mechanism; 0: none. */
	uint64_t read_again[PROFILE_N_COSTS];
	struct record_drift {
		uint64_t before, after; /* full costs before and after the runs; 0: they agree */
	} drift[PROFILE_N_COSTS];
	/* Indexed by mechanism: its probes were attached, but did not run when the function was called. */
	bool is_silent[PROFILE_N_MECHANISMS];
	double interrupts; /* share of the time that goes into interrupts */
	bool captures; /* measure the cost of captured values */
	bool saves; /* measure the cost of values captured by kprobes */
	/* The events that are counted. */
	const struct record_event *counters;
	uint32_t n_counters;
	/* Events that probes of fentry and of syscalls cause, indexed by event; and their INNER measured after the runs. */
	struct engine_cost counted[PROFILE_N_MECHANISMS][ENGINE_COUNTERS];
	uint64_t counted_again[PROFILE_N_MECHANISMS][ENGINE_COUNTERS];
};

/* The kernel has bpf_fentry_test1() to bpf_fentry_test6(), with one to six arguments. */
#define RECORD_N_TESTS 6

/*
 * Kernel functions that do next to nothing. BPF_PROG_TEST_RUN of a fentry program on tests[0] makes OUTER call
 * each of TESTS once. A function that the kernel does not have is zero.
 */
struct record_empty {
	struct record_target tests[RECORD_N_TESTS], outer;
};

/*
 * The number of instructions of each test: the nop at the entry, the calculation, and the return. (If the kernel needs no
 * return thunk, it has replaced the jump to it by a return.) On a real clock they take a nanosecond.
 */
extern const uint64_t record_empty_insns[RECORD_N_TESTS];

/* The first of the engine's spare sites that range_cost.c uses. */
#define RECORD_SPARE_RANGES 14

/* Load a program whose test run calls each empty function once. Return the descriptor or -errno. */
int record_calibrate_runner(struct record_engine *e, const struct record_empty *empty);

/* Initialize OUT, and time syscalls without probes. Call this before any probe is attached. */
void record_calibrate_before(struct record_calibration *out, enum profile_clock clock);

/*
 * Measure probes again after the runs on a real clock, as machines change. Call record_calibrate_again() before the probes are
 * detached, and record_calibrate_after(), which times unprobed syscalls, afterwards. The difference from the first calibration
 * estimates the error of that; warn if the two disagree. On any clock, the mean of COLD, the cost of syscalls' probes in all runs,
 * becomes their cost.
 */
void record_calibrate_again(struct record_engine *e, struct record_calibration *out);
void record_calibrate_after(struct record_calibration *out, const struct record_cold_costs *cold);

/*
 * Measure the mechanisms of P's sites and of page faults, except kprobe.multi, and set the engine's costs. The engine must have
 * been started and not armed. If the kernel lacks what calibration needs, costs stay unknown, with a note to the user; that is
 * no error. Known costs are kept: call this again for a mechanism that turns out to be needed.
 */
void record_calibrate(struct record_probes *probes, const struct profile *p,
		      const struct record_empty *empty, struct record_calibration *out);

/*
 * Correct the costs in OUT for N kprobes in the kernel's hash table, which was nearly empty during calibration. Each hit costs more
 * on average, and the cost spreads by the probe's place in the table. Only the lab's clock is fine enough for this.
 */
void record_calibration_add_kprobes(struct record_probes *probes, uint32_t n,
				    struct record_calibration *out);

/*
 * A mechanism for functions without an ftrace location, and the function on which it is measured. The kernel's optimizer replaces
 * the probe on the first function by a jump. It does not replace the probe on the second function.
 */
struct record_untraced {
	enum profile_mechanism mech;
	const char *function;
};
#define RECORD_N_UNTRACED 2
extern const struct record_untraced record_untraced[RECORD_N_UNTRACED];

/*
 * Measure the mechanisms of record_untraced[]. ADDRS has the addresses of their functions; 0: none. Wait until the optimizer has
 * replaced the probe on the first function: it has then handled all kprobes enabled before. Return false if it has not replaced
 * that probe. Costs that cannot be measured stay unknown, without a message.
 */
bool record_calibrate_kprobes(struct record_probes *probes, const struct profile *p,
			      const uint64_t addrs[RECORD_N_UNTRACED],
			      struct record_calibration *out);

/*
 * Measure the sampler, and set the engine's costs. The engine must have been armed. This takes up to 20 sampling
 * periods. The cost stays unknown if no sample comes.
 */
void record_calibrate_sampler(struct record_engine *e, const struct profile *p,
			      struct record_calibration *out);

/*
 * Attach the N sites of ITEMS by kprobe.multi, and measure its cost on the empty functions, which are attached with them: ITEMS
 * must have room for RECORD_MULTI_MORE more. The cost depends on all attached functions, so call this last.
 */
#define RECORD_MULTI_MORE (RECORD_N_TESTS + 1)
void record_calibrate_multi(struct record_probes *probes, const struct profile *p,
			    const struct record_empty *empty, struct record_target *items,
			    uint32_t n, struct record_calibration *out);

/*
 * Measure probes inside functions, and set the engine's costs. The engine must have been started and not
 * armed. Return -errno if the kernel's test function is not as expected: then nothing is subtracted.
 * INTERRUPTS is the share of the time that interrupts take.
 */
int record_calibrate_ranges(struct record_probes *probes, enum profile_clock clock,
			    const struct record_empty *empty, double interrupts,
			    struct record_range_costs *out);

/*
 * Calibrate further kinds of probe, such as emulated jumps and block probes. Do this after record_calibrate_ranges(): the test
 * function has too few instructions to measure all at once. PROBE is a free block probe; RECORD_NO_PROBE: there is none.
 */
#define RECORD_NO_PROBE UINT32_MAX
int record_calibrate_blocks(struct record_probes *probes, enum profile_clock clock,
			    const struct record_empty *empty, double interrupts, uint32_t probe,
			    struct record_range_costs *out);

/* Store the costs in P. */
void record_calibration_store(const struct record_calibration *c, struct profile *p);
