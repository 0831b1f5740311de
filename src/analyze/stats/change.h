/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The certainty of one row's difference, from the repetitions of both sides: docs/statistics.md. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "analyze/stats/sample.h"
#include "analyze/stats/statistics.h"

/* In percent: differences within it are "same" if they significantly are. */
#define ANALYZE_MARGIN_PCT 1.0

/* Figures of the mean per call, in ticks or, if the name says so, in percent of the baseline's. NAN: not known. */
struct analyze_change {
	double repetitions[2]; /* that have calls of the row */
	struct analyze_interval ci, ci_pct; /* 95 % */
	double plus_minus, plus_minus_pct; /* as far as these reach from the difference at most */
	double p_single, p; /* p is adjusted for the number of rows */
	enum analyze_verdict verdict;
	enum analyze_verdict
		verdict_of_runs; /* what runs alone would say where they are not enough */
	double boots_needed; /* where unclear: repetitions per side that would settle it */
	struct analyze_moments moments[2];
	/*
	 * By how much the baseline and a control of the same kernel may differ in this row: as far as
	 * the 95 % interval of that difference reaches from 0, without one the difference itself.
	 */
	double noise;
	bool under_noise; /* the difference is not larger */
};

extern const struct analyze_change analyze_change_none;

/* Set the rest of CHANGE, which is otherwise analyze_change_none, from the moments of both sides. */
void analyze_change_form(struct analyze_change *change);

/*
 * All rows of one comparison: adjusts p for their number, and says what they come to. UNDECIDED: it rests on runs of one
 * recording each, so that all verdicts are "unclear"; a control that differs less than a row does gives its verdict back.
 */
void analyze_changes_judge(struct analyze_change *const *changes, size_t n, double margin_pct,
			   bool undecided);
