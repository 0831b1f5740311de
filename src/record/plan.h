/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The plan of a recording: the functions, inlined functions and blocks that the user named, on this kernel, and their probes. */
#pragma once

#include "record/engine/features.h"
#include "record/options.h"
#include "record/target/block.h"
#include "record/target/capture.h"
#include "record/target/range.h"
#include "record/target/sites.h"
#include "record/target/symbols.h"

struct profile;

struct record_plan {
	struct record_features features;
	struct record_symbols symbols;
	struct record_kernel kernel; /* points to SYMBOLS and FEATURES */
	struct record_names functions, inlined; /* names from options and protections */
	struct record_sites sites;
	struct record_ranges ranges;
	struct record_blocks blocks;
	struct record_captures captures;
};

/*
 * Fill PLAN, which must be zero. Add the environment to P, and the functions, numbered as in the engine. Call this before any
 * probe is attached. Do not move PLAN. O must outlive PLAN. Return 0 or -errno, reported.
 */
int record_plan_make(struct record_plan *plan, const struct record_options *o, struct profile *p);
/* Return the kernel memory that PLAN's probes will take, in bytes. */
size_t record_plan_memory(const struct record_plan *plan);
void record_plan_deinit(struct record_plan *plan);
