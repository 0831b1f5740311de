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

/* A call: where a probe can tell that it begins, itself as a rule, and where it comes back to. */
struct record_block_call {
	uint64_t start, end;
	uint64_t target; /* likewise; 0: through a pointer */
	const char *why_not; /* it cannot be timed, and why; NULL: it can */
};

struct record_block_function {
	const struct kernel_sym *sym; /* belongs to the kallsyms table */
	struct record_image *in; /* that has it; addresses below are relative to that */
	uint32_t site; /* in the engine and the profile; 0: it is not timed */
	uint32_t counted; /* place in the profile's list of functions whose blocks are counted */
	struct kernel_block *blocks; /* as in its flow graph, whose numbers the plan has */
	const char **called; /* by block: the first function that it calls by name; NULL: none */
	uint32_t n_blocks;
	struct kernel_block_plan plan;
	uint32_t first_point; /* of its probes, one for each of the plan's */
	vec_of(uint64_t, callees); /* entries of the functions that it calls or jumps to */
	vec_of(struct record_block_call, calls);
};

struct record_blocks {
	vec_of(struct record_block_function, items);
	vec_of(struct record_point, points);
	double *hit_costs; /* by point, once attached */
};

/*
 * Resolves the NAMES of --blocks and plans their probes, with room for those of calls if CALLEES. To be called
 * before any probe is there: the running kernel's code is read. Reports every name that cannot be done, and returns
 * -errno if there was any.
 */
int record_blocks_resolve(struct record_blocks *blocks, const struct record_kernel *kernel,
			  const struct record_names *names, bool callees);
void record_blocks_deinit(struct record_blocks *blocks);

/* Adds to SITES what the functions call. */
void record_blocks_add_callees(const struct record_blocks *blocks, struct record_sites *sites,
			       const struct record_symbols *symbols);
/*
 * Adds to RANGES the calls that SITES has no function for: through a pointer, or of a function that cannot be
 * probed. All of one function's calls of another are one range.
 */
void record_blocks_add_calls(const struct record_blocks *blocks, const struct record_sites *sites,
			     struct record_symbols *symbols, struct record_ranges *ranges);

/* Adds the functions, which SITES must have, and their blocks to P, which has the sites. */
void record_blocks_store(struct record_blocks *blocks, const struct record_sites *sites,
			 struct profile *p);
