/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inlined bodies with their times: timed by probes if requested, else estimated from samples. docs/accounting.md has the method. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/stats/statistics.h"
#include "analyze/inline/bodies.h"
#include "analyze/figures/table.h"
#include "base/alloc.h"

/* The estimate of a body in a context, from samples. All NAN: the body has no samples. */
struct analyze_estimate {
	double samples, of; /* samples with the body on their stack; all samples of the context */
	struct analyze_estimated share; /* the body's fraction of the context's time */
	double self_share; /* SHARE without the functions that the body calls out of line */
	/* On-CPU time, in ticks. */
	struct analyze_estimated total;
	double self_total;
	double late; /* part of SAMPLES that came late: perhaps due outside of the body */
	double missing; /* late samples elsewhere in the body's function: perhaps due in the body */
};

enum analyze_source {
	ANALYZE_SOURCE_NONE, /* nothing is known */
	ANALYZE_SOURCE_EXACT, /* timed */
	ANALYZE_SOURCE_ESTIMATED, /* from samples */
	ANALYZE_SOURCE_COUNTED, /* exact recording: all executed instructions are samples */
};

/* Reasons not to trust an estimate. */
enum analyze_caveat {
	ANALYZE_CAVEAT_NONE,
	ANALYZE_CAVEAT_IRQS_OFF, /* samples came late: they were perhaps due in other code */
};

/* The figures of one body in one profile. */
struct analyze_range_side {
	enum analyze_source source;
	double entries; /* number of entries into the body's code; NAN: not counted */
	struct analyze_figures figures; /* for an estimate, only the on-CPU total is known */
	double low, high; /* interval of an estimate's share of the context; NAN: no estimate */
	struct analyze_estimate estimate; /* set whatever SOURCE is */
	enum analyze_caveat caveat;
	const char *why; /* the recorder's reason for not timing a requested body; NULL: none */
};

/* One body in one context. The profile or struct analyze_ranges owns the strings. */
struct analyze_range {
	struct analyze_body body;
	const char *location; /* "mm/slub.c:1978", or NULL */
	const char *context; /* ANALYZE_ALL_CONTEXTS for the sum */
	struct analyze_range_side side;
	double share; /* fraction of the time of CONTEXT */
	/*
	 * Another row has the same time: this is the sum of a body with only one context, or an estimate that is nearly all of its
	 * context, or an estimate with all samples in one body inlined into it.
	 */
	bool redundant;
	bool estimated;
	struct analyze_sample sample; /* its time in each repetition; empty unless it was timed */
};

/* One context. Shares of bodies are fractions of its figures. */
struct analyze_range_context {
	const char *name; /* ANALYZE_ALL_CONTEXTS: all together */
	uint32_t number; /* index in the profile; unset for ANALYZE_ALL_CONTEXTS */
	double samples; /* kernel samples outside of probes */
	/* On-CPU time of SAMPLES, less probe cost and interrupts, in ticks; NAN: the context was not timed as a whole. */
	double sampled;
	double totals[ANALYZE_N_TIMES]; /* as in the context's row of a report */
};

struct analyze_ranges {
	vec_of(struct analyze_range, rows); /* sorted by body, then context, the sum first */
	vec_of(struct analyze_range_context, contexts); /* sorted by name */
	bool counted; /* all executed instructions are samples */
	double tick; /* sampling period, in ticks; NAN: unknown */
	struct analyze_bodies bodies;
	struct analyze_repetitions repetitions;
	struct alloc_texts locations;
};

void analyze_ranges_init(struct analyze_ranges *ranges, const struct profile *p,
			 const struct analyze_options *options);
void analyze_ranges_deinit(struct analyze_ranges *ranges);

/* Sort timed rows first, then by falling total. */
void analyze_ranges_sort_by_total(struct analyze_ranges *ranges);
