// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/overhead.h"

#include <errno.h>
#include <linux/types.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "kprotperf/engine.h"

/* On-CPU time below which nothing is judged: a look then covers what came since an earlier one. */
#define LEAST_ONCPU_NS 20000000

/* What a site's probes have done. */
struct probe {
	uint32_t site;
	uint64_t full; /* ticks a call */
	uint64_t calls, before; /* in this run: now, and at the last look */
	uint64_t cost; /* of those since */
};

/* A cell in use: the first of its shards, and whose it is. */
struct used_cell {
	uint32_t first;
	uint32_t site;
};

struct record_overhead {
	struct record_engine *e;
	struct profile *p;
	double max_pct;
	uint32_t runs_to_come;
	struct probe *probes; /* of sites that are attached */
	uint32_t n_probes, cap_probes;
	uint32_t *probe_of; /* by site: the index of its probe, plus 1; 0: none */
	struct used_cell *cells;
	uint32_t n_cells, cap_cells;
	uint32_t cells_seen; /* as many were in use when they were searched for, */
	bool search_again; /* and one of them may not have been entered yet */
	uint64_t oncpu; /* at the last look */
};

static void number_probes(struct record_overhead *o)
{
	for (uint32_t site = 0; site < o->p->n_sites; site++)
		o->probe_of[site] = 0;
	for (uint32_t i = 0; i < o->n_probes; i++)
		o->probe_of[o->probes[i].site] = i + 1;
}

int record_overhead_create(struct record_engine *e, struct profile *p,
			   const struct record_calibration *costs, double max_pct,
			   struct record_overhead **out)
{
	struct record_overhead *o;

	*out = NULL;
	if (p->n_sites > ENGINE_MAX_SITES) {
		log_error("--max-overhead works with up to %u functions, not with %u",
			  ENGINE_MAX_SITES - 1, p->n_sites - 1);
		return -E2BIG;
	}
	for (uint32_t site = 1; site < p->n_sites; site++) {
		enum profile_mechanism mech = p->sites[site].mech;

		if (mech == PROFILE_MECH_RANGE) {
			log_error(
				"--max-overhead cannot take the probes of inlined functions away: "
				"record without it, or without '%s'",
				p->sites[site].name);
			return -EOPNOTSUPP;
		}
		if (mech == PROFILE_MECH_NONE ||
		    (costs->cost[mech].known && costs->cost[mech].full))
			continue;
		log_error("--max-overhead cannot work: what %s probes cost is not known on this "
			  "kernel; record without it, or without '%s'",
			  profile_mechanism_name(mech), p->sites[site].name);
		return -EOPNOTSUPP;
	}
	o = alloc_new(struct record_overhead);
	o->e = e;
	o->p = p;
	o->max_pct = max_pct;
	o->probe_of = alloc_array(p->n_sites, sizeof(*o->probe_of));
	for (uint32_t site = 1; site < p->n_sites; site++) {
		enum profile_mechanism mech = p->sites[site].mech;
		struct probe probe = { .site = site };

		if (mech == PROFILE_MECH_NONE)
			continue;
		probe.full = record_engine_full_cost(e, site, mech);
		vec_push(o, probes, probe);
	}
	number_probes(o);
	*out = o;
	return 0;
}

void record_overhead_destroy(struct record_overhead *o)
{
	if (!o)
		return;
	free(o->probes);
	free(o->probe_of);
	free(o->cells);
	free(o);
}

void record_overhead_begin(struct record_overhead *o, uint32_t runs_to_come)
{
	o->runs_to_come = runs_to_come;
	o->oncpu = record_engine_followed_oncpu(o->e);
	for (uint32_t i = 0; i < o->n_probes; i++)
		o->probes[i].before = 0;
}

/* The table of cells is large and seldom changes: it is read where there are more of them than before. */
static void find_cells(struct record_overhead *o, const struct record_engine_maps *maps)
{
	if (maps->n_cells_used == o->cells_seen && !o->search_again)
		return;
	o->search_again = maps->n_cells_used != o->cells_seen;
	o->cells_seen = maps->n_cells_used;
	o->n_cells = 0;
	for (uint32_t i = 0; i < o->n_probes; i++) {
		const uint64_t *of = maps->cell_of + ENGINE_KEY((size_t)o->probes[i].site, 0);

		for (uint32_t ctx = 0; ctx < ENGINE_CONTEXTS; ctx++) {
			struct used_cell cell = { .first = of[ctx], .site = o->probes[i].site };

			if (cell.first && cell.first / maps->n_shards <= maps->n_cells)
				vec_push(o, cells, cell);
		}
	}
}

static void count_calls(struct record_overhead *o)
{
	struct record_engine_maps maps;

	record_engine_maps(o->e, &maps);
	find_cells(o, &maps);
	for (uint32_t i = 0; i < o->n_probes; i++)
		o->probes[i].calls = 0;
	for (uint32_t i = 0; i < o->n_cells; i++) {
		const struct engine_cell *shards = &maps.cells[o->cells[i].first];
		uint32_t probe = o->probe_of[o->cells[i].site];

		for (uint32_t k = 0; probe && k < maps.n_shards; k++)
			o->probes[probe - 1].calls +=
				__atomic_load_n(&shards[k].calls, __ATOMIC_RELAXED);
	}
}

static int by_cost(const void *left, const void *right)
{
	const struct probe *a = left, *b = right;

	return a->cost == b->cost ? 0 : a->cost < b->cost ? 1 : -1;
}

/* How many of the busiest must go so that what the others cost, of what is left of ONCPU, is little enough. */
static uint32_t choose(const struct record_overhead *o, double cost, double oncpu)
{
	uint32_t n = 0;

	while (n < o->n_probes && o->probes[n].cost && cost > o->max_pct / 100 * oncpu) {
		cost -= (double)o->probes[n].cost;
		oncpu -= (double)o->probes[n].cost;
		n++;
	}
	return n;
}

static double percent(double part, double whole)
{
	return part < whole ? 100 * part / whole : 100;
}

/* The first N of PROBES, in SITES, and behind them what must be attached anew without them; how many. */
static uint32_t collect_sites(const struct record_overhead *o, uint32_t n, uint32_t *sites)
{
	uint32_t moved = 0, by_multi = 0;

	for (uint32_t i = 0; i < o->n_probes; i++) {
		uint32_t site = o->probes[i].site;
		bool multi = o->p->sites[site].mech == PROFILE_MECH_MULTI;

		if (i < n) {
			sites[i] = site;
			by_multi += multi;
		} else if (multi && by_multi) {
			sites[n + moved++] = site;
		}
	}
	return moved;
}

static void say_detached(const struct record_overhead *o, const struct probe *probe, double cost,
			 double oncpu)
{
	log_note(
		"detached '%s': its probes took %.1f %% of the CPU time of the tasks followed (all "
		"together %.1f %%; --max-overhead=%g); its calls are counted up to here%s",
		o->p->sites[probe->site].name, percent((double)probe->cost, oncpu),
		percent(cost, oncpu), o->max_pct,
		o->runs_to_come ? ", and not in the runs to come" : "");
}

/* Detaches the first N, of which all together cost so much of ONCPU. */
static void detach(struct record_overhead *o, uint32_t n, double cost, double oncpu)
{
	uint32_t *sites = alloc_array(o->n_probes, sizeof(*sites));
	uint32_t moved = collect_sites(o, n, sites);
	uint64_t start = clock_ns();
	int err = record_engine_detach_sites(o->e, sites, n, sites + n, moved);

	for (uint32_t i = 0; i < n; i++) {
		o->p->sites[sites[i]].detached = true;
		say_detached(o, &o->probes[i], cost, oncpu);
	}
	if (moved)
		log_note(
			"that took kprobe.multi's probes of %u other function%s away too, for up to "
			"%.0f ms: calls meanwhile were not seen",
			moved, moved == 1 ? "" : "s", (double)(clock_ns() - start) / 1e6);
	if (err)
		log_warn("attaching functions anew failed: %s; they are not measured any more",
			 log_strerror(err));
	free(sites);
	o->n_probes -= n;
	for (uint32_t i = 0; i < o->n_probes; i++)
		o->probes[i] = o->probes[i + n];
	number_probes(o);
}

void record_overhead_look(struct record_overhead *o)
{
	uint64_t now = record_engine_followed_oncpu(o->e), cost = 0;
	int64_t oncpu = (int64_t)(now - o->oncpu);
	uint32_t n;

	if (oncpu < LEAST_ONCPU_NS || !o->n_probes)
		return;
	count_calls(o);
	for (uint32_t i = 0; i < o->n_probes; i++) {
		struct probe *probe = &o->probes[i];

		probe->cost = (probe->calls - probe->before) * probe->full;
		cost += probe->cost;
	}
	qsort(o->probes, o->n_probes, sizeof(*o->probes), by_cost);
	number_probes(o);
	n = choose(o, (double)cost, (double)oncpu);
	if (n) {
		detach(o, n, (double)cost, (double)oncpu);
		/* What happened meanwhile belongs to no state of the probes that could be judged. */
		count_calls(o);
		now = record_engine_followed_oncpu(o->e);
	}
	for (uint32_t i = 0; i < o->n_probes; i++)
		o->probes[i].before = o->probes[i].calls;
	o->oncpu = now;
}
