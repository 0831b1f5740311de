/* SPDX-License-Identifier: GPL-2.0-or-later */
/* How sure a change is that was counted in several boots of each kernel: docs/why.md. */
#pragma once

#include "analyze/stats/statistics.h"

/* A change that one kernel shows against itself as often as that, in any context, is not worth a word. */
#define WHY_UNLIKELY 0.5

struct why_doubt {
	double squares
		[2]; /* sum over a side's runs: what each differs from their mean by, squared */
	double waits; /* instructions of scheduling, whose sizes are added: when a task has to wait is a matter of timing */
	struct analyze_interval ci; /* of the change; NAN: one run on a side */
	double p; /* that one kernel shows as much against itself in any of what was looked at; NAN likewise */
};

enum why_sureness {
	WHY_CHANCE,
	WHY_LIKELY, /* or not known, with one run on a side */
	WHY_SURE, /* the interval excludes 0 */
};

/*
 * What squares say of DELTA, a difference of means of RUNS on each side. COMMON: standard deviation of what all runs may
 * have besides, which so few do not show. LOOKED_AT: of so many this is one; level and p are corrected for it.
 */
void why_doubt_judge(struct why_doubt *d, double delta, const uint32_t runs[2], double common,
		     double looked_at);

/* What one kernel may differ from itself by: half the interval's width. NAN: not known. */
double why_doubt_noise(const struct why_doubt *d);

enum why_sureness why_doubt_sureness(const struct why_doubt *d);
