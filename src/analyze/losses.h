/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What is missing from a profile, and what else must be said before its figures. */
#ifndef KPROTPERF_ANALYZE_LOSSES_H
#define KPROTPERF_ANALYZE_LOSSES_H

#include <stdbool.h>
#include <stdint.h>

#include "profile/profile.h"

/* Sums over the probed runs; PROFILE_NOT_COUNTED where no run counted it. */
struct analyze_losses {
	uint64_t counts[PROFILE_N_LOSSES];
	uint64_t samples_expected, samples_received;
};

void analyze_losses_sum(struct analyze_losses *losses, const struct profile *p);

/* Whether anything is known to be missing: a LOSS kind that is counted and not 0. */
bool analyze_losses_any(const struct analyze_losses *losses);

/* Sentences, without "warning:" before or a full stop behind; escaped, so safe on a terminal. */
struct analyze_warnings {
	char **texts;
	uint32_t n_texts, cap_texts;
	uint32_t n_invalidating; /* the first so many: other things differ than the kernels */
};

void analyze_warnings_add(struct analyze_warnings *w, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
/* The same in front of those that do not invalidate. */
void analyze_warnings_invalidate(struct analyze_warnings *w, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
void analyze_warnings_deinit(struct analyze_warnings *w);

/*
 * Adds what a reader of P must know first: losses, calls not accounted for, functions detached, runs that failed, and
 * unless RAW, where nothing is subtracted, times that are below zero and costs that are not known.
 * SIDE is put in front of each, as "baseline: "; "" for none.
 */
void analyze_warnings_of_profile(struct analyze_warnings *w, const struct profile *p,
				 const char *side, bool raw);

#endif
