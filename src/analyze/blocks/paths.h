/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The paths that calls of a function took, and its loops: what its blocks' counts say of them, over all
 * runs. Numbers are NAN where they are not known.
 */
#pragma once

#include <stdbool.h>

#include "analyze/blocks/blocks.h"
#include "analyze/blocks/trips.h"
#include "base/alloc.h"
#include "profile/profile.h"

/* Calls of a function in one context, or in all, that executed the same blocks. */
struct analyze_path {
	const char *function, *context; /* "*": all contexts */
	double calls, share; /* of the function's calls in the context */
	double mean, total; /* on-CPU time less probe cost */
	double total_share;
	/*
	 * What these calls do that most others do not, or the other way round; "" where nothing does. Of a path that
	 * nearly all calls go: what it calls.
	 */
	const char *does, *lacks;
	double number; /* from 1 on, among those of its function and context */
	uint64_t signature;
	double iterations[PROFILE_TRIPS]; /* in all its calls, by counter */
	bool counted; /* trip counts call by call */
	uint32_t first_trips, n_trips; /* the means of loops that iterated, in path_trips */
};

/* A loop of a function. */
struct analyze_loop {
	const char *function, *context;
	/* Its head's line in the innermost body that the whole loop is in; NULL: not known, the function's own. */
	const char *location, *body;
	const char *condition; /* under which it iterates again, in the source's words; or NULL */
	struct analyze_trip_value trip_value; /* of the row of all contexts */
	double offset; /* of its head, from the function's entry */
	double trips; /* executions of the head, per call */
	double insns_per_iteration; /* with those of loops in it */
	double insns_per_call;
	/* How many calls had which trip count, in trips; none where they were not counted call by call. */
	uint32_t first_trips, n_trips;
	uint8_t counter; /* of trip counts call by call, or PROFILE_NO_BIT */
};

/* The mean trip count of one of these loops, identified likewise, in a call on one path. */
struct analyze_path_trips {
	const char *function, *context;
	double path; /* its number */
	const char *location, *body;
	double offset, trips;
};

/* Calls in which a loop, identified as in struct analyze_loop, had a trip count from LOW to HIGH. */
struct analyze_loop_trips {
	const char *function, *context, *location, *body;
	double offset;
	struct analyze_trips trips;
};

struct analyze_paths {
	enum profile_clock clock;
	vec_of(struct analyze_path, rows); /* of each function and context by falling calls */
	vec_of(struct analyze_loop, loops);
	vec_of(struct analyze_loop_trips, trips); /* of loop after loop, by rising trip count */
	vec_of(struct analyze_path_trips, path_trips); /* by path, of loops that iterated */
	struct alloc_texts texts;
};

void analyze_paths_init(struct analyze_paths *paths, const struct profile *p);
void analyze_paths_deinit(struct analyze_paths *paths);

/* Names trip counts among the captured variables of P by their loops' lines, where no other of the function is on the same. */
void analyze_paths_name_variables(struct profile *p);
