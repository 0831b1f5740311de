/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The certainty of one row's difference, from the repetitions of both sides: docs/statistics.md. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "analyze/stats/sample.h"
#include "analyze/stats/statistics.h"

/* Differences that are significantly within this margin, in percent, are "same". */
#define ANALYZE_MARGIN_PCT 1.0

/* Figures of the mean per call, in ticks, or in percent of the baseline's mean if the name says so. NAN: unknown. */
struct analyze_change {
	double repetitions[2]; /* number of repetitions with calls of the row, by side */
	struct analyze_interval ci, ci_pct; /* 95 % */
	double plus_minus, plus_minus_pct; /* half of CI; the longer side of CI_PCT */
	double p_single, p; /* p is adjusted for the number of rows */
	enum analyze_verdict verdict;
	enum analyze_verdict
		verdict_of_runs; /* if runs do not decide VERDICT: the verdict that they would give; else NONE */
	double boots_needed; /* for unclear verdicts: the repetitions per side that would decide */
	struct analyze_moments moments[2];
	/*
	 * The largest likely difference in this row between the baseline and a control of the same kernel: the larger end of the
	 * 95 % interval of that difference, or without an interval the difference itself.
	 */
	double noise;
	bool under_noise; /* the difference is not larger than NOISE */
};

extern const struct analyze_change analyze_change_none;

/* Set CHANGE's intervals and p-values from its MOMENTS. All other members must be those of analyze_change_none. */
void analyze_change_form(struct analyze_change *change);

/*
 * Judge all rows of one comparison: adjust p for their number, and set verdicts. UNDECIDED: recordings may differ by more than
 * their runs show, so verdicts are "unclear". A diff restores a row's verdict if its control differs less than the row.
 */
void analyze_changes_judge(struct analyze_change *const *changes, size_t n, double margin_pct,
			   bool undecided);
