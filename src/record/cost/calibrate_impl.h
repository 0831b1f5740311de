/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions that calibrate.c and the other files calibrate_*.c share. Each file calibrates one kind of probe. */
#pragma once

#include "record/cost/calibrate.h"
#include "record/cost/measure.h"

#define EMPTY_NS 1 /* ns that an empty function takes on a real clock */

/* Numbers of the functions that calibration itself probes: arguments of record_engine_spare(). */
enum {
	SPARE_FENTRY,
	SPARE_OUTER,
	SPARE_KPROBE,
	SPARE_OPTIMIZED,
	SPARE_INT3,
	SPARE_CAPTURE,
	SPARE_CAPTURE_KPROBE,
	SPARE_MULTI /* the first of RECORD_N_TESTS numbers */
};

struct calibrator {
	struct record_probes *probes;
	struct record_engine *e; /* the engine of PROBES */
	const struct profile *p;
	int run; /* descriptor of a fentry program; running it calls each empty function once */
	struct record_call empty_call; /* has the BPF program RUN executed */
	const struct record_empty *empty;
	struct record_calibration *out;
	struct record_series base; /* times of EMPTY_CALL with the probes attached so far */
	uint32_t n_left; /* number of functions with probes to detach */
};

/* Return the ticks that an empty function of INSNS instructions takes. */
static inline uint64_t empty_ticks(const struct calibrator *c, uint64_t insns)
{
	return c->p->clock == PROFILE_CLOCK_INSN ? insns : EMPTY_NS;
}

/* Set OUTER to the times of CALL's system call. If SITE is not 0, set INNER to the times that the probes of SITE read. */
int record_calibrator_measure(struct calibrator *c, const struct record_call *call, uint32_t site,
			      struct record_series *outer, struct record_series *inner);

/*
 * Measure the probes of SPARE, which are attached to a function of INSNS instructions that CALL calls. BASE has the times of CALL
 * without these probes, and gets the times with the probes.
 */
int record_calibrator_solve(struct calibrator *c, const struct record_call *call, uint32_t spare,
			    struct record_series *base, uint64_t insns, struct engine_cost *cost);

/* Complete the cost of MECH: set the cost of the return trampoline, and increase the cost by the share of interrupts. */
void record_calibrator_finish(const struct calibrator *c, enum profile_mechanism mech);

/* Attach probes to TARGET, which gets the number SPARE. The probes stay attached. */
int record_calibrator_attach(struct calibrator *c, uint32_t spare, enum profile_mechanism mech,
			     const struct record_target *target);

/* Begin to calibrate: follow this process. Costs are provisional until record_calibrator_close(). P and EMPTY: see calibrate.h. */
int record_calibrator_open(struct calibrator *c, struct record_probes *probes,
			   const struct profile *p, const struct record_empty *empty,
			   struct record_calibration *out);
/* Set the engine's costs. A mechanism with unknown NESTED gets that of another: NESTED is the same for all. */
void record_calibrator_set_costs(struct record_engine *e, const struct engine_cost *costs);
void record_calibrator_close(struct calibrator *c);

/* Measure the cost of the tracepoints that time system calls. */
void record_calibrate_syscall(struct calibrator *c);

/* A system call that no kernel has. */
extern const struct record_call record_call_unused;

/*
 * Measure the events that probes cause themselves; if no events are counted, do nothing. record_calibrate_counters_before()
 * measures CALL without the probes, into BASE, indexed by event. record_calibrate_counters() measures CALL with the probes of MECH
 * on SITE, a function of INSNS instructions that CALL calls. If BASE is NULL, FULL becomes 0. Return 0 or -errno.
 */
int record_calibrate_counters_before(struct calibrator *c, const struct record_call *call,
				     struct record_series *base);
int record_calibrate_counters(struct calibrator *c, const struct record_call *call, uint32_t site,
			      enum profile_mechanism mech, uint64_t insns,
			      struct record_series *base);

/* On a real clock, measure the events that probes cause again after the runs, before the probes are detached. */
void record_calibrate_counters_again(struct record_engine *e, struct record_calibration *out);

/* Measure how many events are added to a task's counts when BPF programs pause and resume the counters at task switches. */
void record_calibrate_counters_pause(struct calibrator *c);

/* Set TIME to the times of a system call. If E is not NULL, set INNER to the times that probes read of an unused system call. */
void record_calibrate_read_syscalls(const struct record_engine *e, bool real_clock,
				    struct record_series *time, struct record_series *inner);

/* Number of instructions of an unused system call: a test of its number, and then an empty function. */
#define EMPTY_SYSCALL_INSNS 8

/* Detach calibration's probes in new threads. The caller must not be followed, or the threads would be followed, too. */
void record_calibrator_detach_spares(struct calibrator *c);

/* Measure, with TARGET, the part of the cost of capturing values that programs of MECH do not exclude. Return 0 or -errno. */
int record_calibrate_capture(struct calibrator *c, enum profile_mechanism mech,
			     const struct record_target *target);

void record_calibrator_note_unknown(const struct calibrator *c, enum profile_mechanism mech,
				    int err);
