/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A kprobe at a point inside a function: what it does, and how the kernel reaches it (record/probe/point.h). */
#pragma once

#include <linux/types.h>
#include <stdbool.h>
#include <stdint.h>

#include "kprotperf/engine.h"

struct record_points;

/* Enter or leave site SITE, or count its calls. FLAGS: ENGINE_RANGE_CALL and ENGINE_RANGE_STRICT. */
struct record_action {
	uint32_t site;
	enum engine_range_op op;
	uint32_t flags;
};

struct record_point {
	uint64_t addr; /* absolute */
	struct record_action actions[ENGINE_RANGE_ACTIONS]; /* in order of execution */
	uint32_t n_actions;
	uint32_t list; /* index of the engine's action list, if there are several actions */
	uint32_t frame; /* words from SP, or RBP (ENGINE_RANGE_FRAME_FP), to the function's frame */
	uint32_t optimizes; /* bytes that the optimizer's jump would replace; 0: no jump possible */
	bool counts; /* it counts a block, and has no actions */
	uint32_t block; /* the engine's number of the block probe */
	/* Set by record/probe/point.c. */
	uint32_t text; /* four bytes of code at ADDR before the probe was there */
	bool lost; /* the probe was not in place all the time */
	bool prepared; /* the optimizer has prepared a jump, whether or not it uses it */
	enum engine_range_kind kind;
	int event, link; /* descriptors; -1: none */
	struct record_points *owner; /* points whose list has LINK */
};
