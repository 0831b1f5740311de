/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Points are kprobes inside functions, at which inlined functions (ranges) are entered and left, and blocks are counted.
 *
 * A point is attached in two steps. Arming puts the probe into the kernel, without a program. The kernel's optimizer then decides
 * how the kernel reaches the probe. The program depends on this, so it is linked afterwards.
 */
#pragma once

#include "record/target/point.h"

struct record_engine;
struct record_points;

struct record_points *record_points_create(const struct record_engine *e);
void record_points_destroy(struct record_points *points); /* does not detach; accepts NULL */

/* Put a probe at P's address. Return 0 or -errno, not reported. */
int record_point_arm(struct record_points *points, struct record_point *p);
/* Remove the probe and its program in the background: see record/probe/links.h. */
void record_point_disarm(struct record_point *p);

/*
 * Set the kind of the N points, which are armed and sorted by address. First wait until the kernel's optimizer has replaced the
 * points by jumps where possible, or makes no progress. Return the number of points that should be jumps but are not.
 */
uint32_t record_points_settle(struct record_points *points, struct record_point *items, uint32_t n);

uint64_t record_point_cookie(const struct record_point *p);

/* Attach the program of the armed point P. Return 0 or -errno, not reported. */
int record_point_link(struct record_points *points, struct record_point *p);

/*
 * Return the number of hits, so far, that the kernel missed at points with a program; PROFILE_NOT_COUNTED if such points exist and
 * the kernel does not report misses (before 6.7).
 */
uint64_t record_points_misses(const struct record_points *points);
