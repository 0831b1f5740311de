/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sum up lost measurements of a profile, and check that each call that entered a function was either recorded or lost for a known
 * reason. docs/accounting.md defines the terms.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "profile/profile.h"

/* Lost measurements, summed over the probed runs. PROFILE_NOT_COUNTED: no run counted this kind of loss. */
struct analyze_losses {
	uint64_t counts[PROFILE_N_LOSSES];
	uint64_t samples_expected, samples_received;
};

void analyze_losses_sum(struct analyze_losses *losses, const struct profile *p);

/* Return whether any measurement was lost. Ignore counts that only inform (profile_loss_is_info()). */
bool analyze_losses_any(const struct analyze_losses *losses);

/*
 * Return an array for free() with one element per function: true if interrupts call the function and calls may have been skipped.
 * The kernel skips a BPF program that already runs on the CPU. It counts the skips (PROFILE_LOSS_PROBE_RECURSION), but not per
 * function. Most skips happen when an interrupt hits the program and calls the same function. Such functions may lack calls, or
 * have wrong times.
 */
bool *analyze_sites_skipped(const struct profile *p);

/* Remark on a function of which the kernel may not have run the probes in some calls. */
#define ANALYZE_CAVEAT_SKIPPED "calls skipped"
/* Remarks on a function with refused or lost probes: none of its calls, or only a part, were counted. */
#define ANALYZE_CAVEAT_UNCOUNTED "not counted"
#define ANALYZE_CAVEAT_PARTLY    "partly counted"

/*
 * Sums over the probed runs. They balance: entries = returned + closed_by_exit + open_at_end + return_missed + too_deep + no_cell
 * + detached + unaccounted.
 */
struct analyze_accounting {
	bool known; /* false: a run lacks one of the counts; ENTRIES and UNACCOUNTED are invalid */
	uint64_t entries;
	uint64_t calls; /* recorded calls: RETURNED + CLOSED_BY_EXIT */
	int64_t returned;
	uint64_t closed_by_exit, open_at_end, return_missed, too_deep, no_cell, detached;
	int64_t unaccounted; /* negative: more calls ended than entered */
};

void analyze_accounting_init(struct analyze_accounting *a, const struct profile *p);
