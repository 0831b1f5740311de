/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events counted with each call (record --event), of one profile or two. Each event has rows for syscalls and page faults, and
 * for functions in each context and in all contexts together. Figures are per run, less the probes' counts.
 */
#pragma once

#include "analyze/stats/change.h"
#include "base/alloc.h"
#include "base/hash.h"
#include "kprotperf/event.h"
#include "profile/profile.h"

/* All members are NAN if the side did not count the event or has no calls of the row. */
struct analyze_event_side {
	double calls, total;
	double mean, self; /* per call; SELF excludes timed callees */
};

struct analyze_event_row {
	const char *event;
	const char *name; /* the function, or the syscall if CONTEXT is NULL */
	const char *context; /* ANALYZE_ALL_CONTEXTS for the sum */
	bool redundant; /* the sum of a function with one context only */
	struct analyze_event_side sides[2];
	double delta, delta_pct; /* differences of the mean */
	struct analyze_sample samples[2]; /* used by analyze_events_init() only */
	struct analyze_change change;
};

struct analyze_events {
	/* Sorted by event as recorded, then syscalls before functions. Functions are by name and context, the sum first. */
	vec_of(struct analyze_event_row, rows);
};

/*
 * Set the rows of A, or of A and B if B is not NULL. Both must outlive E. MARGIN_PCT and UNDECIDED are as in
 * analyze_changes_judge().
 */
void analyze_events_init(struct analyze_events *e, const struct profile *a, const struct profile *b,
			 double margin_pct, bool undecided);
void analyze_events_deinit(struct analyze_events *e);

/*
 * Counts by the emulator's model of a CPU, of one profile or two, per run, by function and context or by line, with the model's
 * own count of instructions. Cycles are an estimate: the sum of events times the model's cycles for each. They are never added
 * to instructions.
 */

enum analyze_misses_by {
	ANALYZE_MISSES_BY_FUNCTION, /* and by context; "*" is the whole context */
	ANALYZE_MISSES_BY_LINE, /* in all functions and contexts together; without user space */
	/* Rows by type of the accessed object, and context ("*": all). FUNCTION is the type; INSTRUCTIONS are 0. */
	ANALYZE_MISSES_BY_OBJECT,
};

/* The figures of one side, per run; all NAN: it has no model. */
struct analyze_misses_side {
	double events[MODEL_N_EVENTS];
	double cycles, instructions;
	/* Part of CYCLES without L1I, ITLB and branches, which depend on the addresses of a build's code. */
	double data;
	double squares; /* mean of the squares of DATA over runs */
};

struct analyze_misses_row {
	const char *context; /* NULL: all */
	const char *function; /* "*": all; "[user]" */
	const char *file; /* NULL: not known */
	double line; /* 0: not known */
	struct analyze_misses_side sides[2];
	struct analyze_misses_side delta; /* the second side less the first */
	double plus_minus; /* half the 95 % interval of DELTA.DATA; NAN: unknown */
	double p; /* p-value of DELTA.DATA, not adjusted for the number of rows; NAN: unknown */
	uint32_t side, run; /* used by analyze_misses_init() only */
};

struct analyze_misses {
	const char *model; /* NULL: a side has no model, or the models differ; there are no rows */
	/* Sorted by falling CYCLES or, for two profiles, by falling magnitude of DELTA.DATA. */
	vec_of(struct analyze_misses_row, rows);
	struct hash_index index; /* used by analyze_misses_init() only */
};

/* Set the rows of A, or of A and B, which must outlive M. */
void analyze_misses_init(struct analyze_misses *m, const struct profile *a, const struct profile *b,
			 enum analyze_misses_by by);
void analyze_misses_deinit(struct analyze_misses *m);
