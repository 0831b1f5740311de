/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whether two profiles may be compared at all. */
#ifndef KPROTPERF_ANALYZE_COMPARE_H
#define KPROTPERF_ANALYZE_COMPARE_H

#include "analyze/losses.h"
#include "profile/profile.h"

/*
 * Adds what makes a comparison of the two doubtful: different work, machines, probes or sampling
 * rates, which come first and are counted as invalidating, and what either side's own warnings are. RAW: probe cost is left in on both sides.
 */
void analyze_warnings_of_pair(struct analyze_warnings *w, const struct profile *baseline,
			      const struct profile *hardened, bool raw);

#endif
