// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/cost/overhead.h"

#include <errno.h>
#include <linux/types.h>

#include "base/alloc.h"
#include "base/plural.h"
#include "base/system/clock.h"
#include "base/log.h"
#include "base/sorted.h"
#include "kprotperf/engine.h"
#include "record/probe/probes.h"

/* On-CPU time below which nothing is judged: a look then covers what came since an earlier one. */
#define LEAST_ONCPU_NS 20000000

/* A cell in use: the first of its shards, and whose it is. */
struct used_cell {
	uint32_t first;
	uint32_t site;
};

struct record_overhead {
	struct record_probes *attached;
	struct record_engine *e; /* theirs */
	struct profile *p;
	double max_pct;
	uint32_t runs_to_come;
	vec_of(struct record_overhead_probe, probes); /* of sites that are attached */
	uint32_t *probe_of; /* by site: the index of its probe, plus 1; 0: none */
	vec_of(struct used_cell, cells);
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

/* Check that SITE's probes can be judged and taken away. */
static int check_site(const struct profile_site *site, const struct record_calibration *costs)
{
	if (site->mech == PROFILE_MECH_RANGE)
		log_error(
			"--max-overhead cannot detach probes of inlined functions: omit it, or '%s'",
			site->name);
	else if (site->mech != PROFILE_UNTIMED &&
		 !(costs->cost[site->mech].known && costs->cost[site->mech].full))
		log_error("--max-overhead does not work: the cost of %s probes is unknown on this "
			  "kernel; omit it, or '%s'",
			  profile_mechanism_name(site->mech), site->name);
	else
		return 0;
	return -EOPNOTSUPP;
}

int record_overhead_create(struct record_probes *probes, struct profile *p,
			   const struct record_calibration *costs, double max_pct,
			   struct record_overhead **out)
{
	struct record_overhead *o;

	*out = NULL;
	if (p->n_sites > ENGINE_MAX_SITES) {
		log_error("--max-overhead supports up to %u functions, not %u",
			  ENGINE_MAX_SITES - 1, p->n_sites - 1);
		return -E2BIG;
	}
	for (uint32_t site = 1; site < p->n_sites; site++)
		if (check_site(&p->sites[site], costs))
			return -EOPNOTSUPP;
	o = alloc_new(struct record_overhead);
	o->attached = probes;
	o->e = record_probes_engine(probes);
	o->p = p;
	o->max_pct = max_pct;
	o->probe_of = alloc_array(p->n_sites, sizeof(*o->probe_of));
	for (uint32_t site = 1; site < p->n_sites; site++) {
		enum profile_mechanism mech = p->sites[site].mech;
		struct record_overhead_probe probe = { .site = site };

		if (mech == PROFILE_UNTIMED)
			continue;
		probe.full = record_engine_full_cost(o->e, site, mech);
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

define_compare(by_cost, struct record_overhead_probe, compare_values(b->cost, a->cost));

uint32_t record_overhead_choose(struct record_overhead_probe *probes, uint32_t n, double max_pct,
				double oncpu, double *cost)
{
	uint32_t chosen = 0;
	double left = 0;

	for (uint32_t i = 0; i < n; i++) {
		probes[i].cost = (probes[i].calls - probes[i].before) * probes[i].full;
		left += (double)probes[i].cost;
	}
	*cost = left;
	sort_array(probes, n, sizeof(*probes), by_cost);
	while (chosen < n && probes[chosen].cost && left > max_pct / 100 * oncpu) {
		left -= (double)probes[chosen].cost;
		oncpu -= (double)probes[chosen].cost;
		chosen++;
	}
	return chosen;
}

static double percent(double part, double whole)
{
	return part < whole ? 100 * part / whole : 100;
}

uint32_t record_overhead_sites(const struct profile *p, const struct record_overhead_probe *probes,
			       uint32_t n, uint32_t chosen, uint32_t *sites)
{
	uint32_t moved = 0;
	bool by_multi = false;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t site = probes[i].site;
		bool multi = p->sites[site].mech == PROFILE_MECH_MULTI;

		if (i < chosen) {
			sites[i] = site;
			by_multi |= multi;
		} else if (multi && by_multi) {
			sites[chosen + moved++] = site;
		}
	}
	return moved;
}

static void say_detached(const struct record_overhead *o, const struct record_overhead_probe *probe,
			 double cost, double oncpu)
{
	log_note("detached '%s': its probes took %.1f %% of the CPU time of the followed tasks "
		 "(all probes: %.1f %%; --max-overhead=%g); its calls are counted up to this "
		 "point%s",
		 o->p->sites[probe->site].name, percent((double)probe->cost, oncpu),
		 percent(cost, oncpu), o->max_pct,
		 o->runs_to_come ? ", and not in later runs" : "");
}

/* Detaches the first N, of which all together cost so much of ONCPU. */
static void detach(struct record_overhead *o, uint32_t n, double cost, double oncpu)
{
	scoped_free uint32_t *sites = alloc_array(o->n_probes, sizeof(*sites));
	uint32_t moved = record_overhead_sites(o->p, o->probes, o->n_probes, n, sites);
	uint64_t start = clock_ns();
	int err = record_probes_detach_sites(o->attached, sites, n, sites + n, moved);

	for (uint32_t i = 0; i < n; i++) {
		o->p->sites[sites[i]].detached = true;
		say_detached(o, &o->probes[i], cost, oncpu);
	}
	if (moved)
		log_note("the kprobe.multi probes of %u other %s were detached too, for up "
			 "to %.0f ms: calls in the meantime were missed",
			 moved, plural(moved, "function", "functions"),
			 (double)(clock_ns() - start) / 1e6);
	if (err)
		log_warn("cannot reattach functions: %s; they are no longer measured",
			 log_strerror(err));
	o->n_probes -= n;
	for (uint32_t i = 0; i < o->n_probes; i++)
		o->probes[i] = o->probes[i + n];
	number_probes(o);
}

void record_overhead_look(struct record_overhead *o)
{
	uint64_t now = record_engine_followed_oncpu(o->e);
	int64_t oncpu = (int64_t)(now - o->oncpu);
	double cost;
	uint32_t n;

	if (oncpu < LEAST_ONCPU_NS || !o->n_probes)
		return;
	count_calls(o);
	n = record_overhead_choose(o->probes, o->n_probes, o->max_pct, (double)oncpu, &cost);
	number_probes(o);
	if (n) {
		detach(o, n, cost, (double)oncpu);
		/* The time since the last look belongs to no one state of the probes. */
		count_calls(o);
		now = record_engine_followed_oncpu(o->e);
	}
	for (uint32_t i = 0; i < o->n_probes; i++)
		o->probes[i].before = o->probes[i].calls;
	o->oncpu = now;
}
