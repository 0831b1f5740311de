/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What changed in functions whose blocks were counted on both sides, in rows and in words. */
#ifndef KPROTPERF_ANALYZE_DIFF_PATHS_H
#define KPROTPERF_ANALYZE_DIFF_PATHS_H

#include "profile/profile.h"

/* One change. Numbers are NAN where there are none. */
struct analyze_path_change {
	/*
	 * "loop": how often it turns a call, and the instructions of a turn; "turns": in which share of the calls
	 * it turns so often as WHAT says; "call": how often a call of FUNCTION calls WHAT; "path": the share of
	 * calls that do what WHAT says, and what they take.
	 */
	const char *kind;
	const char *function, *what;
	const char *
		through; /* of a call: what of the functions that it leads to carries its cost, or NULL */
	double often[2], cost[2]; /* of baseline and hardened */
	const char *text; /* a sentence */
};

struct analyze_diff_paths {
	struct analyze_path_change *rows; /* loops, then calls and paths, by function */
	uint32_t n_rows, cap_rows;
	char **texts; /* what they point to */
	uint32_t n_texts, cap_texts;
	uint32_t n_functions; /* counted on both sides */
};

/* Both profiles must outlive it. */
void analyze_diff_paths_init(struct analyze_diff_paths *diff, const struct profile *baseline,
			     const struct profile *hardened);
void analyze_diff_paths_deinit(struct analyze_diff_paths *diff);

#endif
