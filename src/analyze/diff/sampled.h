/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Samples that two recordings took by one event: how many of it each function has itself, per run, and what repetitions say of that. */
#pragma once

#include "analyze/inline/stacks.h"
#include "analyze/stats/change.h"
#include "base/alloc.h"

struct analyze_sampled_row {
	struct analyze_leaf
		leaf; /* what is inlined into the function included; without frames: the sum of all */
	double totals[2]; /* events per run: samples times what one stands for */
	double delta, delta_pct;
	struct analyze_sample samples[2]; /* of which CHANGE is made */
	struct analyze_change change;
};

struct analyze_sampled_events {
	const char *event; /* NULL, without rows: the sides were not both sampled by it */
	/* The sum, then by falling change: those of the functions with most events. */
	vec_of(struct analyze_sampled_row, rows);
	struct alloc_texts texts;
};

/* A and B must outlive S. MARGIN_PCT and UNDECIDED as in analyze_events_init(). */
void analyze_sampled_events_init(struct analyze_sampled_events *s, const struct profile *a,
				 const struct profile *b, double margin_pct, bool undecided);
void analyze_sampled_events_deinit(struct analyze_sampled_events *s);
