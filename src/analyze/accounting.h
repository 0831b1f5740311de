/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Whether every call that was entered is accounted for: what the entry programs counted against what
 * came of the frames they opened. docs/accounting.md defines the terms.
 */
#ifndef KPROTPERF_ANALYZE_ACCOUNTING_H
#define KPROTPERF_ANALYZE_ACCOUNTING_H

#include <stdbool.h>
#include <stdint.h>

#include "profile/profile.h"

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

/* "entered 3 = returned 2 + …", to be freed by the caller. */
char *analyze_accounting_text(const struct analyze_accounting *a);

#endif
