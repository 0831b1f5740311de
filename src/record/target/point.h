/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A point inside of a function where a kprobe is to be: what it is to do there, and what is known of how the
 * kernel gets there (record/probe/point.h).
 */
#pragma once

#include <linux/types.h>
#include <stdbool.h>
#include <stdint.h>

#include "kprotperf/engine.h"

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
	uint32_t list; /* a place of their own in the engine, where there are several */
	uint32_t frame; /* words from SP or RBP to the function's frame */
	uint32_t optimizes; /* bytes that the optimizer's jump would take; 0: there is none */
	bool counts; /* it has no actions, and is the engine's probe BLOCK, which counts a block */
	uint32_t block;
	/* Filled in. */
	uint32_t text; /* the first four bytes of its instruction, before the probe was there */
	bool lost; /* the probe was not in place all the time */
	bool prepared; /* by the optimizer, for a jump, whether it is one then or not */
	enum engine_range_kind kind;
	int event, link; /* descriptors; -1: none */
	struct record_points *owner; /* of the link */
};
