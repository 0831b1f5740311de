/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kprobes inside of functions: points at which ranges are entered and left, and blocks counted.
 *
 * A point is attached in two steps. Arming puts the probe into the kernel, without a program. The kernel's
 * optimizer then decides how the kernel reaches the probe. The program must know that, so it is linked after
 * that decision.
 */
#pragma once

#include "record/target/point.h"

struct record_engine;
struct record_points;

struct record_points *record_points_create(const struct record_engine *e);
void record_points_destroy(struct record_points *points); /* does not detach; accepts NULL */

/* Put a probe at P's address. Return 0 or -errno, not reported. */
int record_point_arm(struct record_points *points, struct record_point *p);
/* Remove the probe and its program, if any, in the background: see record/probe/links.h. */
void record_point_disarm(struct record_point *p);

/*
 * Find the kind of each of the N points, which are armed and sorted by address. First wait until the kernel's optimizer has made
 * jumps of the points that it should take, or makes no more progress. Return the number of those that it did not take.
 */
uint32_t record_points_settle(struct record_points *points, struct record_point *items, uint32_t n);

/* Return the cookie of P's program. */
uint64_t record_point_cookie(const struct record_point *p);

/* Link the armed point P to its program. Return 0 or -errno, not reported. */
int record_point_link(struct record_points *points, struct record_point *p);

/*
 * Return the number of hits, so far, that the kernel missed of points that have a program now;
 * PROFILE_NOT_COUNTED if there are such points and the kernel does not report misses (before 6.7).
 */
uint64_t record_points_misses(const struct record_points *points);
