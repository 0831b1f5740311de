// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/figures/cost.h"

#include <math.h>
#include <string.h>

#include "analyze/stats/statistics.h"
#include "base/alloc.h"
#include "base/sorted.h"

/* The row of MECH: until all is counted, each mechanism has its place. */
static struct analyze_cost *row_of(struct analyze_costs *costs, enum profile_mechanism mech)
{
	struct analyze_cost *row = &costs->rows[mech];

	if (!row->name)
		*row = (struct analyze_cost){
			.name = profile_mechanism_name(mech),
			.functions = NAN,
			.calls = NAN,
			.contexts = NAN,
			.inner = NAN,
			.inner_spread = NAN,
			.full = NAN,
			.full_spread = NAN,
			.interrupt = NAN,
			.interrupt_spread = NAN,
			.total = NAN,
			.share = NAN,
		};
	return row;
}

/* Leaves out the places of mechanisms that nothing is known of. */
static void drop_unused(struct analyze_costs *costs)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < costs->n_rows; i++)
		if (costs->rows[i].name)
			costs->rows[n++] = costs->rows[i];
	costs->n_rows = n;
}

static void read_calibration(struct analyze_costs *costs, const struct profile *p)
{
	vec_each(const struct profile_cost, cost, p, costs) {
		struct analyze_cost *row = row_of(costs, cost->mech);

		if (!row->calibration)
			row->calibration = profile_cost_text(p, cost->mech);
		if (cost->kind == PROFILE_COST_INNER) {
			row->inner = cost->value;
			row->inner_spread = cost->spread;
		} else if (cost->kind == PROFILE_COST_FULL) {
			row->full = cost->value;
			row->full_spread = cost->spread;
		} else if (cost->kind == PROFILE_COST_INTERRUPT) {
			row->interrupt = cost->value;
			row->interrupt_spread = cost->spread;
		}
	}
	/* The part cannot be more than the whole: the whole was not measured. */
	for (uint32_t i = 0; i < costs->n_rows; i++)
		if (costs->rows[i].full < costs->rows[i].inner)
			costs->rows[i].full = costs->rows[i].full_spread = NAN;
}

static void count(double *sum, double n)
{
	*sum = isnan(*sum) ? n : *sum + n;
}

static void count_functions(struct analyze_costs *costs, const struct profile *p)
{
	vec_each(const struct profile_site, site, p, sites) {
		struct analyze_cost *row;

		if (site->kind == PROFILE_SITE_CONTEXT || site->mech == PROFILE_UNTIMED)
			continue;
		row = row_of(costs, site->mech);
		count(&row->functions, 1);
		count(&row->calls, 0);
		row->example = site->name;
	}
}

static void count_calls(struct analyze_costs *costs, const struct profile *p)
{
	enum profile_mechanism fault_mech =
		profile_mechanism_by_name(profile_env_get(p, PROFILE_ENV_PAGE_FAULTS));

	vec_each(const struct profile_cell, cell, p, cells) {
		const struct profile_site *site = &p->sites[cell->site];
		bool is_context = site->kind == PROFILE_SITE_CONTEXT;
		bool is_fault = is_context &&
				profile_context_is(p, cell->context, PROFILE_CONTEXT_PAGE_FAULT);
		struct analyze_cost *row;

		if (p->runs[cell->run].kind == PROFILE_RUN_CONTROL)
			continue;
		if (is_context) {
			costs->oncpu += (double)cell->stats.oncpu;
			costs->subtracted += (double)cell->stats.cost;
		}
		if (is_fault && fault_mech == PROFILE_N_COSTS)
			continue;
		row = row_of(costs, is_fault ? fault_mech : site->mech);
		count(&row->calls, (double)profile_stats_observed(&cell->stats));
		count(&row->contexts, is_context ? (double)cell->stats.calls : 0);
	}
}

/* Set the sums of costs of N functions: HITS and COST are sums of the file. */
static void count_sums(struct analyze_costs *costs, const struct profile *p,
		       enum profile_mechanism mech, uint32_t n, enum profile_loss hits_in,
		       enum profile_loss cost_in)
{
	double hits = 0, total = 0;
	struct analyze_cost *row;

	for (uint32_t i = 0; i < p->n_runs; i++) {
		const uint64_t *losses = p->runs[i].losses;

		if (losses[hits_in] == PROFILE_NOT_COUNTED ||
		    losses[cost_in] == PROFILE_NOT_COUNTED)
			continue;
		hits += (double)losses[hits_in];
		total += (double)losses[cost_in];
	}
	if (!n || !(hits > 0))
		return;
	row = row_of(costs, mech);
	row->functions = n;
	row->calls = hits;
	row->full = total / hits;
	row->total = total;
	row->is_of_hits = true;
	if (costs->oncpu > 0)
		row->share = total / costs->oncpu;
}

/* Return the number of functions that capture values. */
static uint32_t capturing_functions(const struct profile *p)
{
	scoped_free bool *seen = alloc_array(p->n_sites, sizeof(*seen));
	uint32_t n = 0;

	vec_each(const struct profile_variable, v, p, variables) {
		n += !seen[v->site];
		seen[v->site] = true;
	}
	return n;
}

static void form_totals(struct analyze_costs *costs)
{
	vec_each(struct analyze_cost, row, costs, rows) {
		double contexts = isnan(row->contexts) ? 0 : row->contexts;
		double functions = row->calls - contexts;

		if (isnan(row->calls) || isnan(row->inner))
			continue;
		row->total = contexts * row->inner;
		if (functions > 0)
			row->total += functions * row->full;
		if (costs->oncpu > 0)
			row->share = row->total / costs->oncpu;
	}
}

/* The mean time from start to exit of the runs of KIND; NAN where there are none. */
static double mean_wall(const struct profile *p, enum profile_run_kind kind, uint32_t *n)
{
	double sum = 0;

	*n = 0;
	for (uint32_t i = 0; i < p->n_runs; i++) {
		if (p->runs[i].kind != kind)
			continue;
		sum += (double)p->runs[i].wall;
		++*n;
	}
	return *n ? sum / *n : NAN;
}

/*
 * Return the time that probes are known to have taken from the workload, also around its syscalls if that was
 * calibrated.
 */
static double time_added(const struct analyze_costs *costs)
{
	double added = costs->subtracted;

	vec_each(const struct analyze_cost, row, costs, rows)
		if (row->contexts > 0 && row->full > row->inner)
			added += row->contexts * (row->full - row->inner);
	return added;
}

static void form_slowdown(struct analyze_costs *costs, const struct profile *p)
{
	uint32_t runs, controls;
	double wall = mean_wall(p, PROFILE_RUN_PROBED, &runs);
	double control = mean_wall(p, PROFILE_RUN_CONTROL, &controls);
	double added = time_added(costs);

	costs->estimated_kernel_pct = costs->estimated_pct = NAN;
	costs->measured_pct = analyze_percent(wall - control, control);
	if (!(added > 0))
		return;
	costs->estimated_kernel_pct = analyze_percent(added, costs->oncpu - costs->subtracted);
	costs->estimated_pct = analyze_percent(added, wall * runs - added);
}

define_compare(row_compare, struct analyze_cost, strcmp(a->name, b->name));

void analyze_costs_init(struct analyze_costs *costs, const struct profile *p)
{
	memset(costs, 0, sizeof(*costs));
	costs->clock = p->clock;
	for (uint32_t i = 0; i < p->n_runs; i++)
		if (p->runs[i].boot >= costs->boots)
			costs->boots = p->runs[i].boot + 1;
	costs->n_rows = PROFILE_N_COSTS;
	costs->rows = alloc_array(costs->n_rows, sizeof(*costs->rows));
	read_calibration(costs, p);
	count_functions(costs, p);
	count_calls(costs, p);
	count_sums(costs, p, PROFILE_COSTS_BLOCK, p->n_blocks, PROFILE_INFO_BLOCK_HITS,
		   PROFILE_INFO_BLOCK_COST);
	count_sums(costs, p, PROFILE_COSTS_CAPTURE, capturing_functions(p), PROFILE_INFO_CAPTURES,
		   PROFILE_INFO_CAPTURE_COST);
	drop_unused(costs);
	form_totals(costs);
	form_slowdown(costs, p);
	sort_array(costs->rows, costs->n_rows, sizeof(*costs->rows), row_compare);
}

void analyze_costs_deinit(struct analyze_costs *costs)
{
	for (uint32_t i = 0; i < costs->n_rows; i++)
		free(costs->rows[i].calibration);
	free(costs->rows);
	memset(costs, 0, sizeof(*costs));
}

bool analyze_cost_is_unknown(const struct analyze_cost *row)
{
	return row->calls > 0 && !row->calibration && !row->is_of_hits;
}

const struct analyze_cost *analyze_cost_find(const struct analyze_costs *costs, const char *name)
{
	for (uint32_t i = 0; i < costs->n_rows; i++)
		if (!strcmp(costs->rows[i].name, name))
			return &costs->rows[i];
	return NULL;
}
