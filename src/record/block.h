/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions whose blocks are counted: from their names to the probes that it takes, and from the counts
 * of these to those of all blocks.
 */
#ifndef KPROTPERF_RECORD_BLOCK_H
#define KPROTPERF_RECORD_BLOCK_H

#include <stdint.h>

#include "profile/profile.h"
#include "record/point.h"
#include "record/range.h"
#include "record/range_cost.h"
#include "record/sites.h"
#include "record/symbols.h"
#include "symbol/blocks.h"

struct record_engine;

/* Probes at once: each takes 8 KiB of the kernel's memory. */
#define RECORD_MAX_BLOCK_PROBES 4096

/* A call: where a probe can tell that it begins, itself as a rule, and where it comes back to. */
struct record_block_call {
	uint64_t start, end; /* relative to _stext */
	uint64_t target; /* likewise; 0: through a pointer */
	const char *why_not; /* it cannot be timed, and why; NULL: it can */
};

struct record_block_function {
	const struct symbol_sym *sym; /* belongs to the kallsyms table */
	uint32_t site; /* in the engine and the profile; 0: it is not timed */
	uint32_t counted; /* place in the profile's list of functions whose blocks are counted */
	struct symbol_block *blocks; /* as in its flow graph, whose numbers the plan has */
	const char **called; /* by block: the first function that it calls by name; NULL: none */
	uint32_t n_blocks;
	struct symbol_block_plan plan;
	uint32_t first_point; /* of its probes, one for each of the plan's */
	uint64_t *
		callees; /* entries of the functions that it calls or jumps to, relative to _stext */
	uint32_t n_callees, cap_callees;
	struct record_block_call *calls;
	uint32_t n_calls, cap_calls;
};

struct record_blocks {
	struct record_block_function *items;
	uint32_t n_items, cap_items;
	struct record_point *points;
	uint32_t n_points, cap_points;
	double *hit_costs; /* by point, once attached */
};

/*
 * Resolves the NAMES of --blocks and plans their probes, with room for those of calls if CALLEES. To be called
 * before any probe is there: the running kernel's code is read. Reports every name that cannot be done, and returns
 * -errno if there was any.
 */
int record_blocks_resolve(struct record_blocks *blocks, struct record_symbols *symbols,
			  char *const *names, uint32_t n_names, bool callees);
void record_blocks_deinit(struct record_blocks *blocks); /* detaches */

/*
 * Adds to RANGES the calls that SITES has no function for: through a pointer, or of a function that cannot be
 * probed. All of one function's calls of another are one range.
 */
void record_blocks_add_calls(const struct record_blocks *blocks, const struct record_sites *sites,
			     struct record_symbols *symbols, struct record_ranges *ranges);

/* Finds the functions among SITES, which must have them. */
void record_blocks_find_sites(struct record_blocks *blocks, const struct record_sites *sites);
/* Adds the functions and their blocks to P, which has the sites. */
void record_blocks_add(struct record_blocks *blocks, struct profile *p);

/*
 * Puts the probes into the kernel with its _stext at STEXT. Blocks that the kernel refuses are not counted, which
 * is no error. -EINTR where the user asked for an end, not reported.
 */
int record_blocks_arm(struct record_blocks *blocks, struct record_engine *e, uint64_t stext);
/* Gives them their programs; see record_ranges_attach(). */
void record_blocks_attach(struct record_blocks *blocks, struct record_engine *e,
			  enum profile_clock clock, const struct record_range_costs *costs);
/* Takes the probes away. */
void record_blocks_detach(struct record_blocks *blocks);

/* What RUN counted, into P, which has the run's cells. */
void record_blocks_drain(const struct record_blocks *blocks, const struct record_engine *e,
			 struct profile *p, uint32_t run);

#endif
