/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Attach probes to functions by mechanisms that the kernel accepts, and calibrate the cost of the probes. Some costs must be known
 * before a probe is attached. Other costs can be measured only when all probes are attached.
 */
#pragma once

#include <stdbool.h>

#include "profile/profile.h"
#include "record/plan.h"

struct record_probes;
struct record_calibration;
struct record_empty;

/* Arguments of record_attach(). The caller sets the pointers (except EMPTY), and owns the objects that they point to. */
struct record_attachment {
	struct record_probes *probes; /* probes of a started engine that is not armed */
	struct record_plan *plan; /* gets the mechanism that each function really has */
	struct record_calibration *calibration; /* initialized by record_calibrate_before() */
	struct profile *p; /* numbers functions like the engine; site 0 is for contexts */
	enum profile_mechanism how; /* the mechanism that was asked for; PROFILE_UNTIMED: any */
	bool recalibrate; /* calibrate again: a function gets a mechanism that was not planned */
	const struct record_empty *empty; /* the empty functions that calibration times */
};

/* Attach all probes. Return 0 or -errno, reported; -EINTR, not reported, if the user has interrupted. */
int record_attach(struct record_attachment *a);
/* Detach the probes of inlined functions and of blocks. */
void record_detach_inside(struct record_ranges *ranges, struct record_blocks *blocks);
