// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/collect/collect.h"

#include <linux/types.h>

#include "base/alloc.h"
#include "kprotperf/engine.h"
#include "record/cost/cold.h"
#include "record/engine/engine.h"

struct drain {
	const struct record_blocks *blocks;
	const struct record_engine *e;
	struct record_engine_maps maps;
	struct profile *p;
	uint32_t run;
};

/* How often PROBE was hit in context CTX. */
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

		if (d->blocks->points[probe].link >= 0)
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

static const struct record_block_function *function_of(const struct record_blocks *blocks,
						       uint32_t site)
{
	for (uint32_t i = 0; i < blocks->n_items; i++)
		if (blocks->items[i].site == site)
			return &blocks->items[i];
	return NULL;
}

/* The part of the time of SITE's calls in CTX that interrupts in the probes of its blocks make up. */
static double excess_of(const struct drain *d, uint32_t key, uint64_t inner)
{
	const uint32_t first = d->maps.cell_of[key], n = d->maps.n_shards;
	const struct engine_cell *cell = &d->maps.cells[first];
	double share = record_engine_interrupts(d->e), time = 0;

	if (!first || first / n > d->maps.n_cells)
		return 0;
	for (uint32_t i = 0; i < n; i++)
		time += (double)(cell[i].wall - cell[i].excluded);
	return time > 0 ? (double)record_uninterrupted_excess(cell, n, inner, share) / time : 0;
}

static void drain_paths(const struct drain *d)
{
	vec_each(const struct engine_path, from, &d->maps, paths) {
		uint32_t site = from->key / ENGINE_CONTEXTS, ctx = from->key % ENGINE_CONTEXTS;
		const struct record_block_function *f = function_of(d->blocks, site);
		struct profile_path path = {
			.run = d->run,
			.signature = from->signature,
			.calls = from->calls,
		};
		uint64_t inner;

		if (!from->hash || !from->calls || !f)
			continue;
		inner = record_engine_inner_cost(d->e, site, d->p->sites[site].mech);
		path.blocks = f->counted;
		path.context = record_context_add(d->p, ctx);
		path.time = (int64_t)(from->time - from->calls * inner) -
			    (int64_t)((double)from->time * excess_of(d, from->key, inner));
		for (int k = 0; k < PROFILE_TRIPS; k++)
			path.trips[k] = from->trips[k];
		vec_push(d->p, paths, path);
	}
}

static void drain_trips(const struct drain *d)
{
	vec_each(const struct engine_trips, from, &d->maps, trips) {
		uint32_t key = ENGINE_TRIPS_KEY(from->id);
		const struct record_block_function *f =
			from->id ? function_of(d->blocks, key / ENGINE_CONTEXTS) : NULL;
		struct profile_trips trips = {
			.run = d->run,
			.counter = ENGINE_TRIPS_LOOP(from->id),
			.slot = ENGINE_TRIPS_SLOT(from->id),
			.calls = from->calls,
		};

		if (!f || !from->calls)
			continue;
		trips.blocks = f->counted;
		trips.context = record_context_add(d->p, key % ENGINE_CONTEXTS);
		vec_push(d->p, trips, trips);
	}
}

/* How often probes were hit, and what that was taken to cost. */
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
	drain_paths(&d);
	drain_trips(&d);
	drain_hits(&d);
}
