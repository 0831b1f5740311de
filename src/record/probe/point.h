/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Points are kprobes inside functions, at which inlined functions (ranges) are entered and left, and blocks are counted.
 *
 * A point is attached in two steps. Arming puts the probe into the kernel, without a program. The kernel's optimizer then decides
 * how the kernel reaches the probe. The program's cookie depends on that, so the program is linked afterwards.
 */
#pragma once

#include "record/target/point.h"

struct record_probes;

/* Put a probe at P's address. Return 0 or -errno, not reported. */
int record_point_arm(const struct record_probes *probes, struct record_point *p);
/* Remove the probe and its program in the background: see record/probe/links.h. */
void record_point_disarm(struct record_point *p);

/*
 * Set the kind of the N points, which are armed and sorted by address. First wait until the kernel's optimizer has written all
 * possible jumps, or makes no progress. Return the number of points that should be jumps but are not.
 */
uint32_t record_points_settle(const struct record_probes *probes, struct record_point *items,
			      uint32_t n);

uint64_t record_point_cookie(const struct record_point *p);

/* Attach the program of the armed point P. Return 0 or -errno, not reported. */
int record_point_link(struct record_probes *probes, struct record_point *p);

/*
 * Return how many hits the kernel has missed at points that have a program. If there are such points, but the kernel does not
 * report misses (before 6.7), return PROFILE_NOT_COUNTED.
 */
uint64_t record_points_misses(const struct record_probes *probes);
