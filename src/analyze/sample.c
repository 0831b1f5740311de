// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/cost.h"
#include "base/alloc.h"

/* A normal distribution's standard deviation, in units of its median absolute deviation. */
#define DEVIATIONS_PER_SPREAD 1.482602218505602

const char *analyze_unit_key(enum analyze_unit unit)
{
	return unit == ANALYZE_UNIT_BOOT ? "boot" : "run";
}

/* ---- repetitions ---- */

/* The boots of runs of KIND, each once, in the order they come in; returns how many. */
static uint32_t number_boots(const struct profile *p, enum profile_run_kind kind,
			     uint32_t *number_of)
{
	uint32_t i, n = 0;

	for (i = 0; i < p->n_runs; i++) {
		if (p->runs[i].kind != kind)
			continue;
		if (number_of[p->runs[i].boot] == ANALYZE_NO_REPETITION)
			number_of[p->runs[i].boot] = n++;
	}
	return n;
}

void analyze_repetitions_init(struct analyze_repetitions *r, const struct profile *p,
			      enum profile_run_kind kind)
{
	uint32_t i, boots = 0, *number_of;

	memset(r, 0, sizeof(*r));
	for (i = 0; i < p->n_runs; i++)
		if (p->runs[i].boot >= boots)
			boots = p->runs[i].boot + 1;
	number_of = alloc_array(boots, sizeof(*number_of));
	memset(number_of, 0xff, boots * sizeof(*number_of));
	r->of_run = alloc_array(p->n_runs, sizeof(*r->of_run));
	boots = number_boots(p, kind, number_of);
	r->unit = boots > 1 ? ANALYZE_UNIT_BOOT : ANALYZE_UNIT_RUN;
	for (i = 0; i < p->n_runs; i++) {
		if (p->runs[i].kind != kind)
			r->of_run[i] = ANALYZE_NO_REPETITION;
		else if (r->unit == ANALYZE_UNIT_BOOT)
			r->of_run[i] = number_of[p->runs[i].boot];
		else
			r->of_run[i] = r->n++;
	}
	if (r->unit == ANALYZE_UNIT_BOOT)
		r->n = boots;
	free(number_of);
}

void analyze_repetitions_deinit(struct analyze_repetitions *r)
{
	free(r->of_run);
	memset(r, 0, sizeof(*r));
}

/* ---- samples ---- */

void analyze_sample_init(struct analyze_sample *s, const struct analyze_repetitions *r)
{
	*s = (struct analyze_sample){ .sums = alloc_array(r->n, sizeof(*s->sums)), .n = r->n };
}

void analyze_sample_deinit(struct analyze_sample *s)
{
	free(s->sums);
	memset(s, 0, sizeof(*s));
}

void analyze_sample_add(struct analyze_sample *s, uint32_t repetition, double calls, double total)
{
	s->sums[repetition].calls += calls;
	s->sums[repetition].total += total;
}

/* The sums of all repetitions that have calls; *N becomes how many there are. */
static struct analyze_sums sums_of(const struct analyze_sample *s, uint32_t *n)
{
	struct analyze_sums all = { 0, 0 };
	uint32_t i;

	*n = 0;
	for (i = 0; i < s->n; i++) {
		if (!(s->sums[i].calls > 0))
			continue;
		all.calls += s->sums[i].calls;
		all.total += s->sums[i].total;
		++*n;
	}
	return all;
}

uint32_t analyze_sample_values(const struct analyze_sample *s, double *values)
{
	uint32_t n, i, out = 0;
	struct analyze_sums all = sums_of(s, &n);
	double mean = all.total / all.calls, shift = 0;

	for (i = 0; i < s->n; i++) {
		const struct analyze_sums *one = &s->sums[i];

		if (!(one->calls > 0))
			continue;
		/* Off by how much, were it not there, the mean would be: times n - 1. */
		values[out] = n == 1 ? 0 :
				       (n - 1) * (one->total - mean * one->calls) /
					       (all.calls - one->calls);
		shift += values[out++] / n;
	}
	for (i = 0; i < out; i++)
		values[i] += mean - shift;
	return out;
}

struct analyze_moments analyze_sample_moments(const struct analyze_sample *s, double *values)
{
	double *own = values ? values : alloc_array(s->n, sizeof(*own));
	struct analyze_moments m;
	uint32_t n;

	m = analyze_moments_of(own, analyze_sample_values(s, own));
	if (m.n)
		m.systematic = s->uncertainty / sums_of(s, &n).calls;
	if (!values)
		free(own);
	return m;
}

/* ---- calibration ---- */

static double known(double value)
{
	return isnan(value) ? 0 : value;
}

/*
 * What may be wrong with a tick taken off for calls in each context: the relative spread of what a
 * call costs its callers, of the mechanisms there by what their calls cost. Which call was below
 * which is not kept, so that of a context holds for all in it.
 */
static void form_below(struct analyze_calibration *c, const struct profile *p,
		       const double full[PROFILE_N_MECHANISMS],
		       const double full_spread[PROFILE_N_MECHANISMS])
{
	double *costs = alloc_array(p->n_contexts, sizeof(*costs));
	uint32_t i;

	for (i = 0; i < p->n_cells; i++) {
		const struct profile_cell *cell = &p->cells[i];
		const struct profile_site *site = &p->sites[cell->site];

		if (site->kind == PROFILE_SITE_CONTEXT)
			continue;
		costs[cell->context] +=
			(double)profile_stats_observed(&cell->stats) * full[site->mech];
		c->below[cell->context] +=
			(double)profile_stats_observed(&cell->stats) * full_spread[site->mech];
	}
	for (i = 0; i < p->n_contexts; i++)
		c->below[i] = costs[i] > 0 ? c->below[i] / costs[i] * DEVIATIONS_PER_SPREAD : 0;
	free(costs);
}

void analyze_calibration_init(struct analyze_calibration *c, const struct profile *p)
{
	double full[PROFILE_N_MECHANISMS] = { 0 }, full_spread[PROFILE_N_MECHANISMS] = { 0 };
	const char *faults = profile_env_get(p, PROFILE_ENV_PAGE_FAULTS);
	const struct analyze_cost *row;
	struct analyze_costs costs;
	uint32_t i;

	memset(c, 0, sizeof(*c));
	c->below = alloc_array(p->n_contexts, sizeof(*c->below));
	analyze_costs_init(&costs, p);
	for (i = 0; i < PROFILE_N_MECHANISMS; i++) {
		row = analyze_cost_find(&costs, profile_mechanism_name(i));
		if (!row)
			continue;
		c->inner[i] = known(row->inner);
		c->inner_spread[i] = known(row->inner_spread) * DEVIATIONS_PER_SPREAD;
		full[i] = known(row->full);
		full_spread[i] = known(row->full_spread);
	}
	row = faults ? analyze_cost_find(&costs, faults) : NULL;
	if (row) {
		c->fault_inner = known(row->inner);
		c->fault_spread = known(row->inner_spread) * DEVIATIONS_PER_SPREAD;
	}
	row = analyze_cost_find(&costs, "sample");
	if (row && p->sample_period) {
		c->sample = known(row->interrupt);
		c->sample_spread = known(row->interrupt_spread) * DEVIATIONS_PER_SPREAD;
		c->period = (double)p->sample_period;
	}
	c->fault_context = UINT32_MAX;
	for (i = 0; i < p->n_contexts; i++)
		if (!strcmp(p->contexts[i].name, PROFILE_CONTEXT_PAGE_FAULT))
			c->fault_context = i;
	form_below(c, p, full, full_spread);
	analyze_costs_deinit(&costs);
}

void analyze_calibration_deinit(struct analyze_calibration *c)
{
	free(c->below);
	memset(c, 0, sizeof(*c));
}

double analyze_calibration_uncertainty(const struct analyze_calibration *c, const struct profile *p,
				       const struct profile_cell *cell)
{
	const struct profile_site *site = &p->sites[cell->site];
	bool is_fault = site->kind == PROFILE_SITE_CONTEXT && cell->context == c->fault_context;
	double inner = is_fault ? c->fault_inner : c->inner[site->mech];
	double spread = is_fault ? c->fault_spread : c->inner_spread[site->mech];
	double hits = (double)profile_stats_observed(&cell->stats);
	double cost = (double)cell->stats.cost, own = fmin(hits * inner, cost);
	double samples = c->period > 0 ? (double)cell->stats.oncpu / c->period : 0;
	double below = fmax(cost - own - samples * c->sample, 0);

	/* What was not taken off cannot be wrong. */
	if (!(cost > 0))
		return 0;
	return hits * spread + below * c->below[cell->context] + samples * c->sample_spread;
}
