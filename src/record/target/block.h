/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions whose blocks are counted: from their names to the probes that it takes.
 */
#pragma once

#include <stdint.h>

#include "base/alloc.h"
#include "profile/profile.h"
#include "record/target/point.h"
#include "record/target/range.h"
#include "record/target/sites.h"
#include "record/target/symbols.h"
#include "kernel/cfg/blocks.h"

/* Probes at once: each takes 8 KiB of the kernel's memory. */
#define RECORD_MAX_BLOCK_PROBES 4096

struct record_block_function {
	const struct kernel_sym *sym; /* belongs to the kallsyms table */
	struct record_image *in; /* its image; addresses below are relative to that */
	uint32_t site; /* in the engine and the profile; 0: it is not timed */
	uint32_t counted; /* place in the profile's list of functions whose blocks are counted */
	struct kernel_block *blocks; /* as in its flow graph, whose numbers the plan has */
	const char **called; /* by block: the first function that it calls by name; NULL: none */
	uint32_t n_blocks;
	struct kernel_block_plan plan;
	uint32_t first_point; /* of its probes, one for each of the plan's */
};

struct record_blocks {
	vec_of(struct record_block_function, items);
	vec_of(struct record_point, points);
	double *hit_costs; /* by point, once attached */
};

/*
 * Resolves the NAMES of --blocks and plans their probes. To be called before any probe is there: the running kernel's code is read. Reports every name that cannot be done, and returns
 * -errno if there was any.
 */
int record_blocks_resolve(struct record_blocks *blocks, const struct record_kernel *kernel,
			  const struct record_names *names);
void record_blocks_deinit(struct record_blocks *blocks);

/* Adds the functions, which SITES must have, and their blocks to P, which has the sites. */
void record_blocks_store(struct record_blocks *blocks, const struct record_sites *sites,
			 struct profile *p);
