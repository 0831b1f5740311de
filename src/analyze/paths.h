/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The ways that calls of a function went, and its loops: what its blocks' counts say of them, over all
 * runs. Numbers are NAN where they are not known.
 */
#ifndef KPROTPERF_ANALYZE_PATHS_H
#define KPROTPERF_ANALYZE_PATHS_H

#include "analyze/blocks.h"
#include "analyze/turns.h"
#include "profile/profile.h"

/* Calls of a function in one context, or in all, that executed the same blocks. */
struct analyze_path {
	const char *function, *context; /* "*": all contexts */
	double calls, share; /* of the function's calls in the context */
	double mean, total; /* on-CPU time less probe cost */
	double total_share;
	/*
	 * What these calls do that most others do not, or the other way round; "" where nothing tells. Of a path that
	 * nearly all calls go: what it calls.
	 */
	const char *does, *lacks;
	uint64_t signature;
};

/* A loop of a function. */
struct analyze_loop {
	const char *function, *context;
	/* Its head's line in the innermost body that the whole loop is in; NULL: not known, the function's own. */
	const char *location, *body;
	double offset; /* of its head, from the function's entry */
	double turns; /* executions of the head, a call */
	double insns_per_turn; /* with those of loops in it */
	double insns_per_call;
	/* How many calls had how many turns: "0: 2.5 %, 24: 97 %"; NULL: not counted call by call. */
	const char *spread;
	uint32_t first_turns, n_turns; /* the same in rows */
};

/* Calls with LOW to HIGH turns of a loop, which is told as in struct analyze_loop. */
struct analyze_loop_turns {
	const char *function, *context, *location, *body;
	double offset;
	struct analyze_turns turns;
};

struct analyze_paths {
	enum profile_clock clock;
	struct analyze_path *rows; /* of each function and context by falling calls */
	uint32_t n_rows, cap_rows;
	struct analyze_loop *loops;
	uint32_t n_loops, cap_loops;
	struct analyze_loop_turns *turns; /* of loop after loop, by rising turns */
	uint32_t n_turns, cap_turns;
	char **texts;
	uint32_t n_texts, cap_texts;
};

void analyze_paths_init(struct analyze_paths *paths, const struct profile *p);
void analyze_paths_deinit(struct analyze_paths *paths);

#endif
