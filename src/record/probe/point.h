/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kprobes inside of functions: points at which ranges are entered and left, and blocks counted.
 *
 * A point is attached in two steps. Once armed, the probe is in the kernel, without a program. How the
 * kernel reaches the probe is known only later, when its optimizer has been there. The program must know
 * that, so it is linked last.
 */
#pragma once

#include "record/target/point.h"

struct record_engine;
struct record_points;

struct record_points *record_points_create(const struct record_engine *e);
void record_points_destroy(struct record_points *points); /* detaches; accepts NULL */

/* Puts a probe at P's address. -errno, not reported. */
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

/* Gives an armed point its program. -errno, not reported. */
int record_point_link(struct record_points *points, struct record_point *p);

/*
 * Return the number of hits that the kernel has missed so far of points that have a program now;
 * PROFILE_NOT_COUNTED if there are any and the kernel does not tell (before 6.7).
 */
uint64_t record_points_misses(const struct record_points *points);
