/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How often loops turn, call by call: histograms of the turns of a call. */
#ifndef KPROTPERF_ANALYZE_TURNS_H
#define KPROTPERF_ANALYZE_TURNS_H

#include <stddef.h>

#include "profile/profile.h"

/* Calls with LOW to HIGH turns. */
struct analyze_turns {
	double low, high; /* HIGH: INFINITY where more are not told apart */
	double calls, share; /* of all calls */
};

/*
 * The histogram of the loop that COUNTER counts the turns of, in one context or in PROFILE_ALL_CONTEXTS, by
 * rising turns; calls without a turn, what is left of CALLS, come first. Returns the number of its rows, an
 * array for free(): 0 where turns were not counted.
 */
size_t analyze_turns_of(const struct profile *p, uint32_t blocks, uint32_t context, uint8_t counter,
			double calls, struct analyze_turns **rows);

/* The same in powers of two: 0, 1, 2 to 3, 4 to 7. */
size_t analyze_turns_coarse(const struct analyze_turns *rows, size_t n,
			    struct analyze_turns **coarse);

/* "16 to 31", "5", "65,535 or more". For free(). */
char *analyze_turns_words(const struct analyze_turns *row);

/* "0: 2.5 %, 16 to 31: 97 %": not all, where there are many. For free(). */
char *analyze_turns_text(const struct analyze_turns *rows, size_t n);

#endif
