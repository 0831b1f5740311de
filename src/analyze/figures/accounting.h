/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The losses of a profile, and the balance of its calls: calls counted by entry programs against the frames that these opened.
 * docs/accounting.md defines the terms.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "profile/profile.h"

/* Sums over the probed runs; PROFILE_NOT_COUNTED if no run counted it. */
struct analyze_losses {
	uint64_t counts[PROFILE_N_LOSSES];
	uint64_t samples_expected, samples_received;
};

void analyze_losses_sum(struct analyze_losses *losses, const struct profile *p);

/* Return whether a counted kind of loss is not 0. */
bool analyze_losses_any(const struct analyze_losses *losses);

/*
 * Return which sites have doubtful figures: an array of n_sites, for free(). The kernel skips a BPF program of ours that is
 * already in use on the CPU (PROFILE_LOSS_PROBE_RECURSION, which does not say of which site). Mostly an interrupt hits the
 * program and calls the same function. Calls of functions that interrupts also call may be missing, or be timed with the frame
 * that a lost call left open.
 */
bool *analyze_sites_skipped(const struct profile *p);

/* The caveat of a row whose site has skipped calls. */
#define ANALYZE_CAVEAT_SKIPPED "calls skipped"
/* The caveats of a name without probes, or with lost probes: in all of its code, in part of it. */
#define ANALYZE_CAVEAT_UNCOUNTED "not counted"
#define ANALYZE_CAVEAT_PARTLY    "partly counted"

/*
 * Sums over the probed runs: entries = returned + closed_by_exit + open_at_end + return_missed +
 * too_deep + no_cell + detached + unaccounted.
 */
struct analyze_accounting {
	bool known; /* in all runs; otherwise ENTRIES and UNACCOUNTED mean nothing */
	uint64_t entries;
	uint64_t calls; /* in cells: returned, and closed by exit; for ranges, excursions */
	int64_t returned;
	uint64_t closed_by_exit, open_at_end, return_missed, too_deep, no_cell, detached;
	int64_t unaccounted; /* negative: more calls ended than were entered */
};

void analyze_accounting_init(struct analyze_accounting *a, const struct profile *p);
