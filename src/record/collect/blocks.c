// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/collect/collect.h"

#include <linux/types.h>

#include "base/alloc.h"
#include "kprotperf/engine.h"
#include "record/engine/engine.h"

struct drain {
	const struct record_blocks *blocks;
	const struct record_engine *e;
	struct record_engine_maps maps;
	struct profile *p;
	uint32_t run;
};

/* Return the number of hits of PROBE in context CTX. */
static uint64_t hits_of(const struct drain *d, uint32_t probe, uint32_t ctx)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < d->maps.n_block_shards; i++)
		sum += d->maps.block_counts[((size_t)i * d->maps.n_block_probes + probe) *
						    ENGINE_CONTEXTS +
					    ctx];
	return sum;
}

/* The counts of F in context CTX, in which it was called CALLS times. */
static void drain_context(const struct drain *d, const struct record_block_function *f,
			  uint32_t ctx, uint32_t context, uint64_t calls)
{
	scoped_free int64_t *measured = alloc_array(f->n_blocks, sizeof(*measured));
	struct profile_block_counts *out;
	scoped(kernel_counts_clear) struct kernel_counts counts;

	for (uint32_t b = 0; b < f->n_blocks; b++)
		measured[b] = KERNEL_COUNT_UNKNOWN;
	for (uint32_t k = 0; k < f->plan.n_probes; k++) {
		uint32_t probe = f->first_point + k;

		if (d->blocks->points[probe].link >= 0 && !d->blocks->points[probe].lost)
			measured[f->plan.probes[k].block] = (int64_t)hits_of(d, probe, ctx);
	}
	kernel_blocks_solve(&f->plan.graph, measured, (int64_t)calls, &counts);
	out = profile_block_counts(d->p, d->run, f->counted, context);
	out->calls = calls;
	out->residual = counts.residual;
	for (uint32_t b = 0; b < f->n_blocks; b++)
		out->counts[b] = !f->blocks[b].reached ? 0 :
				 counts.blocks[b] >= 0 ? (uint64_t)counts.blocks[b] :
							 PROFILE_NOT_COUNTED;
}

static bool is_counted(const struct drain *d, const struct record_block_function *f, uint32_t ctx)
{
	for (uint32_t k = 0; k < f->plan.n_probes; k++)
		if (hits_of(d, f->first_point + k, ctx))
			return true;
	return false;
}

static uint64_t calls_of(const struct drain *d, uint32_t site, uint32_t context)
{
	vec_each(const struct profile_cell, c, d->p, cells)
		if (c->run == d->run && c->site == site && c->context == context)
			return c->stats.calls;
	return 0;
}

static void drain_function(const struct drain *d, const struct record_block_function *f)
{
	for (uint32_t ctx = 0; ctx < ENGINE_CONTEXTS; ctx++) {
		bool counted = is_counted(d, f, ctx);
		uint32_t context;
		uint64_t calls;

		if (!counted && !d->maps.cell_of[ENGINE_KEY((size_t)f->site, ctx)])
			continue;
		context = record_context_add(d->p, ctx);
		calls = calls_of(d, f->site, context);
		if (counted || calls)
			drain_context(d, f, ctx, context, calls);
	}
}

/* Add the hits of probes, and the cost subtracted for them. */
static void drain_hits(const struct drain *d)
{
	uint64_t *losses = d->p->runs[d->run].losses, hits = 0;
	double cost = 0;

	for (uint32_t i = 0; i < d->blocks->n_points; i++) {
		uint64_t of = 0;

		for (uint32_t ctx = 0; d->blocks->points[i].link >= 0 && ctx < ENGINE_CONTEXTS;
		     ctx++)
			of += hits_of(d, i, ctx);
		hits += of;
		cost += (double)of * d->blocks->hit_costs[i];
	}
	losses[PROFILE_INFO_BLOCK_HITS] = hits;
	losses[PROFILE_INFO_BLOCK_COST] = (uint64_t)cost;
}

void record_blocks_drain(const struct record_blocks *blocks, const struct record_engine *e,
			 struct profile *p, uint32_t run)
{
	struct drain d = { .blocks = blocks, .e = e, .p = p, .run = run };

	record_engine_maps(e, &d.maps);
	for (uint32_t i = 0; i < blocks->n_items; i++)
		drain_function(&d, &blocks->items[i]);
	drain_hits(&d);
}
