/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Functions whose basic blocks are counted: resolve the functions' names, and plan the probes of their blocks. */
#pragma once

#include <stdint.h>

#include "base/alloc.h"
#include "profile/profile.h"
#include "record/target/point.h"
#include "record/target/range.h"
#include "record/target/sites.h"
#include "record/target/symbols.h"
#include "kernel/cfg/blocks.h"

/* Maximum number of block probes. Each takes 8 KiB of the kernel's memory. */
#define RECORD_MAX_BLOCK_PROBES 4096

struct record_block_function {
	const struct kernel_sym *sym; /* owned by the kallsyms table */
	struct record_image *in; /* image of SYM; BLOCKS and PLAN have addresses relative to IN */
	uint32_t site; /* number in the engine and the profile; 0: SYM is not timed */
	uint32_t counted; /* index in the profile's list of functions whose blocks are counted */
	struct kernel_block *blocks; /* copied from the flow graph; PLAN uses the same indexes */
	const char **called; /* indexed by block: name of the first function called; NULL: none */
	uint32_t n_blocks;
	struct kernel_block_plan plan;
	/* Index of the function's first probe in the array of points. The function has one point for each probe in PLAN. */
	uint32_t first_point;
};

struct record_blocks {
	vec_of(struct record_block_function, items);
	vec_of(struct record_point, points);
	double *hit_costs; /* cost of a hit in ticks, indexed by point; set by attach_blocks() */
};

/*
 * Find the functions called NAMES (--blocks) and plan their probes. Call this before any probe is attached, since it reads the
 * running kernel's code. Report every name that cannot be found or probed, and return -errno after such a report.
 */
int record_blocks_resolve(struct record_blocks *blocks, const struct record_kernel *kernel,
			  const struct record_names *names);
void record_blocks_deinit(struct record_blocks *blocks);

/* Add the functions in BLOCKS, and their blocks, to P. SITES and P must have these functions already. */
void record_blocks_store(struct record_blocks *blocks, const struct record_sites *sites,
			 struct profile *p);
