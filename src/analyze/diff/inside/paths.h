/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What changed in functions whose blocks were counted on both sides. */
#pragma once

#include "analyze/blocks/paths.h"
#include "base/alloc.h"
#include "profile/profile.h"

enum analyze_path_kind {
	ANALYZE_PATH_LOOP, /* how often LOOP iterates per call, and the instructions of an iteration */
	ANALYZE_PATH_TRIPS, /* in which share of the calls LOOP has a trip count in TRIPS */
	ANALYZE_PATH_CALL, /* how often a call of FUNCTION calls CALLEE */
	ANALYZE_PATH_PATH, /* the share of calls that do what DOES says, and what they take */
};

/* One change. What does not apply to the kind is NULL or NAN. */
struct analyze_path_change {
	enum analyze_path_kind kind;
	const char *function;
	const struct analyze_loop *loop; /* the hardened side's, or that of the one that has it */
	struct analyze_trips trips;
	const char *callee, *does;
	double often[2], cost[2]; /* of baseline and hardened */
	/* What of the functions that CALLEE leads to carries its cost. */
	const char *through;
	double slow[2]; /* where that is the slow path: the share of calls that take it */
	double insns; /* what the function's own instructions per run changed by */
	uint32_t order; /* among rows of as much */
};

struct analyze_diff_paths {
	/* By what the functions' own instructions per run changed by; of each its loops, then calls and paths. */
	vec_of(struct analyze_path_change, rows);
	struct analyze_paths sides[2]; /* own the strings */
	uint32_t n_functions; /* counted on both sides */
};

/* Both profiles must outlive it. */
void analyze_diff_paths_init(struct analyze_diff_paths *diff, const struct profile *baseline,
			     const struct profile *hardened);
void analyze_diff_paths_deinit(struct analyze_diff_paths *diff);
