// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Blocks counted: their probes put into the kernel, and what these count made into a profile's counts.
 */
#include <errno.h>
#include <linux/types.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "kprotperf/engine.h"
#include "record/block.h"
#include "record/engine.h"
#include "record/quiet.h"
#include "record/syscalls.h"
#include "record/workload.h"

/*
 * What path_close() takes around its readings of the clock, in instructions: what a caller's self time was too
 * high by for each call of such a function. On a real clock that is a few nanoseconds.
 */
#define PATH_INSNS 24

void record_blocks_add(struct record_blocks *blocks, struct profile *p)
{
	for (uint32_t i = 0; i < blocks->n_items; i++) {
		struct record_block_function *f = &blocks->items[i];
		struct profile_blocks counted = { .site = f->site, .entry = f->plan.graph.entry };

		for (uint32_t b = 0; b < f->n_blocks; b++) {
			const struct symbol_block *block = &f->blocks[b];
			struct profile_block item = {
				.addr = block->start,
				.bytes = block->end - block->start,
				.insns = block->n_insns,
				.reached = block->reached,
				.location = profile_location_add(p, block->start, NULL),
				.bit = PROFILE_NO_BIT,
				.counter = PROFILE_NO_BIT,
				.callee = profile_intern(p, f->called[b]),
			};

			vec_push(&counted, items, item);
		}
		for (uint32_t k = 0; k < f->plan.n_probes; k++) {
			const struct symbol_block_probe *probe = &f->plan.probes[k];

			counted.items[probe->block].bit = probe->bit;
			counted.items[probe->block].counter = probe->counter;
		}
		for (uint32_t a = 0; a < f->plan.graph.n_arcs; a++) {
			struct profile_arc arc = { f->plan.graph.arcs[a].from,
						   f->plan.graph.arcs[a].to };

			vec_push(&counted, arcs, arc);
		}
		f->counted = profile_blocks_add(p, &counted);
	}
}

int record_blocks_arm(struct record_blocks *blocks, struct record_engine *e, uint64_t stext)
{
	struct record_points *points = record_engine_points(e);

	for (uint32_t i = 0; i < blocks->n_points; i++) {
		struct record_point *p = &blocks->points[i];
		int err;

		log_progress("placing %u of %u probes of blocks", i + 1, blocks->n_points);
		if (record_workload_interrupted())
			return -EINTR;
		err = record_point_arm(points, p);
		if (err)
			log_verbose(1,
				    "the kernel refuses the probe of a block at _stext+0x%lx: %s",
				    (unsigned long)(p->addr - stext), log_strerror(err));
	}
	log_progress_end();
	return 0;
}

/* Tells the engine what probe I, of the function F, is to do, and lets it begin. */
static int link_point(struct record_blocks *blocks, struct record_engine *e,
		      const struct record_block_function *f, uint32_t i,
		      const struct record_range_costs *costs)
{
	const struct symbol_block_probe *probe = &f->plan.probes[i - f->first_point];
	struct record_point *p = &blocks->points[i];
	double cost = record_range_cost_block(costs, p->kind) + p->extra + p->extra_tail;
	struct engine_block block = {
		.key = ENGINE_KEY(f->site, 0),
		.cost = (uint32_t)cost,
		.fraction = (uint32_t)((cost - (uint32_t)cost) * (1 << ENGINE_BLOCK_FRACTION)),
		.hop = costs->kinds[ENGINE_RANGE_OPTIMIZED].hop,
	};

	blocks->hit_costs[i] = cost;
	block.full = UINT64_MAX;
	if (probe->bit != SYMBOL_NO_BIT)
		block.bit = 1ull << probe->bit;
	if (probe->counter != SYMBOL_NO_BIT) {
		block.turn = 1ull << 16 * probe->counter;
		block.full = 0xffffull << 16 * probe->counter;
	}
	if (p->event < 0)
		return -ENOENT;
	return record_engine_set_block(e, i, &block) ?:
						       record_point_link(record_engine_points(e), p);
}

/* How many could not be linked. */
static uint32_t link_all(struct record_blocks *blocks, struct record_engine *e,
			 const struct record_range_costs *costs)
{
	uint32_t refused = 0;

	for (uint32_t i = 0; i < blocks->n_items; i++) {
		const struct record_block_function *f = &blocks->items[i];

		for (uint32_t k = 0; k < f->plan.n_probes; k++) {
			struct record_point *p = &blocks->points[f->first_point + k];

			if (link_point(blocks, e, f, f->first_point + k, costs)) {
				record_point_disarm(p);
				refused++;
			}
		}
	}
	return refused;
}

static void say_attached(const struct record_blocks *blocks, uint64_t start)
{
	uint32_t jumps = 0;

	for (uint32_t i = 0; i < blocks->n_points; i++)
		jumps += blocks->points[i].kind == ENGINE_RANGE_OPTIMIZED;
	log_verbose(1,
		    "%u probes of blocks: %u by a jump, %u by a breakpoint; settling them took "
		    "%.1f ms",
		    blocks->n_points, jumps, blocks->n_points - jumps, (clock_ns() - start) / 1e6);
}

void record_blocks_attach(struct record_blocks *blocks, struct record_engine *e,
			  enum profile_clock clock, const struct record_range_costs *costs)
{
	uint64_t start = clock_ns();
	uint32_t left;

	if (clock == PROFILE_CLOCK_INSN)
		record_engine_set_path_rest(e, PATH_INSNS);
	free(blocks->hit_costs);
	blocks->hit_costs = alloc_array(blocks->n_points, sizeof(*blocks->hit_costs));
	left = record_points_settle(record_engine_points(e), blocks->points, blocks->n_points);
	if (left)
		log_verbose(1,
			    "%u probes of blocks that the kernel's optimizer might take stay "
			    "breakpoints",
			    left);
	if (clock == PROFILE_CLOCK_INSN)
		record_points_find_extra(record_engine_points(e), blocks->points, blocks->n_points);
	left = link_all(blocks, e, costs);
	if (left)
		log_note("the kernel refuses %u of %u probes of blocks: some counts stay unknown "
			 "(-v lists them)",
			 left, blocks->n_points);
	say_attached(blocks, start);
}

void record_blocks_detach(struct record_blocks *blocks)
{
	for (uint32_t i = 0; i < blocks->n_points; i++) {
		log_progress("detaching %u of %u probes of blocks", i + 1, blocks->n_points);
		record_point_disarm(&blocks->points[i]);
	}
	log_progress_end();
}

/* The counts of F in context CTX, in which it was called CALLS times. */
static void drain_context(const struct record_blocks *blocks, const struct record_engine *e,
			  const struct record_block_function *f, struct profile *p, uint32_t run,
			  uint32_t ctx, uint32_t context, uint64_t calls)
{
	int64_t *measured = alloc_array(f->n_blocks, sizeof(*measured));
	struct profile_block_counts *out;
	struct symbol_counts counts;

	for (uint32_t b = 0; b < f->n_blocks; b++)
		measured[b] = SYMBOL_COUNT_UNKNOWN;
	for (uint32_t k = 0; k < f->plan.n_probes; k++) {
		uint32_t probe = f->first_point + k;

		if (blocks->points[probe].link >= 0)
			measured[f->plan.probes[k].block] =
				(int64_t)record_engine_block_count(e, probe, ctx);
	}
	symbol_blocks_solve(&f->plan.graph, measured, (int64_t)calls, &counts);
	out = profile_block_counts(p, run, f->counted, context);
	out->calls = calls;
	out->residual = counts.residual;
	for (uint32_t b = 0; b < f->n_blocks; b++)
		out->counts[b] = !f->blocks[b].reached ? 0 :
				 counts.blocks[b] >= 0 ? (uint64_t)counts.blocks[b] :
							 PROFILE_NOT_COUNTED;
	symbol_counts_clear(&counts);
	free(measured);
}

static bool is_counted(const struct record_engine *e, const struct record_block_function *f,
		       uint32_t ctx)
{
	for (uint32_t k = 0; k < f->plan.n_probes; k++)
		if (record_engine_block_count(e, f->first_point + k, ctx))
			return true;
	return false;
}

static uint64_t calls_of(const struct profile *p, uint32_t run, uint32_t site, uint32_t context)
{
	for (uint32_t i = 0; i < p->n_cells; i++)
		if (p->cells[i].run == run && p->cells[i].site == site &&
		    p->cells[i].context == context)
			return p->cells[i].stats.calls;
	return 0;
}

static void drain_function(const struct record_blocks *blocks, const struct record_engine *e,
			   const struct record_block_function *f, struct profile *p, uint32_t run)
{
	struct record_engine_maps maps;

	record_engine_maps(e, &maps);
	for (uint32_t ctx = 0; ctx < ENGINE_CONTEXTS; ctx++) {
		bool counted = is_counted(e, f, ctx);
		uint32_t context;
		uint64_t calls;
		char *name;

		if (!counted && !maps.cell_of[ENGINE_KEY((size_t)f->site, ctx)])
			continue;
		name = record_context_name(ctx);
		context = profile_context_add(p, name);
		free(name);
		calls = calls_of(p, run, f->site, context);
		if (counted || calls)
			drain_context(blocks, e, f, p, run, ctx, context, calls);
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
static double excess_of(const struct record_engine *e, uint32_t site, uint32_t ctx, uint64_t inner)
{
	struct record_engine_maps maps;
	double time = 0;
	uint32_t first;

	record_engine_maps(e, &maps);
	first = maps.cell_of[ENGINE_KEY((size_t)site, ctx)];
	if (!first || first / maps.n_shards > maps.n_cells)
		return 0;
	for (uint32_t i = 0; i < maps.n_shards; i++)
		time += (double)(maps.cells[first + i].wall - maps.cells[first + i].aside);
	return time > 0 ? (double)record_quiet_excess(&maps.cells[first], maps.n_shards, inner,
						      record_engine_interrupts(e)) /
				  time :
			  0;
}

static void drain_paths(const struct record_blocks *blocks, const struct record_engine *e,
			struct profile *p, uint32_t run)
{
	uint32_t n;
	const struct engine_path *paths = record_engine_paths(e, &n);

	for (uint32_t i = 0; i < n; i++) {
		const struct engine_path *from = &paths[i];
		uint32_t site = from->key / ENGINE_CONTEXTS, ctx = from->key % ENGINE_CONTEXTS;
		const struct record_block_function *f = function_of(blocks, site);
		struct profile_path path = {
			.run = run,
			.signature = from->signature,
			.calls = from->calls,
		};
		uint64_t inner;
		char *name;

		if (!from->hash || !from->calls || !f)
			continue;
		inner = record_engine_inner_cost(e, site, p->sites[site].mech);
		path.blocks = f->counted;
		name = record_context_name(ctx);
		path.context = profile_context_add(p, name);
		free(name);
		path.time = (int64_t)(from->time - from->calls * inner) -
			    (int64_t)((double)from->time * excess_of(e, site, ctx, inner));
		for (int k = 0; k < PROFILE_TURNS; k++)
			path.turns[k] = from->turns[k];
		vec_push(p, paths, path);
	}
}

static void drain_turns(const struct record_blocks *blocks, const struct record_engine *e,
			struct profile *p, uint32_t run)
{
	uint32_t n;
	const struct engine_turns *rows = record_engine_turns(e, &n);

	for (uint32_t i = 0; i < n; i++) {
		uint32_t key = ENGINE_TURNS_KEY(rows[i].id);
		const struct record_block_function *f =
			rows[i].id ? function_of(blocks, key / ENGINE_CONTEXTS) : NULL;
		struct profile_turns turns = {
			.run = run,
			.counter = ENGINE_TURNS_LOOP(rows[i].id),
			.slot = ENGINE_TURNS_SLOT(rows[i].id),
			.calls = rows[i].calls,
		};
		char *name;

		if (!f || !rows[i].calls)
			continue;
		turns.blocks = f->counted;
		name = record_context_name(key % ENGINE_CONTEXTS);
		turns.context = profile_context_add(p, name);
		free(name);
		vec_push(p, turns, turns);
	}
}

/* How often probes were hit, and what that was taken to cost. */
static void drain_hits(const struct record_blocks *blocks, const struct record_engine *e,
		       struct profile *p, uint32_t run)
{
	uint64_t hits = 0;
	double cost = 0;

	for (uint32_t i = 0; i < blocks->n_points; i++) {
		uint64_t of = 0;

		for (uint32_t ctx = 0; blocks->points[i].link >= 0 && ctx < ENGINE_CONTEXTS; ctx++)
			of += record_engine_block_count(e, i, ctx);
		hits += of;
		cost += (double)of * blocks->hit_costs[i];
	}
	p->runs[run].losses[PROFILE_INFO_BLOCK_HITS] = hits;
	p->runs[run].losses[PROFILE_INFO_BLOCK_COST] = (uint64_t)cost;
}

void record_blocks_drain(const struct record_blocks *blocks, const struct record_engine *e,
			 struct profile *p, uint32_t run)
{
	for (uint32_t i = 0; i < blocks->n_items; i++)
		drain_function(blocks, e, &blocks->items[i], p, run);
	drain_paths(blocks, e, p, run);
	drain_turns(blocks, e, p, run);
	drain_hits(blocks, e, p, run);
}
