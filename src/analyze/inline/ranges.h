/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Inlined bodies as rows: timed by probes where that was asked for, else estimated from samples.
 * docs/accounting.md says how.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "analyze/stats/statistics.h"
#include "analyze/inline/bodies.h"
#include "analyze/figures/table.h"
#include "base/alloc.h"

/* An estimate of a body in a context, from samples. All NAN: it has none, or nobody sampled. */
struct analyze_estimate {
	double samples, of; /* those with the body on their stack, of all of the context's */
	struct analyze_estimated share; /* of the context's time */
	double self_share; /* of its own code, what it calls out of line left out */
	/* On-CPU time, in ticks. */
	struct analyze_estimated total;
	double self_total;
	double late; /* of the samples, late ones: perhaps not its own */
	double missing; /* late ones elsewhere in its function: perhaps its own */
};

enum analyze_source {
	ANALYZE_SOURCE_NONE, /* nothing is known */
	ANALYZE_SOURCE_EXACT, /* timed */
	ANALYZE_SOURCE_ESTIMATED, /* from samples */
	ANALYZE_SOURCE_COUNTED, /* the same of a recording whose samples are all instructions there were */
};

/* Reasons not to trust an estimate. */
enum analyze_caveat {
	ANALYZE_CAVEAT_NONE,
	ANALYZE_CAVEAT_IRQS_OFF, /* samples came late, perhaps from elsewhere */
};

/* The figures of one body in one profile. */
struct analyze_range_side {
	enum analyze_source source;
	double entries; /* excursions into the body; NAN where that was not counted */
	struct analyze_figures figures; /* of an estimate only the on-CPU total */
	double low, high; /* of an estimate, the interval of its share of the context; else NAN */
	struct analyze_estimate estimate; /* whatever the source */
	enum analyze_caveat caveat;
	const char *why; /* it was not timed, in the recorder's words; NULL: it was */
};

/* One body in one context. Strings are the profile's or belong to the list. */
struct analyze_range {
	struct analyze_body body;
	const char *location; /* "mm/slub.c:1978", or NULL */
	const char *context; /* ANALYZE_ALL_CONTEXTS for the sum */
	struct analyze_range_side side;
	double share; /* of the context's time, that of all for ANALYZE_ALL_CONTEXTS */
	/*
	 * Says nothing that another row does not: the sum of a body that has one context only; an
	 * estimate of what is all of its context, or all in another body that is inlined into it.
	 */
	bool redundant;
	bool estimated;
	struct analyze_sample sample; /* by repetition, of what was timed; else empty */
};

/* The whole of the shares in one context. */
struct analyze_range_context {
	const char *name; /* ANALYZE_ALL_CONTEXTS: all together */
	uint32_t number; /* in the profile; not of ANALYZE_ALL_CONTEXTS */
	double samples; /* in the kernel, probes left out */
	/*
	 * On-CPU time less probe cost and interrupts, in ticks: what those samples are of. NAN where
	 * nobody timed the context as a whole.
	 */
	double sampled;
	double totals[ANALYZE_N_TIMES]; /* as of the context's own row */
};

struct analyze_ranges {
	vec_of(struct analyze_range, rows); /* by body, then context, the sum first */
	vec_of(struct analyze_range_context, contexts); /* by name */
	bool counted; /* samples are all instructions that there were */
	double tick; /* what one sample stands for where no context's time is known; NAN: unknown */
	struct analyze_bodies bodies;
	struct analyze_repetitions repetitions;
	struct alloc_texts locations;
};

void analyze_ranges_init(struct analyze_ranges *ranges, const struct profile *p,
			 const struct analyze_options *options);
void analyze_ranges_deinit(struct analyze_ranges *ranges);

/* Sort the timed ones first, then by falling total. */
void analyze_ranges_sort_by_total(struct analyze_ranges *ranges);
