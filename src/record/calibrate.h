/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the probes themselves cost, measured on the running kernel before the workload starts.
 *
 * INNER is the part of a site's own probes that lies between their two clock readings, and so within
 * the site's own time; FULL is all that a probed call costs more than an unprobed one, and so what
 * every enclosing call and context is charged with. The method is in docs/accounting.md.
 */
#ifndef KPROTPERF_RECORD_CALIBRATE_H
#define KPROTPERF_RECORD_CALIBRATE_H

#include <stdbool.h>
#include <stdint.h>

#include "profile/profile.h"
#include "record/engine.h"
#include "record/function.h"
#include "record/range_cost.h"
#include "record/trip.h"

struct record_cost {
	bool known;
	uint64_t inner, full; /* medians, in ticks; full 0: not measured */
	uint64_t half; /* what a return probe alone costs, with --max-overhead */
	uint64_t inner_spread, full_spread; /* median absolute deviations */
	uint64_t nested; /* what it takes more to close a call in which others were timed */
	struct record_trip
		trip; /* what it takes less where the call returns in one with its caller */
	/* fentry passes on a function's arguments, each at a cost: that of RECORD_COST_ARGS more than one */
	uint64_t inner_args, full_args;
};

#define RECORD_COST_ARGS 5

/* What the probes of a function with so many arguments cost. */
uint64_t record_cost_inner(const struct record_cost *cost, uint32_t n_args);
uint64_t record_cost_full(const struct record_cost *cost, uint32_t n_args);

struct record_calibration {
	struct record_cost cost[PROFILE_N_MECHANISMS]; /* by enum profile_mechanism */
	uint64_t unprobed_syscall;
	struct record_trip trip;
	struct record_range_costs ranges;
	double interrupts; /* share of the time that goes into interrupts */
	bool halves; /* wanted: what return probes alone cost */
	bool sampler_known;
	uint64_t sample_latency; /* from the timer's expiry to the sampler's program */
	uint64_t sample_full; /* the interrupt around that program, which times itself */
	uint64_t sample_spread; /* how far off that readings of it are: a median */
};

/* Those of handle_mm_fault(). */
#define RECORD_FAULT_ARGS 4

/* The kernel's bpf_fentry_test1() and so on, of as many arguments each as its number says. */
#define RECORD_N_TESTS 6

/*
 * Functions of the kernel that do next to nothing: when a fentry program of the first of TESTS is run,
 * OUTER calls each of them once. Zero: the kernel has none.
 */
struct record_empty {
	struct record_target tests[RECORD_N_TESTS], outer;
};

/* Of the engine's spare sites, those from this one on are for others: record/range_cost.h. */
#define RECORD_SPARE_RANGES 12

/* A program that calls these functions once each when it is run; the descriptor, or -errno. */
int record_calibrate_runner(const struct record_empty *empty);

/* To be called before any probe is there; clears *OUT. */
void record_calibrate_before(struct record_calibration *out);

/*
 * Measures the mechanisms of the sites of P and of page faults, and tells the engine, which must
 * have been started and not armed. Where the kernel lacks what it takes, costs stay unknown, which
 * is noted for the user; never an error. What is known already is kept, so that a mechanism that turns
 * out to be needed can be added. Not kprobe.multi.
 */
void record_calibrate(struct record_engine *e, const struct profile *p,
		      const struct record_empty *empty, struct record_calibration *out);

/* Functions that no ftrace location is on: one that the kernel's optimizer takes, and one that it does not. */
enum record_detour {
	RECORD_DETOUR_OPTIMIZED,
	RECORD_DETOUR_INT3,
	RECORD_N_DETOURS
};

const char *record_detour_name(enum record_detour which);

/*
 * The same for kprobes that are on no ftrace location: PROFILE_MECH_KPROBE_OPTIMIZED and _INT3. ADDRS are
 * those of the functions above, 0 where there is none. Waits until the optimizer has been to the first, and
 * so to all kprobes enabled before; false if it was not seen there. Costs that could not be measured
 * stay unknown; nothing is said about it.
 */
bool record_calibrate_detours(struct record_engine *e, const struct profile *p,
			      const uint64_t *addrs, struct record_calibration *out);

/*
 * Measures the sampler and tells the engine, which must have been armed. Takes 20 periods of the
 * sampler. Costs stay unknown where no sample comes.
 */
void record_calibrate_sampler(struct record_engine *e, uint64_t period,
			      struct record_calibration *out);

/*
 * Attaches the N sites of ITEMS by kprobe.multi, and measures it by the empty functions, which are
 * attached with them: ITEMS must have room for RECORD_MULTI_MORE more. What a function costs depends on
 * what else is attached, so that this is to come last.
 */
#define RECORD_MULTI_MORE (RECORD_N_TESTS + 1)
void record_calibrate_multi(struct record_engine *e, const struct profile *p,
			    const struct record_empty *empty, struct record_multi_site *items,
			    uint32_t n, struct record_calibration *out);

/* The costs as environment of P, for whoever reads the file. */
void record_calibration_store(const struct record_calibration *c, struct profile *p);

#endif
