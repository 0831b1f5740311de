// SPDX-License-Identifier: GPL-2.0-or-later
#include <linux/types.h>
#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/log.h"
#include "kprotperf/engine.h"
#include "profile/profile.h"
#include "record/collect/collect.h"
#include "record/collect/stack.h"
#include "record/cost/cost.h"
#include "record/engine/engine.h"

struct drain {
	struct profile *p;
	uint32_t run;
	const struct record_probes *probes;
	const struct record_engine *e; /* the engine of PROBES */
	const struct record_sites *sites;
	struct record_engine_maps maps;
	struct record_cold_costs *cold;
	struct record_stacks stacks;
	uint64_t dropped; /* number of calls of functions whose probes were lost during the run */
	uint32_t contexts[ENGINE_CONTEXTS]; /* 1 + the context's index in the profile; 0: none */
};

static uint32_t context_index(struct drain *d, uint32_t ctx)
{
	if (ctx >= ENGINE_CONTEXTS)
		ctx = ENGINE_CTX_OTHER;
	if (!d->contexts[ctx])
		d->contexts[ctx] = record_context_add(d->p, ctx) + 1;
	return d->contexts[ctx] - 1;
}

static enum profile_mechanism mechanism(const struct drain *d, uint32_t site, uint32_t ctx)
{
	if (site == ENGINE_SITE_CONTEXT && ctx == ENGINE_CTX_PAGE_FAULT)
		return record_engine_fault_mechanism(d->e);
	return d->p->sites[site].mech;
}

/* Return the part of the probes' cost that is in the time of SITE's calls in CTX themselves, in ticks per call. */
static uint64_t inner_cost(const struct drain *d, uint32_t site, uint32_t ctx)
{
	uint32_t n_args = site == ENGINE_SITE_CONTEXT ? RECORD_FAULT_ARGS :
			  site <= d->sites->n_items   ? d->sites->items[site - 1].target.n_args :
							0;

	return record_cost_inner(record_engine_cost(d->e, mechanism(d, site, ctx)), n_args);
}

/* Return TIME - MORE, but at least 0. */
static uint64_t less(uint64_t time, double more)
{
	return (double)time > more ? time - (uint64_t)(more + 0.5) : 0;
}

/* Return the histogram slot of times in SLOT after MORE ticks are subtracted from the times. */
static uint32_t slot_less(uint32_t slot, double more)
{
	return more > 0 ? hist_slot(less(hist_slot_low(slot) + hist_slot_width(slot) / 2, more)) :
			  slot;
}

/*
 * Add the counts C of a shard to STATS. A call's own probes lengthen its time by INNER + MORE ticks. The BPF programs have already
 * subtracted INNER, but not MORE, from the histogram, minimum, maximum and sum of squares.
 */
static void shard_add(struct profile_stats *stats, const struct engine_cell *c, uint64_t inner,
		      double more, bool is_range)
{
	uint64_t oncpu = c->wall - c->offcpu, returned = c->calls - c->unreturned;
	uint64_t cost = c->excluded - c->offcpu + inner * returned +
			(uint64_t)(more * (double)returned + 0.5);
	double net = (double)oncpu - (double)(c->excluded - c->offcpu) -
		     (double)inner * (double)returned;
	scoped(profile_stats_deinit) struct profile_stats shard;
	uint64_t counted = 0;

	profile_stats_init(&shard);
	shard.calls = is_range ? c->bodies : c->calls;
	if (is_range)
		shard.entries = c->calls;
	shard.oncpu = oncpu;
	shard.wall = c->wall;
	shard.cost = cost;
	/* This difference may be negative, since calibration may overestimate the cost of probes. */
	shard.self = (int64_t)(oncpu - cost - c->child);
	shard.sumsq = (double)c->sq_lo + (double)c->sq_hi * (1 << ENGINE_SQ_SPLIT);
	shard.sumsq += more * (more * (double)returned - 2 * net);
	shard.max = less(c->max, more);
	shard.min = less(~c->min_inv, more);
	for (uint32_t slot = 0; slot < HIST_SLOTS; slot++) {
		if (c->hist[slot])
			profile_stats_bucket_add(&shard, slot_less(slot, more), c->hist[slot]);
		counted += c->hist[slot];
	}
	/* The histogram lacks open calls of running tasks, which are few. If 2^31 calls are missing, a 32-bit slot has wrapped. */
	if (counted + (1ull << 31) < c->calls)
		log_warn("a histogram slot overflowed: the percentiles of its row are wrong");
	profile_stats_merge(stats, &shard);
}

/* Return how much cold caches add to the cost per call of SITE's probes in CTX. The site's cells begin at index FIRST. */
static double cold_cost(struct drain *d, uint32_t site, uint32_t ctx, uint32_t first)
{
	const struct engine_cell *shards = &d->maps.cells[first];
	enum profile_mechanism mech = mechanism(d, site, ctx);
	const struct engine_cost *cost = record_engine_cost(d->e, mech);
	uint64_t calls = 0, enclosing = 0;

	if (!profile_mechanism(mech)->cold)
		return 0;
	for (uint32_t i = 0; i < d->maps.n_shards; i++) {
		calls += shards[i].calls;
		enclosing += shards[i].enclosing;
	}
	return record_cold_add(d->cold, cost, calls, enclosing,
			       record_coldness(shards, d->maps.n_shards, cost));
}

/* Add the event counts of SITE in context CTX. The site's cells begin at FIRST. P numbers events as the engine does. */
static void drain_counted(struct drain *d, uint32_t site, uint32_t ctx, uint32_t first)
{
	struct profile_counted row = { .run = d->run,
				       .site = site,
				       .context = context_index(d, ctx) };
	enum profile_mechanism mech = mechanism(d, site, ctx);

	/* Skip mechanisms whose probes cause an unknown number of events. Without fentry, page faults use such a mechanism. */
	if (!profile_mechanism(mech)->counted)
		return;
	for (; row.counter < d->maps.n_counters; row.counter++) {
		row.calls = 0;
		row.total = row.self = 0;
		for (uint32_t i = 0; i < d->maps.n_shards; i++) {
			const struct engine_counted_cell *c = &d->maps.counted[(size_t)first + i];

			row.calls += d->maps.cells[(size_t)first + i].calls;
			row.total += (int64_t)c->total[row.counter];
			row.self += (int64_t)(c->total[row.counter] - c->child[row.counter]);
		}
		profile_counted_add(d->p, &row);
	}
}

/* Add the calls of SITE in context CTX. FIRST is the index of the cells that count them. */
static void drain_cell(struct drain *d, uint32_t site, uint32_t ctx, uint32_t first)
{
	uint64_t inner = inner_cost(d, site, ctx);
	uint64_t *overcorrected = &d->p->runs[d->run].losses[PROFILE_INFO_OVERCORRECTED];
	struct profile_stats *stats = NULL;
	double more = cold_cost(d, site, ctx, first);

	for (uint32_t i = 0; i < d->maps.n_shards; i++) {
		const struct engine_cell *c = &d->maps.cells[(size_t)first + i];

		if (!c->calls)
			continue;
		if (mechanism(d, site, ctx) == PROFILE_UNTIMED) {
			d->dropped += c->calls;
			continue;
		}
		if (!stats) {
			stats = profile_cell(d->p, d->run, site, context_index(d, ctx));
			stats->errors = site == ENGINE_SITE_CONTEXT && ctx < ENGINE_CTX_NONE ?
						0 :
						PROFILE_NOT_COUNTED;
		}
		if (stats->errors != PROFILE_NOT_COUNTED)
			stats->errors += c->errors;
		*overcorrected += c->negative;
		shard_add(stats, c, inner, more, d->p->sites[site].kind == PROFILE_SITE_RANGE);
	}
	if (stats)
		drain_counted(d, site, ctx, first);
}

static void drain_cells(struct drain *d)
{
	d->p->runs[d->run].losses[PROFILE_INFO_OVERCORRECTED] = 0;
	for (uint32_t site = 0; site < d->maps.n_sites; site++)
		for (uint32_t ctx = 0; ctx < ENGINE_CONTEXTS; ctx++) {
			uint32_t first = d->maps.cell_of[ENGINE_KEY((size_t)site, ctx)];

			if (first && first / d->maps.n_shards <= d->maps.n_cells)
				drain_cell(d, site, ctx, first);
		}
}

static void drain_stack(struct drain *d, const struct engine_stack *s)
{
	struct profile_sample sample = { .run = d->run, .count = s->count };
	bool in_probe;

	sample.stack = record_stack_add(&d->stacks, s, &in_probe);
	sample.context = context_index(d, s->ctx);
	if (s->flags & ENGINE_SAMPLE_USER)
		sample.flags |= PROFILE_SAMPLE_USER;
	if (s->flags & ENGINE_SAMPLE_LATE)
		sample.flags |= PROFILE_SAMPLE_LATE;
	/* A sample by a return program belongs to the function that returns, even if probes are on the stack. */
	if (s->flags & ENGINE_SAMPLE_AT_RETURN)
		sample.flags |= PROFILE_SAMPLE_AT_RETURN;
	else if (in_probe)
		sample.flags |= PROFILE_SAMPLE_PROBE;
	profile_sample_add(d->p, &sample);
}

static void drain_samples(struct drain *d)
{
	struct profile_run *run = &d->p->runs[d->run];

	run->samples_expected = record_engine_samples_expected(d->e);
	run->samples_received = 0;
	for (uint32_t i = 0; i < d->maps.n_cpus; i++)
		run->samples_received += d->maps.cpus[i].hits;
	for (uint32_t i = 0; d->maps.stacks && i < d->maps.n_stacks; i++)
		if (d->maps.stacks[i].key && d->maps.stacks[i].count)
			drain_stack(d, &d->maps.stacks[i]);
}

/* Convert the values CAPTURED by C to values of P. A name takes two captured values, and becomes the name's number in P. */
static void drain_values(const struct record_capture *c, uint32_t absent, const __u64 *captured,
			 struct profile *p, uint32_t *absent_out, uint64_t *values)
{
	for (uint32_t i = 0, n = 0; i < c->n_values; i++, n++) {
		const struct record_value *v = &c->values[i];
		bool is_absent = absent >> i & 1;
		char text[ENGINE_NAME + 1] = "";

		*absent_out |= (uint32_t)is_absent << n;
		if (v->variable.kind != PROFILE_VARIABLE_NAME) {
			values[n] = record_value_extend(v, captured[i]);
			continue;
		}
		memcpy(text, &captured[i++], ENGINE_NAME);
		values[n] = is_absent ? 0 : profile_name_add(p, text);
	}
}

/* Set the number of calls that were entered, and of those that are still open. */
static void drain_entered(const struct record_engine_maps *maps, uint64_t *losses)
{
	uint64_t entered = maps->losses[ENGINE_INFO_ENTERED], open = 0;

	for (uint32_t i = 1; i < maps->n_tasks; i++) {
		const struct engine_task *t = &maps->tasks[i];

		if (!(t->flags & ENGINE_TASK_LIVE))
			continue;
		entered += t->entered;
		open += (t->ctx != ENGINE_CTX_NONE) + t->top / ENGINE_FRAME;
	}
	losses[PROFILE_INFO_ENTRIES] = entered;
	losses[PROFILE_INFO_OPEN_AT_END] = open;
}

/* Two random counts of the same rate have square roots that differ by more than this in less than one of 10^6 runs. */
#define FEWER_BY_CHANCE 2.5

/*
 * Return the number of samples that followed tasks should have received, but did not. If a task ran for a whole period without a
 * sample, a sample is lost. Others count as lost only if more are missing than by chance: a short-lived task may get no sample.
 */
static uint64_t samples_lost(const struct drain *d)
{
	const struct profile_run *run = &d->p->runs[d->run];
	double expected = (double)run->samples_expected, received = (double)run->samples_received;
	uint64_t skipped = 0, missing = received < expected ? (uint64_t)(expected - received) : 0;

	for (uint32_t i = 0; i < d->maps.n_cpus; i++)
		skipped += d->maps.cpus[i].skipped;
	return missing > skipped && sqrt(expected) - sqrt(received) > FEWER_BY_CHANCE ? missing :
											skipped;
}

static void drain_losses(struct drain *d)
{
	static const enum profile_loss kinds[ENGINE_N_LOSSES] = {
		[ENGINE_LOSS_NO_RETURN] = PROFILE_LOSS_ENTRY_WITHOUT_RETURN,
		[ENGINE_LOSS_NO_ENTRY] = PROFILE_LOSS_RETURN_WITHOUT_ENTRY,
		[ENGINE_LOSS_DEPTH] = PROFILE_LOSS_DEPTH_EXCEEDED,
		[ENGINE_LOSS_CELLS] = PROFILE_LOSS_CELLS_FULL,
		[ENGINE_LOSS_TASKS] = PROFILE_LOSS_TASKS_FULL,
		[ENGINE_LOSS_SWITCHES] = PROFILE_LOSS_SWITCHES,
		[ENGINE_LOSS_STACKS] = PROFILE_LOSS_STACKS_FULL,
		[ENGINE_LOSS_STACK_FETCH] = PROFILE_LOSS_STACK_NOT_FETCHED,
		[ENGINE_LOSS_BLOCKS] = PROFILE_LOSS_BLOCK_WITHOUT_CALL,
		[ENGINE_LOSS_CAPTURES] = PROFILE_LOSS_CAPTURES_FULL,
		[ENGINE_LOSS_COUNTERS] = PROFILE_LOSS_COUNTERS,
		[ENGINE_INFO_OPEN_AT_START] = PROFILE_INFO_OPEN_AT_START,
		[ENGINE_INFO_CLOSED_BY_EXIT] = PROFILE_INFO_CLOSED_BY_EXIT,
	};
	struct record_probe_misses misses = record_probes_misses(d->probes);
	uint64_t *losses = d->p->runs[d->run].losses;

	_Static_assert(ENGINE_INFO_ENTERED == 13, "kinds[] lacks what a further one is");
	for (int i = 0; i < ENGINE_INFO_ENTERED; i++)
		losses[kinds[i]] = d->maps.losses[i];
	losses[PROFILE_LOSS_COUNTERS] += d->maps.counters_stopped;
	drain_entered(&d->maps, losses);
	losses[PROFILE_LOSS_DETACHED] = d->dropped;
	losses[PROFILE_INFO_TASKS_LEFT] = record_engine_live_tasks(d->e);
	losses[PROFILE_LOSS_PROBE_RECURSION] = misses.recursion;
	losses[PROFILE_LOSS_PROBE_MISSED] = misses.hits;
	losses[PROFILE_LOSS_SAMPLES_NOT_RECEIVED] = samples_lost(d);
}

void record_drain(struct profile *p, uint32_t run, const struct record_probes *probes,
		  const struct record_code *code, const struct record_sites *sites,
		  struct record_cold_costs *cold)
{
	scoped_free struct drain *d = alloc_new(struct drain);
	enum profile_mechanism faults;

	d->p = p;
	d->run = run;
	d->probes = probes;
	d->e = record_probes_engine(probes);
	faults = record_engine_fault_mechanism(d->e);
	d->sites = sites;
	d->cold = cold;
	record_engine_maps(d->e, &d->maps);
	profile_env_set(p, PROFILE_ENV_PAGE_FAULTS, profile_mechanism_name(faults));
	drain_cells(d);
	record_stacks_init(&d->stacks, p, code, sites);
	d->stacks.on_return |= faults != PROFILE_UNTIMED && !profile_mechanism(faults)->in_frame;
	drain_samples(d);
	record_stacks_deinit(&d->stacks);
	drain_losses(d);
	for (uint32_t site = 1; site < d->maps.n_sites; site++)
		d->p->sites[site].missed += d->maps.missed[site];
}

static void drain_row(const struct record_capture *c, const struct engine_capture *from,
		      bool sampled, struct profile *p, uint32_t run)
{
	struct profile_capture row = {
		.run = run,
		.site = c->site + 1,
		.calls = from->calls,
		.time = (int64_t)from->time,
		.sumsq = (double)from->sq_lo + (double)from->sq_hi * (1 << ENGINE_SQ_SPLIT),
		.min = ~from->min_inv,
		.max = from->max,
		.sampled = sampled,
	};

	if (!from->hash || !from->calls)
		return;
	row.context = record_context_add(p, from->key % ENGINE_CONTEXTS);
	drain_values(c, from->absent, from->values, p, &row.absent, row.values);
	profile_capture_add(p, &row);
}

void record_captures_drain(const struct record_captures *c, const struct record_engine *e,
			   struct profile *p, uint32_t run)
{
	uint64_t *losses = p->runs[run].losses, calls = losses[PROFILE_LOSS_CAPTURES_FULL];
	struct record_engine_maps maps;

	record_engine_maps(e, &maps);
	for (uint32_t i = 0; i < c->n_items; i++) {
		const struct engine_capture *rows = &maps.captures[(size_t)i * ENGINE_CAPTURE_ROWS];
		const struct engine_capture *samples =
			&maps.captures[(size_t)maps.n_captured * ENGINE_CAPTURE_ROWS +
				       (size_t)i * ENGINE_CAPTURE_SAMPLES];

		if (p->sites[c->items[i].site + 1].mech == PROFILE_UNTIMED)
			continue;
		for (uint32_t k = 0; k < ENGINE_CAPTURE_ROWS; k++) {
			drain_row(&c->items[i], &rows[k], false, p, run);
			calls += rows[k].calls;
		}
		for (uint32_t k = 0; k < ENGINE_CAPTURE_SAMPLES; k++)
			drain_row(&c->items[i], &samples[k], true, p, run);
	}
	if (!c->n_items)
		return;
	losses[PROFILE_INFO_CAPTURES] = calls;
	losses[PROFILE_INFO_CAPTURE_COST] = 0;
	for (uint32_t i = 0; i < maps.n_cpus; i++)
		losses[PROFILE_INFO_CAPTURE_COST] += maps.cpus[i].captured;
}

struct block_drain {
	const struct record_blocks *blocks;
	const struct record_engine *e;
	struct record_engine_maps maps;
	struct profile *p;
	uint32_t run;
};

static uint64_t hits_of(const struct block_drain *d, uint32_t probe, uint32_t ctx)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < d->maps.n_block_shards; i++)
		sum += d->maps.block_counts[((size_t)i * d->maps.n_block_probes + probe) *
						    ENGINE_CONTEXTS +
					    ctx];
	return sum;
}

/* Add the counts of F's blocks in context CTX. F was called CALLS times in that context. */
static void drain_context(const struct block_drain *d, const struct record_block_function *f,
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

static bool is_counted(const struct block_drain *d, const struct record_block_function *f,
		       uint32_t ctx)
{
	for (uint32_t k = 0; k < f->plan.n_probes; k++)
		if (hits_of(d, f->first_point + k, ctx))
			return true;
	return false;
}

static uint64_t calls_of(const struct block_drain *d, uint32_t site, uint32_t context)
{
	vec_each(const struct profile_cell, c, d->p, cells)
		if (c->run == d->run && c->site == site && c->context == context)
			return c->stats.calls;
	return 0;
}

static void drain_function(const struct block_drain *d, const struct record_block_function *f)
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

/* Set the number of hits of all block probes, and the sum of their costs, which BPF programs have subtracted. */
static void drain_hits(const struct block_drain *d)
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
	struct block_drain d = { .blocks = blocks, .e = e, .p = p, .run = run };

	record_engine_maps(e, &d.maps);
	for (uint32_t i = 0; i < blocks->n_items; i++)
		drain_function(&d, &blocks->items[i]);
	drain_hits(&d);
}
