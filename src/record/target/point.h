/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A kprobe inside a function: what the probe does, and how the kernel reaches the probe (record/probe/point.h). */
#pragma once

#include <linux/types.h>
#include <stdbool.h>
#include <stdint.h>

#include "kprotperf/engine.h"

struct record_probes;

/* An action of a probe: enter or leave the inlined function SITE, or count its calls. FLAGS: ENGINE_RANGE_CALL, _STRICT. */
struct record_action {
	uint32_t site;
	enum engine_range_op op;
	uint32_t flags;
};

struct record_point {
	uint64_t addr; /* absolute kernel address */
	struct record_action actions[ENGINE_RANGE_ACTIONS]; /* in order of execution */
	uint32_t n_actions;
	uint32_t list; /* index of the action list in the engine, if there are several actions */
	uint32_t frame; /* words from SP (or RBP: ENGINE_RANGE_FRAME_FP) to the stack frame */
	uint32_t optimizes; /* bytes that the optimizer's jump replaces; 0: no jump possible */
	bool counts; /* the probe counts executions of a block, and has no actions */
	uint32_t block; /* number of the block probe in the engine */
	/* record/probe/point.c sets the members below. */
	uint32_t text; /* first four bytes of the code at ADDR, read before the probe was placed */
	bool lost; /* the probe was missing during a part of a run */
	bool prepared; /* the optimizer has prepared a jump, used or not */
	enum engine_range_kind kind;
	int event, link; /* descriptors of the probe and of its program's link; -1: none */
	struct record_probes *owner; /* its array of points' links contains LINK */
};
