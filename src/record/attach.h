/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Attaching sites, each by a mechanism that the kernel accepts, and calibrating the cost of their probes. Some costs must be
 * known before a probe is attached; others can be measured only when all probes are attached.
 */
#pragma once

#include <stdbool.h>

#include "profile/profile.h"
#include "record/plan.h"

struct record_probes;
struct record_calibration;
struct record_empty;

/* The caller sets and owns what the members point to, except EMPTY. */
struct record_attachment {
	struct record_probes *probes; /* the engine is started, not armed */
	struct record_plan *plan; /* its sites' mechanisms become those in use */
	struct record_calibration *calibration; /* record_calibrate_before() has been called */
	struct profile *p; /* has the sites by the engine's numbers; site 0 is the context's */
	enum profile_mechanism how; /* the mechanism asked for; PROFILE_UNTIMED: any */
	bool recalibrate; /* a function is probed by a mechanism that was not planned */
	const struct record_empty *empty; /* the empty functions that calibration times */
};

/* Attach all probes. Return 0 or -errno, reported; or -EINTR, not reported, if the user asked for an end. */
int record_attach(struct record_attachment *a);
/* Detach the probes of ranges and blocks. */
void record_detach_inside(struct record_ranges *ranges, struct record_blocks *blocks);
