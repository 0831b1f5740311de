// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/figures/accounting.h"

#include <string.h>

#include "base/alloc.h"

void analyze_losses_sum(struct analyze_losses *losses, const struct profile *p)
{
	for (uint32_t i = 0; i < PROFILE_N_LOSSES; i++)
		losses->counts[i] = PROFILE_NOT_COUNTED;
	losses->samples_expected = losses->samples_received = PROFILE_NOT_COUNTED;
	vec_each(const struct profile_run, r, p, runs) {
		if (r->kind == PROFILE_RUN_CONTROL)
			continue;
		for (uint32_t i = 0; i < PROFILE_N_LOSSES; i++)
			profile_count_add(&losses->counts[i], r->losses[i]);
		profile_count_add(&losses->samples_expected, r->samples_expected);
		profile_count_add(&losses->samples_received, r->samples_received);
	}
}

bool analyze_losses_any(const struct analyze_losses *losses)
{
	for (uint32_t i = 0; i < PROFILE_N_LOSSES; i++)
		if (!profile_loss_is_info(i) && losses->counts[i] &&
		    losses->counts[i] != PROFILE_NOT_COUNTED)
			return true;
	return false;
}

bool *analyze_sites_skipped(const struct profile *p)
{
	bool *skipped = alloc_array(p->n_sites, sizeof(*skipped));
	struct analyze_losses losses;
	uint64_t *count = &losses.counts[PROFILE_LOSS_PROBE_RECURSION];

	analyze_losses_sum(&losses, p);
	if (!*count || *count == PROFILE_NOT_COUNTED)
		return skipped;
	vec_each(const struct profile_cell, cell, p, cells)
		if (cell->stats.calls && p->sites[cell->site].kind == PROFILE_SITE_FUNCTION &&
		    profile_context_is(p, cell->context, PROFILE_CONTEXT_IRQ))
			skipped[cell->site] = true;
	return skipped;
}

/* Add RUN's count of LOSS to *SUM. If RUN did not count LOSS, clear A->known. */
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

	memset(a, 0, sizeof(*a));
	a->known = true;
	vec_each(const struct profile_run, run, p, runs) {
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
	for (uint32_t i = 0; i < p->n_cells; i++)
		if (p->runs[p->cells[i].run].kind != PROFILE_RUN_CONTROL)
			a->calls += profile_stats_observed(&p->cells[i].stats);
	a->returned = (int64_t)(a->calls - a->closed_by_exit);
	others = a->open_at_end + a->return_missed + a->too_deep + a->no_cell + a->detached;
	a->unaccounted = (int64_t)(a->entries - a->calls - others);
}
