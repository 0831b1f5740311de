/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What calibrate.c and the files beside it, one a kind of mechanism, share. Not for others.
 */
#ifndef KPROTPERF_RECORD_CALIBRATE_IMPL_H
#define KPROTPERF_RECORD_CALIBRATE_IMPL_H

#include "record/calibrate.h"
#include "record/series.h"

/* What each of the empty functions takes by itself, in instructions; on a real clock it is EMPTY_NS. */
extern const uint64_t record_calibrator_insns[RECORD_N_TESTS];

#define EMPTY_NS 1

/* The engine's spare sites. */
enum {
	SPARE_FENTRY,
	SPARE_MANY,
	SPARE_OUTER,
	SPARE_KPROBE,
	SPARE_OPTIMIZED,
	SPARE_INT3,
	SPARE_MULTI /* and one for each further test */
};

struct calibrator {
	struct record_engine *e;
	const struct profile *p;
	enum profile_clock clock;
	int run; /* an unattached fentry program: running it calls the empty functions once each */
	const struct record_empty *empty;
	struct record_calibration *out;
	struct record_series base; /* a run with what is attached so far */
	enum profile_mechanism left[8]; /* attached */
	uint32_t n_left;
};

static inline uint64_t less(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/*
 * Runs the empty functions once a round. OUTER becomes the time of the system call that does it,
 * INNER that of the function as SITE saw it, if SITE is not 0.
 */
int record_calibrator_measure(struct calibrator *c, uint32_t site, struct record_series *outer,
			      struct record_series *inner);

/* Follows the caller, with costs that are provisional until the calibrator is closed. */
int record_calibrator_open(struct calibrator *c, struct record_engine *e, const struct profile *p,
			   const struct record_empty *empty, struct record_calibration *out);
void record_calibrator_close(struct calibrator *c);

/* Nothing is taken off what is measured, but something set aside, for what nested calls cost more. */
void record_calibrator_use_provisional_costs(struct calibrator *c);

/* In the background, which is not to be while the caller is followed: that would be more tasks. */
void record_calibrator_detach_spares(struct calibrator *c);

/* Interrupts that hit a probe are charged to what is probed, as far as that is not taken off. */
void record_calibrator_add_interrupts(struct record_calibration *out, struct record_cost *cost);

void record_calibrator_note_unknown(const struct calibrator *c, enum profile_mechanism mech,
				    int err);

#endif
