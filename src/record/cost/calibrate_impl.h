/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared by calibrate.c and the files beside it, one per kind of mechanism. Not for others.
 */
#pragma once

#include "record/cost/calibrate.h"
#include "record/cost/measure.h"

#define EMPTY_NS 1 /* what a function that does next to nothing takes on a real clock */

/* The engine's spare sites. */
enum {
	SPARE_FENTRY,
	SPARE_OUTER,
	SPARE_KPROBE,
	SPARE_OPTIMIZED,
	SPARE_INT3,
	SPARE_CAPTURE,
	SPARE_CAPTURE_KPROBE,
	SPARE_MULTI /* and one for each further test */
};

/* Calls a function that is probed once, in the context CTX. */
struct record_call {
	record_round_fn once;
	void *arg;
	uint32_t ctx;
};

struct calibrator {
	struct record_probes *probes;
	struct record_engine *e; /* theirs */
	const struct profile *p;
	int run; /* an unattached fentry program: running it calls the empty functions once each */
	struct record_call empty_call; /* does that */
	const struct record_empty *empty;
	struct record_calibration *out;
	struct record_series base; /* a run with all probes that are attached so far */
	uint32_t n_left; /* attached to spare sites */
};

/* Return the ticks of a function of INSNS instructions. */
static inline uint64_t empty_ticks(const struct calibrator *c, uint64_t insns)
{
	return c->p->clock == PROFILE_CLOCK_INSN ? insns : EMPTY_NS;
}

/*
 * OUTER becomes the time of the context that CALL is in, INNER that of the function as SITE saw it, if that is not 0.
 */
int record_calibrator_measure(struct calibrator *c, const struct record_call *call, uint32_t site,
			      struct record_series *outer, struct record_series *inner);

/*
 * Measures the probes of spare site SPARE, which are attached to a function that CALL calls and that takes INSNS
 * instructions. BASE is the same without them, and becomes that with them.
 */
int record_calibrator_solve(struct calibrator *c, const struct record_call *call, uint32_t spare,
			    struct record_series *base, uint64_t insns, struct engine_cost *cost);

/* Set what all costs of MECH have in common. */
void record_calibrator_finish(const struct calibrator *c, enum profile_mechanism mech);

/* Attaches SPARE to TARGET, and leaves it there. */
int record_calibrator_attach(struct calibrator *c, uint32_t spare, enum profile_mechanism mech,
			     const struct record_target *target);

/* Follows the caller, with costs that are provisional until the calibrator is closed. P and EMPTY: see calibrate.h. */
int record_calibrator_open(struct calibrator *c, struct record_probes *probes,
			   const struct profile *p, const struct record_empty *empty,
			   struct record_calibration *out);
/* Tell the engine these costs. Closing calls in which others were timed is the work of its programs, the same by all mechanisms. */
void record_calibrator_set_costs(struct record_engine *e, const struct engine_cost *costs);
void record_calibrator_close(struct calibrator *c);

/* System calls, which tracepoints time. */
void record_calibrate_syscall(struct calibrator *c);

/* A system call that no kernel has. */
extern const struct record_call record_call_unused;

/*
 * The same of what events count, if any are: first without probes, into BASE by event; then with those of MECH on SITE, which
 * CALL calls and which takes INSNS instructions. BASE is NULL where nobody is charged with them. 0 or -errno.
 */
int record_calibrate_counters_before(struct calibrator *c, const struct record_call *call,
				     struct record_series *base);
int record_calibrate_counters(struct calibrator *c, const struct record_call *call, uint32_t site,
			      enum profile_mechanism mech, uint64_t insns,
			      struct record_series *base);

/* And once more behind the runs, on a real clock, of what stays attached. */
void record_calibrate_counters_again(struct record_engine *e, struct record_calibration *out);

/* And what switches take, of which nobody else is charged with a part. */
void record_calibrate_counters_pause(struct calibrator *c);

/* Measure the time of system calls, and the reading of their site for one that does nothing; without probes E is NULL and INNER unused. */
void record_calibrate_read_syscalls(const struct record_engine *e, bool real_clock,
				    struct record_series *time, struct record_series *inner);

/* The instructions of an unused system call: the test of its number and the empty function after it. */
#define EMPTY_SYSCALL_INSNS 8

/* In the background, which is not to be while the caller is followed: that would be more tasks. */
void record_calibrator_detach_spares(struct calibrator *c);

/* Measure the untimed cost of MECH's programs that capture values, on TARGET, where they are left. -errno. */
int record_calibrate_capture(struct calibrator *c, enum profile_mechanism mech,
			     const struct record_target *target);

void record_calibrator_note_unknown(const struct calibrator *c, enum profile_mechanism mech,
				    int err);
