/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by the files that make struct analyze_diff_ranges. */
#pragma once

#include <string.h>

#include "analyze/diff/inside/ranges.h"
#include "base/sorted.h"

#define BASELINE 0
#define HARDENED 1

/* Everything that matching needs. */
struct analyze_diff_matching {
	struct analyze_diff_ranges *out;
	const struct analyze_diff_calls *calls;
	double all_syscalls; /* the change of all of them together */
	struct pointers by_place[2]; /* each side's rows, from when they are in order */
};

static inline bool is_exact(const struct analyze_range_side *side)
{
	return side->source == ANALYZE_SOURCE_EXACT;
}

/* ---- ranges.c ---- */

/* Set the changes of ROW per run and per call, and its shares. Its sides are set. */
void analyze_diff_range_pair(const struct analyze_diff_matching *m, struct analyze_diff_range *row);

/* A row of what the two sides have, FROM one of them; either may be NULL. */
void analyze_diff_range_add(struct analyze_diff_matching *m, const struct analyze_range *a,
			    const struct analyze_range *b, const struct analyze_range *from);

/* ---- ranges_match.c ---- */

/* Return whether both are of one version of the sources. */
bool analyze_diff_ranges_same_source(const struct profile *a, const struct profile *b);
/* Adds a row for each body of either side, then says which repeat others. */
void analyze_diff_ranges_match(struct analyze_diff_matching *m);

/* Return whether INNER is a part of OUTER on SIDE. */
bool analyze_diff_range_is_inside(const struct analyze_diff_range *inner,
				  const struct analyze_diff_range *outer, int side);

/* ---- ranges_rest.c ---- */

/* For each timed function with timed bodies what is left of it, so that all adds up to its change. */
void analyze_diff_ranges_rests(struct analyze_diff_matching *m);
