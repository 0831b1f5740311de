/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Inlined bodies as rows: timed by probes if requested, else estimated from samples. docs/accounting.md has the method. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/stats/statistics.h"
#include "analyze/inline/bodies.h"
#include "analyze/figures/table.h"
#include "base/alloc.h"

/* The estimate of a body in a context, from samples. All NAN: there are no samples of it. */
struct analyze_estimate {
	double samples, of; /* samples with the body on their stack; all of the context's */
	struct analyze_estimated share; /* of the context's time */
	double self_share; /* of its own code, without callees out of line */
	/* On-CPU time, in ticks. */
	struct analyze_estimated total;
	double self_total;
	double late; /* late part of SAMPLES: perhaps not its own */
	double missing; /* late samples elsewhere in its function: perhaps its own */
};

enum analyze_source {
	ANALYZE_SOURCE_NONE, /* nothing is known */
	ANALYZE_SOURCE_EXACT, /* timed */
	ANALYZE_SOURCE_ESTIMATED, /* from samples */
	ANALYZE_SOURCE_COUNTED, /* from samples that are all executed instructions */
};

/* Reasons not to trust an estimate. */
enum analyze_caveat {
	ANALYZE_CAVEAT_NONE,
	ANALYZE_CAVEAT_IRQS_OFF, /* samples came late, perhaps from elsewhere */
};

/* The figures of one body in one profile. */
struct analyze_range_side {
	enum analyze_source source;
	double entries; /* excursions into the body; NAN: not counted */
	struct analyze_figures figures; /* an estimate has the on-CPU total only */
	double low, high; /* of an estimate: interval of its share of the context; else NAN */
	struct analyze_estimate estimate; /* set whatever SOURCE is */
	enum analyze_caveat caveat;
	const char *why; /* why it was not timed, in the recorder's words; NULL: it was timed */
};

/* One body in one context. Strings are the profile's or belong to the list. */
struct analyze_range {
	struct analyze_body body;
	const char *location; /* "mm/slub.c:1978", or NULL */
	const char *context; /* ANALYZE_ALL_CONTEXTS for the sum */
	struct analyze_range_side side;
	double share; /* of the context's time; for ANALYZE_ALL_CONTEXTS, of the time of all */
	/*
	 * Another row says the same. This is the sum of a body with one context only. Or it is an estimate that is all of its
	 * context, or all in a body inlined into it.
	 */
	bool redundant;
	bool estimated;
	struct analyze_sample sample; /* by repetition, if the body was timed; else empty */
};

/* One context: shares are fractions of its figures. */
struct analyze_range_context {
	const char *name; /* ANALYZE_ALL_CONTEXTS: all together */
	uint32_t number; /* index in the profile; unset for ANALYZE_ALL_CONTEXTS */
	double samples; /* in the kernel, without probes */
	/* On-CPU time of SAMPLES, less probe cost and interrupts, in ticks; NAN: the context was not timed as a whole. */
	double sampled;
	double totals[ANALYZE_N_TIMES]; /* as in the context's own row */
};

struct analyze_ranges {
	vec_of(struct analyze_range, rows); /* by body, then context, the sum first */
	vec_of(struct analyze_range_context, contexts); /* by name */
	bool counted; /* all executed instructions are samples */
	double tick; /* ticks that a sample stands for if its context was not timed; NAN: unknown */
	struct analyze_bodies bodies;
	struct analyze_repetitions repetitions;
	struct alloc_texts locations;
};

void analyze_ranges_init(struct analyze_ranges *ranges, const struct profile *p,
			 const struct analyze_options *options);
void analyze_ranges_deinit(struct analyze_ranges *ranges);

/* Sort timed rows first, then by falling total. */
void analyze_ranges_sort_by_total(struct analyze_ranges *ranges);
