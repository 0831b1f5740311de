/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Kprobes inside of functions: points at which ranges are entered and left.
 *
 * A point comes in two steps. Armed, the kernel has put the probe there, without a program. How it
 * will go on to reach it is known only some time later, when its optimizer has been there; and that
 * the program is to know, so it comes last.
 */
#ifndef KPROTPERF_RECORD_POINT_H
#define KPROTPERF_RECORD_POINT_H

#include <linux/types.h>
#include <stdbool.h>
#include <stdint.h>

#include "kprotperf/engine.h"

struct btf;
struct kprotperf_bpf;
struct record_points;

/* The site SITE is entered, left, or its calls counted; FLAGS: ENGINE_RANGE_CALL and _STRICT. */
struct record_action {
	uint32_t site;
	enum engine_range_op op;
	uint32_t flags;
};

struct record_point {
	uint64_t addr; /* absolute */
	struct record_action actions[ENGINE_RANGE_ACTIONS]; /* in their order */
	uint32_t n_actions;
	uint32_t list; /* where there are several: a place of their own for them in the engine */
	uint32_t frame; /* where the function's frame is: the cookie's 16 bits */
	bool optimizes; /* as far as can be told beforehand */
	bool counts; /* it has no actions, and is the engine's probe BLOCK, which counts a block */
	uint32_t block;
	/* Filled in. */
	enum engine_range_kind kind;
	/* What a hit costs more by what else is in the kernel's lists, in ticks, before our program and after. */
	uint32_t extra, extra_tail;
	int event, link; /* descriptors; -1: none */
	struct record_points *owner; /* of the link */
};

struct record_points *record_points_create(struct kprotperf_bpf *skel);
void record_points_destroy(struct record_points *points); /* detaches; accepts NULL */

/*
 * By the kernel's BTF, the table of its kprobes is to be looked into, in the files KCORE and KALLSYMS: see
 * record/kprobe_table.h. -errno, not reported: without it what some breakpoints cost is known less well.
 */
int record_points_use_table(struct record_points *points, const struct btf *btf, const char *kcore,
			    const char *kallsyms);

/* Puts a probe at P's address. -errno, not reported. */
int record_point_arm(struct record_points *points, struct record_point *p);
/* Takes it away, with its program if it has one: see record/closer.h. */
void record_point_disarm(struct record_point *p);

/*
 * Waits until the kernel's optimizer has been to those of the N points armed that it is expected to
 * take, while it makes progress, and finds the kind of each. How many it was expected to take and did not.
 */
uint32_t record_points_settle(struct record_points *points, struct record_point *items, uint32_t n);

/*
 * Finds out what else a hit of each of the N points, all settled, costs: see record/kprobe_table.h. For the lab's
 * clock, where such things can be known.
 */
void record_points_find_extra(struct record_points *points, struct record_point *items, uint32_t n);

/* How a breakpoint is executed on the instruction that begins with the bytes TEXT, as far as that tells. */
enum engine_range_kind record_point_breakpoint(uint32_t text);
/* What P's program is told. */
uint64_t record_point_cookie(const struct record_point *p);

/* Gives an armed point its program. -errno, not reported. */
int record_point_link(struct record_points *points, struct record_point *p);

/*
 * Hits that the kernel missed of points that have their programs now, ever; PROFILE_NOT_COUNTED where it
 * does not tell (before 6.7) and there are such.
 */
uint64_t record_points_misses(const struct record_points *points);

#endif
