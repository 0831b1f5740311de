/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kprobes inside of functions: points at which ranges are entered and left, and blocks counted.
 *
 * A point comes in two steps. Armed, the kernel has put the probe there, without a program. How it
 * will go on to reach it is known only some time later, when its optimizer has been there; and that
 * the program is to know, so it comes last.
 */
#pragma once

#include "record/target/point.h"

struct record_engine;
struct record_points;

struct record_points *record_points_create(const struct record_engine *e);
void record_points_destroy(struct record_points *points); /* detaches; accepts NULL */

/* Puts a probe at P's address. -errno, not reported. */
int record_point_arm(struct record_points *points, struct record_point *p);
/* Takes it away, with its program if it has one: see record/probe/links.h. */
void record_point_disarm(struct record_point *p);

/*
 * Waits until the kernel's optimizer has been to those of the N points, armed and by ascending address, that it is expected to
 * take, while it makes progress, and finds the kind of each. Returns the number that it did not take.
 */
uint32_t record_points_settle(struct record_points *points, struct record_point *items, uint32_t n);

/* Return the cookie of P's program. */
uint64_t record_point_cookie(const struct record_point *p);

/* Gives an armed point its program. -errno, not reported. */
int record_point_link(struct record_points *points, struct record_point *p);

/*
 * Hits that the kernel missed of points that have their programs now, ever; PROFILE_NOT_COUNTED where it
 * does not tell (before 6.7) and there are such.
 */
uint64_t record_points_misses(const struct record_points *points);
