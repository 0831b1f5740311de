/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Attach probes to functions by mechanisms that the kernel accepts, and calibrate the cost of the probes. Some costs must be known
 * before a probe is attached. Other costs can be measured only when all probes are attached.
 */
#pragma once

#include "profile/profile.h"
#include "record/plan.h"

struct record_probes;
struct record_calibration;

/*
 * Attach all functions of PLAN by HOW; PROFILE_UNTIMED: by any mechanism. PLAN and P get the mechanism that each function really
 * has. P numbers functions like the engine of PROBES, which is started but not armed; site 0 is for contexts. CALIBRATION was
 * initialized by record_calibrate_before(). Return 0 or -errno, reported; -EINTR, not reported, if the user has interrupted.
 */
int record_attach(struct record_probes *probes, struct record_plan *plan,
		  struct record_calibration *calibration, struct profile *p,
		  enum profile_mechanism how);
/* Detach the probes of inlined functions and of blocks. */
void record_detach_inside(struct record_ranges *ranges, struct record_blocks *blocks);
