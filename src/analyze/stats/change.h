/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Certainty of one row's change, from the repetitions (runs or boots) of both kernels: see docs/statistics.md. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "analyze/stats/sample.h"
#include "analyze/stats/statistics.h"

/* A change is "same" if it surely lies within this margin, in percent. */
#define ANALYZE_MARGIN_PCT 1.0

/* Certainty of a change of the mean per call. Values are in ticks, or in percent of the baseline's mean (_pct). NAN: unknown. */
struct analyze_change {
	double repetitions[2]; /* number of repetitions with calls; [0]: baseline */
	struct analyze_interval ci, ci_pct; /* 95 % intervals of the change */
	double plus_minus, plus_minus_pct; /* half of CI's width; the longer side of CI_PCT */
	double p_single, p; /* P is P_SINGLE adjusted for the number of rows */
	enum analyze_verdict verdict;
	enum analyze_verdict
		verdict_of_runs; /* VERDICT before UNDECIDED made it UNCLEAR; else NONE */
	double boots_needed; /* unclear verdict: repetitions per kernel that would decide */
	struct analyze_moments moments[2];
	/*
	 * Largest likely difference between the baseline and a control recording of the same kernel: the larger end of its 95 %
	 * interval, or without an interval the difference itself.
	 */
	double noise;
	bool under_noise; /* the change is at most NOISE */
};

extern const struct analyze_change analyze_change_none;

/* Set CHANGE's intervals and p-values from its MOMENTS. Its other members must still be those of analyze_change_none. */
void analyze_change_form(struct analyze_change *change);

/*
 * Judge all changes of a comparison: adjust p-values for the number of rows, and set verdicts. UNDECIDED makes verdicts "unclear",
 * since recordings may differ by more than their runs show. A later comparison with a control recording restores some verdicts.
 */
void analyze_changes_judge(struct analyze_change *const *changes, size_t n, double margin_pct,
			   bool undecided);
