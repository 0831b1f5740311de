/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared by calibrate.c and the files beside it, one per kind of mechanism. Not for others.
 */
#pragma once

#include "record/cost/calibrate.h"
#include "record/cost/measure.h"

#define EMPTY_NS 1 /* time of an empty function on a real clock */

/* The engine's spare sites. */
enum {
	SPARE_FENTRY,
	SPARE_OUTER,
	SPARE_KPROBE,
	SPARE_OPTIMIZED,
	SPARE_INT3,
	SPARE_CAPTURE,
	SPARE_CAPTURE_KPROBE,
	SPARE_MULTI /* the first of RECORD_N_TESTS */
};

/* ONCE calls a probed function once, in the context CTX. */
struct record_call {
	record_round_fn once;
	void *arg;
	uint32_t ctx;
};

struct calibrator {
	struct record_probes *probes;
	struct record_engine *e; /* the engine of PROBES */
	const struct profile *p;
	int run; /* an unattached fentry program: running it calls the empty functions once each */
	struct record_call empty_call; /* runs RUN */
	const struct record_empty *empty;
	struct record_calibration *out;
	struct record_series base; /* times of a run with the probes attached so far */
	uint32_t n_left; /* number of spare sites attached */
};

/* Return the ticks of a function of INSNS instructions. */
static inline uint64_t empty_ticks(const struct calibrator *c, uint64_t insns)
{
	return c->p->clock == PROFILE_CLOCK_INSN ? insns : EMPTY_NS;
}

/* Set OUTER to the time of CALL's context and, if SITE is not 0, INNER to the time of the function as SITE reads it. */
int record_calibrator_measure(struct calibrator *c, const struct record_call *call, uint32_t site,
			      struct record_series *outer, struct record_series *inner);

/*
 * Measure the probes of spare site SPARE, which are attached to a function that CALL calls and that takes INSNS
 * instructions. BASE has the times of CALL without these probes, and gets those with them.
 */
int record_calibrator_solve(struct calibrator *c, const struct record_call *call, uint32_t spare,
			    struct record_series *base, uint64_t insns, struct engine_cost *cost);

/* Complete the cost of MECH: add the trampoline's cost and the share of interrupts. */
void record_calibrator_finish(const struct calibrator *c, enum profile_mechanism mech);

/* Attach spare site SPARE to TARGET. It stays attached. */
int record_calibrator_attach(struct calibrator *c, uint32_t spare, enum profile_mechanism mech,
			     const struct record_target *target);

/* Open the calibrator: follow the caller, with provisional costs until it is closed. P and EMPTY: see calibrate.h. */
int record_calibrator_open(struct calibrator *c, struct record_probes *probes,
			   const struct profile *p, const struct record_empty *empty,
			   struct record_calibration *out);
/* Set the engine's costs. A mechanism without NESTED gets that of another one: it is time of the programs, equal for all. */
void record_calibrator_set_costs(struct record_engine *e, const struct engine_cost *costs);
void record_calibrator_close(struct calibrator *c);

/* Measure the cost of the tracepoints that time system calls. */
void record_calibrate_syscall(struct calibrator *c);

/* A system call that no kernel has. */
extern const struct record_call record_call_unused;

/*
 * Measure the events that probes cause; if no events are counted, do nothing. The first function measures CALL without the probes,
 * into BASE, indexed by event. The second one measures CALL with the probes of MECH on SITE, a function of INSNS instructions that
 * CALL calls. BASE is NULL if callers are not charged. Return 0 or -errno.
 */
int record_calibrate_counters_before(struct calibrator *c, const struct record_call *call,
				     struct record_series *base);
int record_calibrate_counters(struct calibrator *c, const struct record_call *call, uint32_t site,
			      enum profile_mechanism mech, uint64_t insns,
			      struct record_series *base);

/* Measure the events that probes cause again after the runs, on a real clock. The probes are still attached. */
void record_calibrate_counters_again(struct record_engine *e, struct record_calibration *out);

/* Measure the events that pausing and resuming the counters at task switches adds to the task's counts. */
void record_calibrate_counters_pause(struct calibrator *c);

/* Set TIME to times of a system call, and INNER to the site's readings of one that does nothing. E NULL: set only TIME. */
void record_calibrate_read_syscalls(const struct record_engine *e, bool real_clock,
				    struct record_series *time, struct record_series *inner);

/* The instructions of an unused system call: the test of its number and the empty function after it. */
#define EMPTY_SYSCALL_INSNS 8

/* Detach the spare sites in new threads. Call this while the caller is not followed: the new threads would be followed, too. */
void record_calibrator_detach_spares(struct calibrator *c);

/* Measure on TARGET the cost of MECH's capturing programs that these do not exclude. They stay attached. Return 0 or -errno. */
int record_calibrate_capture(struct calibrator *c, enum profile_mechanism mech,
			     const struct record_target *target);

void record_calibrator_note_unknown(const struct calibrator *c, enum profile_mechanism mech,
				    int err);
