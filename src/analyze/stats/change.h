/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Compute how certain a row's change is, from the repetitions (runs or boots) of both kernels. See docs/statistics.md. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "analyze/stats/sample.h"
#include "analyze/stats/statistics.h"

/* A change is "same" if it surely lies within this margin, in percent. */
#define ANALYZE_MARGIN_PCT 1.0

/* The certainty of a change of the mean per call. Values are in ticks, or (_pct) in percent of the baseline's mean, or NAN. */
struct analyze_change {
	double repetitions[2]; /* baseline's and hardened kernel's repetitions with calls */
	struct analyze_interval ci, ci_pct; /* 95 % intervals of the change */
	double plus_minus, plus_minus_pct; /* half of CI's length; distance to CI_PCT's far end */
	double p_single, p; /* P is P_SINGLE adjusted for the number of rows */
	enum analyze_verdict verdict;
	enum analyze_verdict
		verdict_of_runs; /* VERDICT before UNDECIDED changed it to UNCLEAR; else NONE */
	double boots_needed; /* if UNCLEAR: repetitions per kernel for a clear verdict */
	struct analyze_moments moments[2];
	/*
	 * Largest likely difference between the baseline and a control recording of the same kernel. It is the larger end of the
	 * difference's 95 % interval, or the difference itself if the interval is unknown.
	 */
	double noise;
	bool under_noise; /* the change is at most NOISE */
};

extern const struct analyze_change analyze_change_none;

/* Set CHANGE's intervals and p-values from its MOMENTS. Its other members must still be those of analyze_change_none. */
void analyze_change_form(struct analyze_change *change);

/*
 * Judge all changes of a comparison: adjust p-values for the number of rows, and set verdicts. If UNDECIDED, recordings may differ
 * by more than their runs show, so make verdicts "unclear". analyze_diff_control() may later restore some of them.
 */
void analyze_changes_judge(struct analyze_change *const *changes, size_t n, double margin_pct,
			   bool undecided);
