/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Times of inlined functions: measured by probes if requested, else estimated from samples. docs/accounting.md has the method. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/stats/statistics.h"
#include "analyze/inline/bodies.h"
#include "analyze/figures/table.h"
#include "base/alloc.h"

/* Estimated time of an inlined function in one context (a system call or an interrupt). All NAN: no sample hit it. */
struct analyze_estimate {
	double samples, of; /* samples with the function on the stack, OF all in the context */
	struct analyze_estimated share; /* fraction of the context's time */
	double self_share; /* fraction of the context's time, without called functions */
	/* On-CPU time in ticks (ns or counted instructions). */
	struct analyze_estimated total;
	double self_total;
	double late; /* part of SAMPLES that was delayed, and perhaps belongs to other code */
	double missing; /* delayed samples in other code, perhaps due in this function */
};

enum analyze_source {
	ANALYZE_SOURCE_NONE, /* nothing is known */
	ANALYZE_SOURCE_EXACT, /* timed by probes */
	ANALYZE_SOURCE_ESTIMATED, /* from samples */
	ANALYZE_SOURCE_COUNTED, /* exact recording: each executed instruction is a sample */
};

/* Reasons to doubt an estimate. */
enum analyze_caveat {
	ANALYZE_CAVEAT_NONE,
	ANALYZE_CAVEAT_IRQS_OFF, /* interrupts off: samples were late, perhaps from other code */
};

/* The figures of one inlined function in one profile. */
struct analyze_range_side {
	enum analyze_source source;
	double entries; /* number of times that execution entered the code, or NAN */
	struct analyze_figures figures; /* for an estimate, only the on-CPU total is known */
	double low, high; /* 95 % interval of the estimated share of the context, or NAN */
	struct analyze_estimate estimate; /* also set if SOURCE is not ESTIMATED */
	enum analyze_caveat caveat;
	const char *why; /* the recorder's reason for not timing the function; or NULL */
};

/* One inlined function in one context. The profile or struct analyze_ranges owns the strings. */
struct analyze_range {
	struct analyze_body body;
	const char *location; /* source line of the call, such as "mm/slub.c:1978", or NULL */
	const char *context; /* may be ANALYZE_ALL_CONTEXTS */
	struct analyze_range_side side;
	double share; /* fraction of the time of CONTEXT */
	/*
	 * Another row has the same time. This row is then the sum over a single context, or nearly the whole time of its context,
	 * or all of its samples lie in a single function that is inlined into this one.
	 */
	bool redundant;
	bool estimated;
	struct analyze_sample sample; /* time in each run, boot or recording; empty if not timed */
};

/* Figures of a whole context (a system call or an interrupt). The SHARE of an inlined function is a fraction of these. */
struct analyze_range_context {
	const char *name; /* may be ANALYZE_ALL_CONTEXTS */
	uint32_t number; /* index in the profile's contexts; unset for ANALYZE_ALL_CONTEXTS */
	double samples; /* kernel samples outside of probes */
	/* On-CPU time of SAMPLES in ticks, without probes and interrupts. NAN: the context was not timed. */
	double sampled;
	double totals[ANALYZE_N_TIMES]; /* total times in the context's row of a report */
};

struct analyze_ranges {
	vec_of(struct analyze_range, rows); /* sorted by inlined function, then context */
	vec_of(struct analyze_range_context, contexts); /* sorted by name */
	bool counted; /* each executed instruction is a sample */
	double tick; /* sampling period in ticks; NAN: unknown */
	struct analyze_bodies bodies;
	struct analyze_repetitions repetitions;
	struct alloc_texts locations;
};

void analyze_ranges_init(struct analyze_ranges *ranges, const struct profile *p,
			 const struct analyze_options *options);
void analyze_ranges_deinit(struct analyze_ranges *ranges);

/* Sort the rows: rows timed by probes come before estimates. Within both, the largest total time comes first. */
void analyze_ranges_sort_by_total(struct analyze_ranges *ranges);
