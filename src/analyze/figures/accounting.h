/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The losses of a profile, and the balance of its calls: calls counted by entry programs against the frames that these opened.
 * docs/accounting.md defines the terms.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "profile/profile.h"

/* Losses, summed over the probed runs. A loss that no run counted is PROFILE_NOT_COUNTED. */
struct analyze_losses {
	uint64_t counts[PROFILE_N_LOSSES];
	uint64_t samples_expected, samples_received;
};

void analyze_losses_sum(struct analyze_losses *losses, const struct profile *p);

/* Return whether any loss was counted. Counts that only inform (profile_loss_is_info()) are not losses. */
bool analyze_losses_any(const struct analyze_losses *losses);

/*
 * Return an array with an element per site, for free(): whether figures of the site are doubtful. The kernel skips a BPF
 * program of ours that already runs on the CPU; it counts such skips (PROFILE_LOSS_PROBE_RECURSION), but not per site. Most
 * skips occur when an interrupt hits the program and calls the same function. So functions that interrupts call may lack calls,
 * or a call may be timed with the frame that a skipped call left open.
 */
bool *analyze_sites_skipped(const struct profile *p);

/* The caveat of a row whose site has skipped calls. */
#define ANALYZE_CAVEAT_SKIPPED "calls skipped"
/* The caveats of a function name that has sites without probes or with lost probes: no calls were counted, or only a part. */
#define ANALYZE_CAVEAT_UNCOUNTED "not counted"
#define ANALYZE_CAVEAT_PARTLY    "partly counted"

/*
 * Sums over the probed runs: entries = returned + closed_by_exit + open_at_end + return_missed +
 * too_deep + no_cell + detached + unaccounted.
 */
struct analyze_accounting {
	bool known; /* all runs counted all terms; otherwise ENTRIES and UNACCOUNTED mean nothing */
	uint64_t entries;
	uint64_t calls; /* in cells: returned or closed by exit; for inlined bodies, excursions */
	int64_t returned;
	uint64_t closed_by_exit, open_at_end, return_missed, too_deep, no_cell, detached;
	int64_t unaccounted; /* negative: more calls ended than were entered */
};

void analyze_accounting_init(struct analyze_accounting *a, const struct profile *p);
