/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sites attached, each by a mechanism that the kernel takes, and what their probes cost calibrated on
 * the way: some costs are to be known before a probe is there, others only when all are.
 */
#pragma once

#include <stdbool.h>

#include "profile/profile.h"
#include "record/plan.h"

struct record_probes;
struct record_calibration;
struct record_empty;

/* All of it is the caller's, but the last. */
struct record_attachment {
	struct record_probes *probes; /* the engine is started, not armed */
	struct record_plan *plan; /* its sites' mechanisms become those in use */
	struct record_calibration *calibration; /* record_calibrate_before() has been called */
	struct profile *p; /* has the sites, numbered as in the engine: the context's first */
	enum profile_mechanism how; /* the mechanism asked for; PROFILE_UNTIMED: any */
	bool recalibrate; /* a function is probed by a mechanism that was not planned */
	const struct record_empty *empty; /* the empty functions that calibration times */
};

/* -errno, reported; or -EINTR, not reported, where the user asked for an end. */
int record_attach(struct record_attachment *a);
/* Takes them away. */
void record_detach_inside(struct record_ranges *ranges, struct record_blocks *blocks);
