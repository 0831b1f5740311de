/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inlined bodies on two kernels, matched by what they are: name, enclosing function, chain and source
 * file, and by less where the two kernels' differ. A body that one kernel has and the other has not is a
 * finding: all it costs is the change. One that the other kernel calls is compared with the calls.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/diff/calls.h"
#include "analyze/stats/change.h"
#include "analyze/inline/ranges.h"
#include "base/alloc.h"
#include "base/sorted.h"

/* The name of the row for the rest of a timed function, outside of its timed bodies. */
#define ANALYZE_RANGE_REST "[rest]"

/* Counts and totals are per run; samples are those of all runs. */
struct analyze_diff_range {
	struct analyze_body body; /* the hardened side's, or the baseline's where that has none */
	const char *location; /* likewise */
	const char *chains[2]; /* of either side, which may differ */
	const char *match_chain; /* that by which the two were found to be the same */
	bool has_hardened; /* that side has the body in this context */
	const char *context;
	struct analyze_range_side sides[2]; /* analyze_range_none: not there, or not hit */
	/*
	 * As in struct analyze_diff_row. A body that was timed on one side and is not there on the other
	 * counts as 0 there, per call too.
	 */
	double delta, delta_pct;
	/* The change of totals; an end is NAN if both sides were timed. */
	struct analyze_estimated delta_total;
	double share; /* of delta_total of the function around it; NAN where that was not timed */
	double syscall_share; /* of that of the context */
	/* Repeats another row, or is an estimate which, with all the others, shows no significant change. */
	bool redundant;
	bool estimated; /* on one side at least */
	bool is_partner; /* of a function that the other side has not inlined: counted there */
	enum analyze_note note; /* what one has to know who compares the two sides */
	double weight; /* what it is ordered by */
	/* The certainty of DELTA, if both sides were timed, or the one that has the body. */
	struct analyze_change change;
	const struct analyze_sample *samples[2]; /* of sides that were timed; else NULL */
};

struct analyze_diff_ranges {
	/* Largest change first; of estimates what is sure of it. */
	vec_of(struct analyze_diff_range, rows);
	struct analyze_ranges sides[2]; /* own the strings */
	struct pointers by_name[2]; /* their rows by name, then context */
	bool same_source; /* by version, so that lines have not moved */
};

/* Return whether a part of R's figures is an estimate from samples. */
bool analyze_diff_range_is_sampled(const struct analyze_diff_range *r);

/* CALLS are in the order of their names. */
void analyze_diff_ranges_init(struct analyze_diff_ranges *ranges,
			      const struct analyze_diff_calls *calls,
			      const struct profile *baseline, const struct profile *hardened,
			      const struct analyze_options *options);
void analyze_diff_ranges_deinit(struct analyze_diff_ranges *ranges);

/* Return the body that has most of FUNCTION's change in CONTEXT; NULL: none has half of it. */
const struct analyze_diff_range *analyze_diff_ranges_main(const struct analyze_diff_ranges *ranges,
							  const char *function,
							  const char *context);

/* The rows of SIDE, struct analyze_range, of bodies called NAME in CONTEXT; *N: how many. */
const void *const *analyze_diff_ranges_named(const struct analyze_diff_ranges *ranges, int side,
					     const char *name, const char *context, size_t *n);
