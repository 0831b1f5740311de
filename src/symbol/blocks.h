/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counting how often each block of a function is executed with few probes: what enters a block
 * leaves it, so most counts follow from others. Which blocks to count is Knuth's and Stevenson's
 * "Optimal measurement points for program frequency counts" (BIT 13, 1973).
 *
 * Calls are taken to return, and each call of the function to begin at its entry and to end in a
 * return, a tail jump, or a block that stops it (BUG).
 */
#ifndef KPROTPERF_SYMBOL_BLOCKS_H
#define KPROTPERF_SYMBOL_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbol/flow.h"
#include "symbol/graph.h"
#include "symbol/loops.h"

/* The graph of FLOW's reached blocks, which keep their numbers. -E2BIG above SYMBOL_GRAPH_MAX. */
int symbol_graph_of(const struct symbol_flow *flow, struct symbol_graph *out);
void symbol_graph_clear(struct symbol_graph *graph);

#define SYMBOL_COST_NEVER UINT64_MAX /* the block cannot be probed */

/*
 * Chooses blocks, such that the counts of all others follow from theirs, and that the sum of their
 * COSTS (how often a block is expected to be executed, times what a hit costs) is the least possible.
 * CALLS_KNOWN: the number of calls is counted besides. MEASURE[block] says which are chosen. Returns
 * how many blocks stay unknown, because too many cannot be probed.
 */
uint32_t symbol_blocks_choose(const struct symbol_graph *graph, const uint64_t *costs,
			      bool calls_known, bool *measure);

#define SYMBOL_COUNT_UNKNOWN INT64_MIN

/* All counts; SYMBOL_COUNT_UNKNOWN where they do not follow. */
struct symbol_counts {
	int64_t calls;
	int64_t *blocks; /* by block */
	int64_t *arcs; /* by arc of the graph */
	/*
	 * Where the measured counts contradict each other, by how much at most: calls that had begun or
	 * had not ended while it was counted, and events that were lost. 0 says little if nothing but
	 * what is needed was counted.
	 */
	uint64_t residual;
	uint32_t n_negative; /* counts that came out below 0, and cannot be right */
};

/*
 * Deduces all counts from MEASURED[block] and CALLS, either of which may be SYMBOL_COUNT_UNKNOWN.
 * Counts beyond 2^62 are taken as unknown.
 */
void symbol_blocks_solve(const struct symbol_graph *graph, const int64_t *measured, int64_t calls,
			 struct symbol_counts *out);
void symbol_counts_clear(struct symbol_counts *counts);

/*
 * A plan for one function.
 */

#define SYMBOL_NO_BIT       UINT8_MAX
#define SYMBOL_MAX_BITS     64 /* of a call's signature */
#define SYMBOL_MAX_COUNTERS 4 /* of loops of one function */

struct symbol_block_probe {
	uint32_t block;
	uint64_t addr; /* an instruction of the block, its first where that can be probed */
	bool optimizes;
	uint8_t bit; /* which of a call's signature it sets, or SYMBOL_NO_BIT */
	uint8_t counter; /* which of the plan's loops it counts turns of, or SYMBOL_NO_BIT */
};

enum symbol_plan_flags {
	SYMBOL_PLAN_CALLS_KNOWN = 1, /* the function's calls are counted besides */
	/* Each loop's head is probed, so that its turns can be counted call by call. */
	SYMBOL_PLAN_LOOPS = 2,
};

struct symbol_block_plan {
	struct symbol_graph graph;
	struct symbol_loops loops;
	uint32_t counted[SYMBOL_MAX_COUNTERS]; /* loops, by counter */
	uint32_t n_counted,
		n_loops_left; /* the latter have no counter: too many, or not to be probed */
	/* By block. Those of loops come on top of what counting needs. */
	struct symbol_block_probe *probes;
	uint32_t n_probes, cap_probes;
	uint32_t n_blocks; /* reached */
	uint32_t n_unknown; /* blocks whose counts will stay unknown */
	uint32_t n_unprobed; /* blocks that cannot be probed, whether they are needed or not */
};

/* BLACKLISTED may be NULL. -E2BIG for functions that are too large. */
int symbol_blocks_plan(const struct symbol_flow *flow, unsigned int flags,
		       symbol_blacklisted_fn blacklisted, void *arg, struct symbol_block_plan *out);
void symbol_block_plan_clear(struct symbol_block_plan *plan);

/*
 * Paths: which blocks a call executed, if all that is known of it is which of some were hit.
 */

enum symbol_on_path {
	SYMBOL_PATH_NO,
	SYMBOL_PATH_MAYBE,
	SYMBOL_PATH_YES,
};

/*
 * HIT[block] says whether a block whose MEASURE is set was executed at all. Fills ON_PATH by block.
 * False if no call can have gone so: events were lost.
 */
bool symbol_blocks_path(const struct symbol_graph *graph, const bool *measure, const bool *hit,
			enum symbol_on_path *on_path);

/*
 * A call's signature: a bit for each measured block, set if the call executed it. BIT[block] becomes
 * its number, or SYMBOL_NO_BIT: for blocks that are not measured, that each call executes (they tell
 * nothing), and where there are more than SYMBOL_MAX_BITS, for those deepest in loops. Returns how
 * many bits there are.
 */
uint32_t symbol_paths_bits(const struct symbol_graph *graph, const struct symbol_loops *loops,
			   const bool *measure, uint8_t *bit);

/* symbol_blocks_path() for a signature. */
bool symbol_paths_of(const struct symbol_graph *graph, const uint8_t *bit, uint64_t signature,
		     enum symbol_on_path *on_path);

#endif
