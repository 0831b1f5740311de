/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sum up lost measurements of a profile. Check that each call of a function was recorded, or lost for a known reason.
 * docs/accounting.md defines the terms.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "profile/profile.h"

/* Lost measurements, summed over the probed runs. PROFILE_NOT_COUNTED: no run has a count of this kind of loss. */
struct analyze_losses {
	uint64_t counts[PROFILE_N_LOSSES];
	uint64_t samples_expected, samples_received;
};

void analyze_losses_sum(struct analyze_losses *losses, const struct profile *p);

/* Return whether any measurement was lost. Ignore counts of other events than losses (profile_loss_is_info()). */
bool analyze_losses_any(const struct analyze_losses *losses);

/*
 * Return an array for free() with one element per function: true if an interrupt called the function and the kernel skipped any
 * probes. The kernel skips a BPF program that already runs on the CPU. It counts the skipped programs, but not per function
 * (PROFILE_LOSS_PROBE_RECURSION). Most often, an interrupt arrives during the program and calls the same function. The profile may
 * then lack calls of this function, or have wrong times.
 */
bool *analyze_sites_skipped(const struct profile *p);

/* Remark on a function: in some calls, the kernel may have skipped the probes (analyze_sites_skipped()). */
#define ANALYZE_CAVEAT_SKIPPED "calls skipped"
/* Remarks on a function whose probes were refused or lost: its calls were not counted, or only some of them. */
#define ANALYZE_CAVEAT_UNCOUNTED "not counted"
#define ANALYZE_CAVEAT_PARTLY    "partly counted"

/*
 * Sums over the probed runs. UNACCOUNTED is set so that: entries = returned + closed_by_exit + open_at_end + return_missed +
 * too_deep + no_cell + detached + unaccounted.
 */
struct analyze_accounting {
	bool known; /* false: a run lacks a count, so ENTRIES and UNACCOUNTED are invalid */
	uint64_t entries;
	uint64_t calls; /* recorded calls: RETURNED + CLOSED_BY_EXIT */
	int64_t returned;
	uint64_t closed_by_exit, open_at_end, return_missed, too_deep, no_cell, detached;
	int64_t unaccounted; /* negative: more calls ended than entered */
};

void analyze_accounting_init(struct analyze_accounting *a, const struct profile *p);
