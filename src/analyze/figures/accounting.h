/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Losses of a profile, and the balance of its calls: calls that the entry programs counted against frames that they
 * opened. docs/accounting.md defines the terms.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "profile/profile.h"

/* Sums over the probed runs; PROFILE_NOT_COUNTED where no run counted it. */
struct analyze_losses {
	uint64_t counts[PROFILE_N_LOSSES];
	uint64_t samples_expected, samples_received;
};

void analyze_losses_sum(struct analyze_losses *losses, const struct profile *p);

/* Return whether anything is known to be missing: a kind of loss that is counted and not 0. */
bool analyze_losses_any(const struct analyze_losses *losses);

/*
 * For each site whether its figures are not to be trusted: an array of n_sites for free(). The kernel skips a program of
 * ours that is in use on the CPU already (PROFILE_LOSS_PROBE_RECURSION, which does not say whose): mostly where an
 * interrupt hits it and calls the same function. Calls of functions that interrupts call too may then be missing, or one be
 * timed with what a lost one left open.
 */
bool *analyze_sites_skipped(const struct profile *p);

/* The caveat of a row of such a site. */
#define ANALYZE_CAVEAT_SKIPPED "calls skipped"
/* The caveats of what was not probed, or lost its probes: of all code of that name, or of part of it. */
#define ANALYZE_CAVEAT_UNCOUNTED "not counted"
#define ANALYZE_CAVEAT_PARTLY    "partly counted"

/*
 * Sums over the probed runs: entries = returned + closed_by_exit + open_at_end + return_missed +
 * too_deep + no_cell + detached + unaccounted.
 */
struct analyze_accounting {
	bool known; /* in all runs; otherwise entries and unaccounted mean nothing */
	uint64_t entries;
	uint64_t calls; /* in cells, of ranges excursions: returned and closed by exit */
	int64_t returned;
	uint64_t closed_by_exit, open_at_end, return_missed, too_deep, no_cell, detached;
	int64_t unaccounted; /* negative where more came of calls than were entered */
};

void analyze_accounting_init(struct analyze_accounting *a, const struct profile *p);
