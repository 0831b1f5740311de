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
	/*
	 * "24 at slub.c:1907, 3.5 at slub.c:1874": the mean turns of loops in such a call; "" where none turned, NULL
	 * where that was not counted call by call.
	 */
	const char *turns;
	double number; /* from 1 on, among those of its function and context */
	uint64_t signature;
	double turned[PROFILE_TURNS]; /* in all its calls, by counter */
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
	uint8_t counter; /* of turns call by call, or PROFILE_NO_BIT */
};

/* The mean turns of one of these loops, told in the same way, in a call on one path. */
struct analyze_path_turns {
	const char *function, *context;
	double path; /* its number */
	const char *location, *body;
	double offset, turns;
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
	struct analyze_path_turns
		*path_turns; /* of path after path; loops that did not turn are not there */
	uint32_t n_path_turns, cap_path_turns;
	char **texts;
	uint32_t n_texts, cap_texts;
};

void analyze_paths_init(struct analyze_paths *paths, const struct profile *p);
void analyze_paths_deinit(struct analyze_paths *paths);

#endif
