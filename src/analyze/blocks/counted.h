/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a profile has of each function whose blocks were counted, and of each of its contexts, at hand. */
#pragma once

#include "base/sorted.h"
#include "profile/profile.h"

#define ANALYZE_IN_ALL_CONTEXTS GROUPED_ALL

/* Places in P's arrays; of all but the cells by the function's place in the list, of these by its site. */
struct analyze_counted {
	const struct profile *p;
	struct grouped cells, counts, paths, trips;
	bool trips_known; /* none is missing in any run */
};

void analyze_counted_init(struct analyze_counted *c, const struct profile *p);
void analyze_counted_deinit(struct analyze_counted *c);

/* Are there counts of BLOCKS, a place in the list, in CONTEXT? */
bool analyze_counted_has(const struct analyze_counted *c, uint32_t blocks, uint32_t context);

/*
 * Sums over all runs, in CONTEXT or ANALYZE_IN_ALL_CONTEXTS: COUNTS by block of BLOCKS, NOT_COUNTED where any is;
 * returns the calls they are of. *RESIDUAL, where not NULL, becomes the largest.
 */
uint64_t analyze_counted_sum(const struct analyze_counted *c, uint32_t blocks, uint32_t context,
			     uint64_t *counts, double *residual);

/* The sum of the stats of BLOCKS' calls in CONTEXT, or in all, without a distribution. */
struct profile_stats analyze_counted_calls(const struct analyze_counted *c, uint32_t blocks,
					   uint32_t context);
