// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/blocks/counted.h"

#include <string.h>

#include "base/alloc.h"

void analyze_counted_init(struct analyze_counted *c, const struct profile *p)
{
	scoped_free bool *has_blocks = alloc_array(p->n_sites, sizeof(*has_blocks));

	*c = (struct analyze_counted){ .p = p, .trips_known = true };
	for (uint32_t i = 0; i < p->n_runs; i++) {
		uint64_t missing = p->runs[i].losses[PROFILE_LOSS_TRIPS_FULL];

		c->trips_known &= !missing || missing == PROFILE_NOT_COUNTED;
	}
	for (uint32_t i = 0; i < p->n_blocks; i++)
		has_blocks[p->blocks[i].site] = true;
	for (uint32_t i = 0; i < p->n_cells; i++)
		if (has_blocks[p->cells[i].site])
			grouped_add(&c->cells, p->cells[i].site, p->cells[i].context, i);
	for (uint32_t i = 0; i < p->n_block_counts; i++)
		grouped_add(&c->counts, p->block_counts[i].blocks, p->block_counts[i].context, i);
	for (uint32_t i = 0; i < p->n_paths; i++)
		grouped_add(&c->paths, p->paths[i].blocks, p->paths[i].context, i);
	for (uint32_t i = 0; i < p->n_trips; i++)
		grouped_add(&c->trips, p->trips[i].blocks, p->trips[i].context, i);
	grouped_sort(&c->cells);
	grouped_sort(&c->counts);
	grouped_sort(&c->paths);
	grouped_sort(&c->trips);
}

void analyze_counted_deinit(struct analyze_counted *c)
{
	grouped_deinit(&c->cells);
	grouped_deinit(&c->counts);
	grouped_deinit(&c->paths);
	grouped_deinit(&c->trips);
}

bool analyze_counted_has(const struct analyze_counted *c, uint32_t blocks, uint32_t context)
{
	uint32_t n;

	grouped_find(&c->counts, blocks, context, &n);
	return n;
}

uint64_t analyze_counted_sum(const struct analyze_counted *c, uint32_t blocks, uint32_t context,
			     uint64_t *counts, double *residual)
{
	uint32_t n_items = c->p->blocks[blocks].n_items, n, i, b;
	const struct grouped_item *items = grouped_find(&c->counts, blocks, context, &n);
	uint64_t calls = 0, most = 0;

	memset(counts, 0, n_items * sizeof(*counts));
	for (i = 0; i < n; i++) {
		const struct profile_block_counts *one = &c->p->block_counts[items[i].item];

		calls += one->calls;
		most = one->residual > most ? one->residual : most;
		for (b = 0; b < n_items; b++)
			if (one->counts[b] == PROFILE_NOT_COUNTED ||
			    counts[b] == PROFILE_NOT_COUNTED)
				counts[b] = PROFILE_NOT_COUNTED;
			else
				counts[b] += one->counts[b];
	}
	if (residual)
		*residual = (double)most;
	return calls;
}

struct profile_stats analyze_counted_calls(const struct analyze_counted *c, uint32_t blocks,
					   uint32_t context)
{
	uint32_t n;
	const struct grouped_item *items =
		grouped_find(&c->cells, c->p->blocks[blocks].site, context, &n);
	struct profile_stats sum;

	profile_stats_init(&sum);
	for (uint32_t i = 0; i < n; i++) {
		const struct profile_stats *one = &c->p->cells[items[i].item].stats;

		sum.calls += one->calls;
		sum.oncpu += one->oncpu;
		sum.cost += one->cost;
		sum.self = (int64_t)((uint64_t)sum.self + (uint64_t)one->self);
	}
	return sum;
}
