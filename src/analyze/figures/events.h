/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Numbers of events that occurred during calls (`record --event`), in one or two profiles. Each event has rows for system calls
 * and page faults, and for functions in each context and in all contexts together. Numbers are per run, without events of probes.
 */
#pragma once

#include "analyze/stats/change.h"
#include "base/alloc.h"
#include "base/hash.h"
#include "kprotperf/event.h"
#include "profile/profile.h"

/* One profile's part of a row. All members are NAN if the profile has no such calls, or did not count the event. */
struct analyze_event_side {
	double calls, total;
	double mean, self; /* events per call; SELF is without timed called functions */
};

struct analyze_event_row {
	const char *event;
	const char *name; /* the function; if CONTEXT is NULL, the system call */
	const char *context; /* may be ANALYZE_ALL_CONTEXTS */
	bool redundant; /* the row of all contexts repeats the only context */
	struct analyze_event_side sides[2];
	double delta, delta_pct; /* change of MEAN, also in percent of the first MEAN */
	struct analyze_sample samples[2]; /* used only within analyze_events_init() */
	struct analyze_change change;
};

struct analyze_events {
	/* Sorted by event in recorded order. Rows of an event: first system calls, then functions by name and context. */
	vec_of(struct analyze_event_row, rows);
};

/*
 * List the events of profile A. If B is not NULL, compare A with B. A and B must outlive E. MARGIN_PCT and UNDECIDED are arguments
 * of analyze_changes_judge().
 */
void analyze_events_init(struct analyze_events *e, const struct profile *a, const struct profile *b,
			 double margin_pct, bool undecided);
void analyze_events_deinit(struct analyze_events *e);

/*
 * Events of the emulator's model of a CPU, such as cache misses, in one or two profiles, per run. Cycles are an estimate: the sum
 * of all events, each multiplied by the model's cycles for it. Cycles are never added to instructions.
 */

enum analyze_misses_by {
	ANALYZE_MISSES_BY_FUNCTION, /* a row per function and context ("*": whole context) */
	ANALYZE_MISSES_BY_LINE, /* a row per source line, for all contexts together */
	/* A row per type of the accessed objects and context. FUNCTION is the type ("*": all types). INSTRUCTIONS are 0. */
	ANALYZE_MISSES_BY_OBJECT,
};

/* One profile's part of a row, per run. All members are NAN if the profile has no model of a CPU. */
struct analyze_misses_side {
	double events[MODEL_N_EVENTS];
	double cycles, instructions;
	/* CYCLES without L1I, ITLB and branch events, since these depend on where a build places the code. */
	double data;
	double squares; /* square of DATA in a run, as mean over all runs */
};

struct analyze_misses_row {
	const char *context; /* NULL: all contexts */
	const char *function; /* "*" for all functions, "[user]" for user space */
	const char *file; /* NULL: unknown */
	double line; /* 0: unknown */
	struct analyze_misses_side sides[2];
	struct analyze_misses_side delta; /* second profile minus first profile */
	double plus_minus; /* half of DELTA.data's 95 % interval, or NAN */
	double p; /* p-value of DELTA.data, not adjusted for several rows, or NAN */
	uint32_t side, run; /* used only within analyze_misses_init() */
};

struct analyze_misses {
	const char *model; /* NULL: no model, or different models; ROWS are then empty */
	/* One profile: most CYCLES first. Two profiles: largest |DELTA.data| first. */
	vec_of(struct analyze_misses_row, rows);
	struct hash_index index; /* used only within analyze_misses_init() */
};

/* List the model's events in profile A. If B is not NULL, compare A with B. A and B must outlive M. */
void analyze_misses_init(struct analyze_misses *m, const struct profile *a, const struct profile *b,
			 enum analyze_misses_by by);
void analyze_misses_deinit(struct analyze_misses *m);
