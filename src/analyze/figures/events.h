/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events counted with each call (record --event) in one or two profiles. Each event has rows for system calls and page faults, and
 * for functions in each context and in all contexts together. Counts are per run, without the probes' own events.
 */
#pragma once

#include "analyze/stats/change.h"
#include "base/alloc.h"
#include "base/hash.h"
#include "kprotperf/event.h"
#include "profile/profile.h"

/* One profile's counts. All NAN: the profile has no calls of this row, or did not count the event. */
struct analyze_event_side {
	double calls, total;
	double mean, self; /* per call; SELF excludes timed called functions */
};

struct analyze_event_row {
	const char *event;
	const char *name; /* the function; without CONTEXT, the system call */
	const char *context; /* may be ANALYZE_ALL_CONTEXTS */
	bool redundant; /* a function's sum over a single context */
	struct analyze_event_side sides[2];
	double delta, delta_pct; /* changes of the mean */
	struct analyze_sample samples[2]; /* temporary, for analyze_events_init() */
	struct analyze_change change;
};

struct analyze_events {
	/* Sorted by event in recorded order; system calls before functions; functions by name, then context. */
	vec_of(struct analyze_event_row, rows);
};

/*
 * Count the events of profile A, or compare A with B. B may be NULL. A and B must outlive E. MARGIN_PCT and UNDECIDED are
 * arguments of analyze_changes_judge().
 */
void analyze_events_init(struct analyze_events *e, const struct profile *a, const struct profile *b,
			 double margin_pct, bool undecided);
void analyze_events_deinit(struct analyze_events *e);

/*
 * Events of the emulator's model of a CPU, such as cache misses, in one or two profiles, per run. Cycles are an estimate: the sum
 * of all events, each multiplied by the model's cycles for it. Cycles are never added to instructions.
 */

enum analyze_misses_by {
	ANALYZE_MISSES_BY_FUNCTION, /* rows by function and context; "*": the whole context */
	ANALYZE_MISSES_BY_LINE, /* rows by source line, for all contexts together */
	/* Rows by type of the accessed object and context ("*": all). FUNCTION is the type. INSTRUCTIONS are 0. */
	ANALYZE_MISSES_BY_OBJECT,
};

/* Counts of one profile per run. All NAN: the profile has no model. */
struct analyze_misses_side {
	double events[MODEL_N_EVENTS];
	double cycles, instructions;
	/* CYCLES without L1I, ITLB and branch events, since these depend on where a build places the code. */
	double data;
	double squares; /* mean over runs of DATA squared */
};

struct analyze_misses_row {
	const char *context; /* NULL: all contexts */
	const char *function; /* "*": all functions; "[user]": user space */
	const char *file; /* NULL: unknown */
	double line; /* 0: unknown */
	struct analyze_misses_side sides[2];
	struct analyze_misses_side delta; /* second profile minus first profile */
	double plus_minus; /* half of DELTA.data's 95 % interval; NAN: unknown */
	double p; /* p-value of DELTA.data, not adjusted for several rows; NAN: unknown */
	uint32_t side, run; /* temporary, for analyze_misses_init() */
};

struct analyze_misses {
	const char *model; /* NULL: no model, or different models; ROWS are empty */
	/* One profile: most CYCLES first. Two profiles: largest |DELTA.data| first. */
	vec_of(struct analyze_misses_row, rows);
	struct hash_index index; /* temporary, for analyze_misses_init() */
};

/* Count the model's events in profile A, or compare A with B. B may be NULL. A and B must outlive M. */
void analyze_misses_init(struct analyze_misses *m, const struct profile *a, const struct profile *b,
			 enum analyze_misses_by by);
void analyze_misses_deinit(struct analyze_misses *m);
