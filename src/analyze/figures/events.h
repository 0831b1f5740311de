/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Events that were counted with each call (record --event), of one profile or two: for each event the syscalls and page
 * faults, and the functions in each context and in all of them together. Figures are per run, less what probes counted.
 */
#pragma once

#include "analyze/stats/change.h"
#include "base/alloc.h"
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
	struct analyze_sample samples[2]; /* of which CHANGE is made */
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
