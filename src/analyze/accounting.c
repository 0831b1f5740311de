// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/accounting.h"

#include <string.h>

#include "base/alloc.h"
#include "output/number.h"

/* Adds LOSS of a run to *SUM; where it was not counted, nothing can be balanced. */
static void add(struct analyze_accounting *a, uint64_t *sum, const struct profile_run *run,
		enum profile_loss loss)
{
	if (run->losses[loss] == PROFILE_NOT_COUNTED)
		a->known = false;
	else
		*sum += run->losses[loss];
}

void analyze_accounting_init(struct analyze_accounting *a, const struct profile *p)
{
	bool probed = false;
	uint64_t others;
	uint32_t i;

	memset(a, 0, sizeof(*a));
	a->known = true;
	for (i = 0; i < p->n_runs; i++) {
		const struct profile_run *run = &p->runs[i];

		if (run->kind == PROFILE_RUN_CONTROL)
			continue;
		add(a, &a->entries, run, PROFILE_INFO_ENTRIES);
		add(a, &a->closed_by_exit, run, PROFILE_INFO_CLOSED_BY_EXIT);
		add(a, &a->open_at_end, run, PROFILE_INFO_OPEN_AT_END);
		add(a, &a->return_missed, run, PROFILE_LOSS_ENTRY_WITHOUT_RETURN);
		add(a, &a->too_deep, run, PROFILE_LOSS_DEPTH_EXCEEDED);
		add(a, &a->no_cell, run, PROFILE_LOSS_CELLS_FULL);
		add(a, &a->detached, run, PROFILE_LOSS_DETACHED);
		probed = true;
	}
	a->known &= probed;
	for (i = 0; i < p->n_cells; i++)
		if (p->runs[p->cells[i].run].kind != PROFILE_RUN_CONTROL)
			a->calls += profile_stats_observed(&p->cells[i].stats);
	a->returned = (int64_t)(a->calls - a->closed_by_exit);
	others = a->open_at_end + a->return_missed + a->too_deep + a->no_cell + a->detached;
	a->unaccounted = (int64_t)(a->entries - a->calls - others);
}

char *analyze_accounting_text(const struct analyze_accounting *a)
{
	char buf[10][OUTPUT_NUMBER_MAX];

#define NUMBER(i, n) output_number(buf[i], OUTPUT_COUNT, (double)(n), PROFILE_CLOCK_NS)
	return alloc_printf(
		"entered %s = returned %s + closed by exit %s + open at end %s + return missed %s + "
		"not timed %s (nested too deep %s, no cell %s, detached %s) + unaccounted %s",
		a->known ? NUMBER(0, a->entries) : "(not counted)", NUMBER(1, a->returned),
		NUMBER(2, a->closed_by_exit), NUMBER(3, a->open_at_end),
		NUMBER(4, a->return_missed), NUMBER(5, a->too_deep + a->no_cell + a->detached),
		NUMBER(6, a->too_deep), NUMBER(7, a->no_cell), NUMBER(8, a->detached),
		a->known ? NUMBER(9, a->unaccounted) : "(not known)");
#undef NUMBER
}
