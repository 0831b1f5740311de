/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The parts of the change per run, as a tree whose parts add up: the command, its syscalls, the functions timed in
 * each, the inlined bodies timed in those, and the loops and blocks counted in either, if time is counted in
 * instructions too. A body timed in a function that was not stands beside the functions. A function's part is its time
 * from entry to return without that of timed functions it called, so that parts of functions that call each other do
 * not overlap.
 */
#pragma once

#include "analyze/diff/diff.h"
#include "base/alloc.h"

enum analyze_part {
	ANALYZE_PART_COMMAND,
	ANALYZE_PART_SYSCALL,
	ANALYZE_PART_OUTSIDE, /* of sys_enter to sys_exit: user space, entry and exit, waiting */
	ANALYZE_PART_FUNCTION,
	ANALYZE_PART_UNTIMED, /* of a syscall: in no timed function */
	ANALYZE_PART_RANGE,
	ANALYZE_PART_REST, /* of a function: in none of its timed bodies */
	ANALYZE_PART_LOOP,
	ANALYZE_PART_BLOCK,
	ANALYZE_PART_UNCOUNTED, /* of a function or body: what it calls, and what of it was not counted */
	ANALYZE_PART_OTHERS, /* for tables: the sum of what they do not show of a level */
};

/* One line. Times are on-CPU, per run, in ticks; NAN: not known. */
struct analyze_attribution_row {
	enum analyze_part part;
	const char *name; /* the diff's; NULL: what is left of a level, or all syscalls */
	const char *location; /* of a range, loop or block; else NULL */
	enum analyze_how how; /* of the command, and of what samples say */
	double level; /* 0 for the command; a row belongs to the last one above it of a level less */
	double delta; /* a side that has no such row counts as 0 */
	double share; /* of the level above; NAN where that did not change */
	/*
	 * Parts of DELTA: by more or fewer calls at the baseline's mean, and by the mean of the hardened side's calls.
	 */
	double by_calls, by_mean;
	enum analyze_verdict verdict; /* on the mean, of the command and of syscalls */
	bool hidden; /* not worth a line of a table */
	uint32_t others; /* of OTHERS: how many lines of their level are hidden */
};

struct analyze_attribution {
	enum profile_clock clock;
	vec_of(struct analyze_attribution_row, rows); /* each before its parts, the largest first */
	struct alloc_texts names; /* of loops and blocks */
};

/* DIFF must outlive it, and be of on-CPU times. */
void analyze_attribution_init(struct analyze_attribution *a, const struct analyze_diff *diff);
void analyze_attribution_deinit(struct analyze_attribution *a);
