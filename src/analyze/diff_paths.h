/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What changed in functions whose blocks were counted on both sides, in words. */
#ifndef KPROTPERF_ANALYZE_DIFF_PATHS_H
#define KPROTPERF_ANALYZE_DIFF_PATHS_H

#include "profile/profile.h"

struct analyze_diff_paths {
	char **texts; /* a sentence each: loops, then calls, then paths, by function */
	uint32_t n_texts, cap_texts;
	uint32_t n_functions; /* counted on both sides */
};

void analyze_diff_paths_init(struct analyze_diff_paths *diff, const struct profile *baseline,
			     const struct profile *hardened);
void analyze_diff_paths_deinit(struct analyze_diff_paths *diff);

#endif
