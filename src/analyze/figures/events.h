/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events that were counted with each call (record --event), of one profile or two: for each event the syscalls and page
 * faults, and the functions in each context and in all of them together. Figures are per run, less what probes counted.
 */
#pragma once

#include "analyze/stats/change.h"
#include "base/alloc.h"
#include "base/hash.h"
#include "kprotperf/event.h"
#include "profile/profile.h"

/* All NAN where a side did not count the event, or made no such calls. */
struct analyze_event_side {
	double calls, total;
	double mean, self; /* per call; SELF is without timed callees */
};

struct analyze_event_row {
	const char *event;
	const char *name; /* of the function or, where CONTEXT is NULL, the syscall */
	const char *context; /* ANALYZE_ALL_CONTEXTS for the sum */
	bool redundant; /* the sum of a function that has one context only */
	struct analyze_event_side sides[2];
	double delta, delta_pct; /* of the mean */
	struct analyze_sample samples[2]; /* while rows are added up */
	struct analyze_change change;
};

struct analyze_events {
	/* Events as recorded, then syscalls before functions; functions by name and context, the sum first. */
	vec_of(struct analyze_event_row, rows);
};

/*
 * Set the rows of A, or, if B is not NULL, of both, which must outlive E. MARGIN_PCT as in analyze_changes_judge().
 * UNDECIDED: no difference is certain, so no event's either.
 */
void analyze_events_init(struct analyze_events *e, const struct profile *a, const struct profile *b,
			 double margin_pct, bool undecided);
void analyze_events_deinit(struct analyze_events *e);

/*
 * Counts of the emulator's model of a CPU, of one profile or two: per run, by function and context or by line, with
 * their own instructions. Cycles are an estimate, the sum of events times the model's cycles for each, and are never
 * added to instructions.
 */

enum analyze_misses_by {
	ANALYZE_MISSES_BY_FUNCTION, /* and context; "*" is all of the context */
	ANALYZE_MISSES_BY_LINE, /* of whatever function and context; none of user space */
	ANALYZE_MISSES_BY_OBJECT, /* of data, and context; "*" are all contexts. FUNCTION is what it is of; no instructions */
};

/* The figures of one side, per run; all NAN: it has no model. */
struct analyze_misses_side {
	double events[MODEL_N_EVENTS];
	double cycles, instructions;
	double data; /* of the cycles, but for L1I, ITLB and branches: what hangs on where a build has its code */
	double squares; /* of DATA of each run */
};

struct analyze_misses_row {
	const char *context; /* NULL: all */
	const char *function; /* "*": all; "[user]" */
	const char *file; /* NULL: not known */
	double line; /* 0: not known */
	struct analyze_misses_side sides[2];
	struct analyze_misses_side delta; /* the second less the first */
	double plus_minus; /* of delta.data, 95 %; NAN: not known */
	double p; /* likewise, of this row alone */
	uint32_t side, run; /* while rows are added up */
};

struct analyze_misses {
	const char *model; /* NULL: a side has none, or another; there are no rows then */
	/* By falling cycles, of two sides by change of DATA. */
	vec_of(struct analyze_misses_row, rows);
	struct hash_index index; /* while rows are added up */
};

/* Set the rows of A, or of A and B, which must outlive M. */
void analyze_misses_init(struct analyze_misses *m, const struct profile *a, const struct profile *b,
			 enum analyze_misses_by by);
void analyze_misses_deinit(struct analyze_misses *m);
