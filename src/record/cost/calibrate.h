/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The cost of the probes themselves, measured on the running kernel before the workload starts.
 *
 * INNER is the part of a site's own probes that lies between their two clock readings, and so within
 * the site's own time; FULL is all that a probed call costs more than an unprobed one, and so what
 * every enclosing call and context is charged with. The method is in docs/accounting.md.
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
	struct engine_cost cost[PROFILE_N_COSTS]; /* by enum profile_mechanism */
	struct record_series unprobed; /* times of syscalls, before any probe is there */
	struct record_series unprobed_cold; /* behind a walk, on a real clock: the same */
	struct record_walk walk; /* until syscalls are calibrated */
	struct engine_cost returns; /* of all that return through the kernel's trampoline */
	struct record_range_costs ranges;
	uint64_t place_spread; /* of a kprobe's full cost, by its place in the kernel's table */
	int run; /* on a real clock, where there is one: record_calibrate_runner()'s descriptor; -1 */
	uint64_t step; /* the least step of the clock, on a real clock; else 0 */
	bool repeats; /* on a real clock, where syscalls are known: all is measured once more in the end */
	struct record_series time_again, inner_again; /* of syscalls, then */
	/* Then by the spare sites of functions; 0: there are none. */
	uint64_t read_again[PROFILE_N_COSTS];
	struct record_drift {
		uint64_t before, after; /* full costs around the runs; 0: they agree */
	} drift[PROFILE_N_COSTS];
	/* Probes of these were attached to a function that was then called, and did not run. */
	bool is_silent[PROFILE_N_MECHANISMS];
	double interrupts; /* share of the time that goes into interrupts */
	bool captures; /* measure the cost of captured values */
	bool saves; /* measure the cost of values captured by kprobes */
	const struct record_event *
		counters; /* that are counted, of which fentry's and syscalls' probes have a part */
	uint32_t n_counters;
	/* Costs of these two mechanisms by event, and INNER after the runs, until it is measured as before. */
	struct engine_cost counted[PROFILE_N_MECHANISMS][ENGINE_COUNTERS];
	uint64_t counted_again[PROFILE_N_MECHANISMS][ENGINE_COUNTERS];
};

/* The kernel's bpf_fentry_test1() and so on, of as many arguments each as its number says. */
#define RECORD_N_TESTS 6

/*
 * Functions of the kernel that do next to nothing: when a fentry program of the first of TESTS is run,
 * OUTER calls each of them once. Zero: the kernel has none.
 */
struct record_empty {
	struct record_target tests[RECORD_N_TESTS], outer;
};

/*
 * The instructions of each test: the nop at the entry, the calculation, and the return, which the kernel writes over the
 * jump to its thunk if it needs none. On a real clock they take a nanosecond.
 */
extern const uint64_t record_empty_insns[RECORD_N_TESTS];

/* The first of the engine's spare sites that range_cost.c uses. */
#define RECORD_SPARE_RANGES 14

/* A program that calls these functions once each when it is run; the descriptor, or -errno. */
int record_calibrate_runner(struct record_engine *e, const struct record_empty *empty);

/* To be called before any probe is there; clears *OUT. */
void record_calibrate_before(struct record_calibration *out, enum profile_clock clock);

/*
 * On a real clock, where nothing stands still: measures probes once more, behind the last run and before they are
 * taken away, and then syscalls behind that. The difference to the first calibration is an estimate of its error. COLD
 * is the mean cost of syscalls' probes in all runs, which becomes their cost on any clock. Warns if the two disagree.
 */
void record_calibrate_again(struct record_engine *e, struct record_calibration *out);
void record_calibrate_after(struct record_calibration *out, const struct record_cold_costs *cold);

/*
 * Measures the mechanisms of the sites of P and of page faults, and tells the engine, which must
 * have been started and not armed. Where the kernel lacks what it takes, costs stay unknown, which
 * is noted for the user; never an error. Known costs are kept, so that a mechanism that turns
 * out to be needed can be added. Not kprobe.multi.
 */
void record_calibrate(struct record_probes *probes, const struct profile *p,
		      const struct record_empty *empty, struct record_calibration *out);

/*
 * Calibration had the kernel's hash table of kprobes for its own ones alone. Adds to the costs in OUT what N kprobes in that table
 * add to each hit on average, and to their spreads that of a single probe's place. For the lab's clock, which tells.
 */
void record_calibration_add_kprobes(struct record_probes *probes, uint32_t n,
				    struct record_calibration *out);

/*
 * A mechanism of functions without an ftrace location, and the function on which it is measured: the kernel's optimizer takes the
 * first, and leaves the second alone.
 */
struct record_untraced {
	enum profile_mechanism mech;
	const char *function;
};
#define RECORD_N_UNTRACED 2
extern const struct record_untraced record_untraced[RECORD_N_UNTRACED];

/*
 * The same for these mechanisms. ADDRS are the addresses of their functions, 0 where there is none. Waits until the optimizer has been to the first, and so to all kprobes
 * enabled before; false if it was not seen there. Costs that could not be measured stay unknown;
 * nothing is said about it.
 */
bool record_calibrate_kprobes(struct record_probes *probes, const struct profile *p,
			      const uint64_t addrs[RECORD_N_UNTRACED],
			      struct record_calibration *out);

/*
 * Measures the sampler and tells the engine, which must have been armed. Takes 20 of P's periods of the
 * sampler. Costs stay unknown where no sample comes.
 */
void record_calibrate_sampler(struct record_engine *e, const struct profile *p,
			      struct record_calibration *out);

/*
 * Attaches the N sites of ITEMS by kprobe.multi, and measures it by the empty functions, which are
 * attached with them: ITEMS must have room for RECORD_MULTI_MORE more. The cost depends on all that is
 * attached, so this comes last.
 */
#define RECORD_MULTI_MORE (RECORD_N_TESTS + 1)
void record_calibrate_multi(struct record_probes *probes, const struct profile *p,
			    const struct record_empty *empty, struct record_target *items,
			    uint32_t n, struct record_calibration *out);

/*
 * Measures, and tells the engine, which must have been started and not armed. -errno where the kernel's
 * test function is not as it takes: then nothing is subtracted. INTERRUPTS is the share of the time
 * that they take.
 */
int record_calibrate_ranges(struct record_probes *probes, enum profile_clock clock,
			    const struct record_empty *empty, double interrupts,
			    struct record_range_costs *out);

/*
 * Calibrate emulated jumps and probes that count blocks, for which the first calibration has no place. PROBE is a free block
 * probe; RECORD_NO_PROBE: there is none.
 */
#define RECORD_NO_PROBE UINT32_MAX
int record_calibrate_blocks(struct record_probes *probes, enum profile_clock clock,
			    const struct record_empty *empty, double interrupts, uint32_t probe,
			    struct record_range_costs *out);

/* The costs into P, for whoever reads the file. */
void record_calibration_store(const struct record_calibration *c, struct profile *p);
