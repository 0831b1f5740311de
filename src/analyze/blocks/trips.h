/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The trip counts of loops, call by call: histograms. */
#pragma once

#include <stddef.h>

#include "analyze/blocks/blocks.h"
#include "profile/profile.h"

/* Calls with a trip count from LOW to HIGH. */
struct analyze_trips {
	double low, high; /* HIGH: INFINITY where higher ones are not distinguished */
	double calls, share; /* of all calls */
};

/*
 * The histogram of the loop that COUNTER counts the iterations of, in one context or in ANALYZE_IN_ALL_CONTEXTS, by
 * rising trip count; calls without an iteration, what is left of CALLS, come first. Returns the number of its rows, an
 * array for free(): 0 where they were not counted.
 */
size_t analyze_trips_of(const struct analyze_counted *c, uint32_t blocks, uint32_t context,
			uint8_t counter, double calls, struct analyze_trips **rows);

/* The same in powers of two: 0, 1, 2 to 3, 4 to 7. */
size_t analyze_trips_coarse(const struct analyze_trips *rows, size_t n,
			    struct analyze_trips **coarse);

/* Which of a call's captured values is a loop's trip count. */

/* The value that a trip count is, and in which share of the calls in which the loop iterates at all. */
struct analyze_trip_value {
	const struct profile_variable *variable; /* NULL: none, or nothing varies */
	int64_t more; /* iterations than the value */
	double share;
};

/*
 * Of the loop of SITE whose trip count is the captured variable NAMED; of values that fit alike the one that the loop's
 * CONDITION (NULL: not known) has the last name of.
 */
void analyze_trip_value_find(struct analyze_trip_value *out, const struct profile *p, uint32_t site,
			     const char *named, const char *condition);
