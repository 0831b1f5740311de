// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/figures/calibration.h"

#include <math.h>
#include <string.h>

#include "analyze/stats/statistics.h"
#include "base/alloc.h"
#include "base/sorted.h"

static double known(double value)
{
	return isnan(value) ? 0 : value;
}

/* Number of calls of one function in one context (a system call or an interrupt). */
struct timed_calls {
	uint64_t where; /* context number << 32 | function number */
	double calls;
};

static void add_calls(void *to, void *from)
{
	((struct timed_calls *)to)->calls += ((struct timed_calls *)from)->calls;
}

/* Return an array for free() with an element for each timed function in each context. Sum up its calls over all runs. */
static struct timed_calls *find_timed(const struct profile *p, size_t *n)
{
	struct timed_calls *timed = alloc_array(p->n_cells, sizeof(*timed));

	*n = 0;
	vec_each(const struct profile_cell, cell, p, cells)
		if (p->sites[cell->site].kind != PROFILE_SITE_CONTEXT)
			timed[(*n)++] = (struct timed_calls){
				(uint64_t)cell->context << 32 | cell->site,
				(double)profile_stats_observed(&cell->stats),
			};
	*n = unite_array(timed, *n, sizeof(*timed), compare_u64, add_calls);
	return timed;
}

/*
 * Set, for each context, the relative error of the cost that was subtracted for called functions. The profile does not tell which
 * function made a call, so all functions of a context get the same error. On a real clock, all probes of one type have the same
 * error, so add up the errors of calls. With counted instructions, the error of a probe depends on the probe's address and is
 * random, so add up the squares of errors.
 */
static void form_callees(struct analyze_calibration *c, const struct profile *p,
			 const double full[PROFILE_N_MECHANISMS],
			 const double full_spread[PROFILE_N_MECHANISMS])
{
	scoped_free double *costs = alloc_array(p->n_contexts, sizeof(*costs));
	size_t n;
	scoped_free struct timed_calls *timed = find_timed(p, &n);
	bool by_place = p->clock == PROFILE_CLOCK_INSN;

	for (size_t i = 0; i < n; i++) {
		uint32_t context = timed[i].where >> 32;
		enum profile_mechanism mech = p->sites[(uint32_t)timed[i].where].mech;
		double error = timed[i].calls * full_spread[mech];

		costs[context] += timed[i].calls * full[mech];
		c->callees[context] += by_place ? error * error : error;
		c->alone[context] = false;
	}
	for (uint32_t i = 0; i < p->n_contexts; i++) {
		double error = by_place ? sqrt(c->callees[i]) : c->callees[i];

		c->callees[i] = costs[i] > 0 ? error / costs[i] * DEVIATIONS_PER_SPREAD : 0;
	}
}

struct spreads {
	double inner, full;
};

static struct spreads spreads_of(const struct analyze_cost *row, const struct profile *p,
				 uint32_t counter)
{
	if (counter == ANALYZE_OF_TIME)
		return (struct spreads){ known(row->inner_spread), known(row->full_spread) };
	vec_each(const struct profile_counter_cost, cost, p, counter_costs)
		if (cost->counter == counter &&
		    !strcmp(profile_mechanism_name(cost->mech), row->name))
			return (struct spreads){ known(cost->inner_spread),
						 known(cost->full_spread) };
	return (struct spreads){ 0, 0 };
}

void analyze_calibration_init(struct analyze_calibration *c, const struct profile *p,
			      uint32_t counter)
{
	double full[PROFILE_N_MECHANISMS] = { 0 }, full_spread[PROFILE_N_MECHANISMS] = { 0 };
	const char *faults = profile_env_get(p, PROFILE_ENV_PAGE_FAULTS);
	const struct analyze_cost *row;
	struct spreads spreads;
	scoped(analyze_costs_deinit) struct analyze_costs costs;

	memset(c, 0, sizeof(*c));
	c->callees = alloc_array(p->n_contexts, sizeof(*c->callees));
	c->alone = alloc_array(p->n_contexts, sizeof(*c->alone));
	for (uint32_t i = 0; i < p->n_contexts; i++)
		c->alone[i] = true;
	analyze_costs_init(&costs, p);
	for (uint32_t i = 0; i < PROFILE_N_MECHANISMS; i++) {
		row = analyze_cost_find(&costs, profile_mechanism_name(i));
		if (!row)
			continue;
		spreads = spreads_of(row, p, counter);
		c->inner[i] = known(row->inner);
		c->inner_spread[i] = spreads.inner * DEVIATIONS_PER_SPREAD;
		full[i] = known(row->full);
		full_spread[i] = spreads.full;
	}
	row = faults ? analyze_cost_find(&costs, faults) : NULL;
	if (row) {
		c->fault_inner = known(row->inner);
		c->fault_spread = spreads_of(row, p, counter).inner * DEVIATIONS_PER_SPREAD;
	}
	row = analyze_cost_find(&costs, "sample");
	if (row && p->sample_period) {
		c->sample = known(row->interrupt);
		/* A sample takes time, but leaves the counts of other events as they are. */
		c->sample_spread = counter == ANALYZE_OF_TIME ?
					   known(row->interrupt_spread) * DEVIATIONS_PER_SPREAD :
					   0;
		c->period = (double)p->sample_period;
	}
	c->fault_context = UINT32_MAX;
	for (uint32_t i = 0; i < p->n_contexts; i++)
		if (profile_context_is(p, i, PROFILE_CONTEXT_PAGE_FAULT))
			c->fault_context = i;
	form_callees(c, p, full, full_spread);
}

void analyze_calibration_deinit(struct analyze_calibration *c)
{
	free(c->callees);
	free(c->alone);
	memset(c, 0, sizeof(*c));
}

/* Return the expected number of samples in the on-CPU time of CELL. */
static double samples_of(const struct analyze_calibration *c, const struct profile_cell *cell)
{
	return c->period > 0 ? (double)cell->stats.oncpu / c->period : 0;
}

static bool is_fault(const struct analyze_calibration *c, const struct profile *p,
		     const struct profile_cell *cell)
{
	return p->sites[cell->site].kind == PROFILE_SITE_CONTEXT &&
	       cell->context == c->fault_context;
}

/*
 * Return the ticks that were subtracted from CELL's calls for the probes of CELL's function, but not of called functions. A system
 * call's probes cost more with cold caches (docs/accounting.md). How much more is known only if the context has no other probes.
 */
static double own_cost(const struct analyze_calibration *c, const struct profile *p,
		       const struct profile_cell *cell)
{
	const struct profile_site *site = &p->sites[cell->site];
	double inner = is_fault(c, p, cell) ? c->fault_inner : c->inner[site->mech];
	double cost = (double)cell->stats.cost;

	if (site->kind == PROFILE_SITE_CONTEXT && c->alone[cell->context])
		return fmax(cost - samples_of(c, cell) * c->sample, 0);
	return fmin((double)profile_stats_observed(&cell->stats) * inner, cost);
}

double analyze_calibration_uncertainty(const struct analyze_calibration *c, const struct profile *p,
				       const struct profile_cell *cell)
{
	enum profile_mechanism mech = p->sites[cell->site].mech;
	double inner = is_fault(c, p, cell) ? c->fault_inner : c->inner[mech];
	double spread = is_fault(c, p, cell) ? c->fault_spread : c->inner_spread[mech];
	double cost = (double)cell->stats.cost, own = own_cost(c, p, cell);
	double hits = (double)profile_stats_observed(&cell->stats);
	double samples = samples_of(c, cell), callees = fmax(cost - own - samples * c->sample, 0);

	if (!(cost > 0))
		return 0;
	return fmax(hits, inner > 0 ? own / inner : 0) * spread +
	       callees * c->callees[cell->context] + samples * c->sample_spread;
}

static struct analyze_net_probes probes_of(const struct analyze_costs *costs, const char *name)
{
	const struct analyze_cost *row = name ? analyze_cost_find(costs, name) : NULL;

	if (!row || isnan(row->full))
		return (struct analyze_net_probes){ NAN, NAN, NAN };
	return (struct analyze_net_probes){
		.inner = row->inner,
		.outer = row->full - row->inner,
		.error = isnan(row->full_spread) ?
				 0 :
				 row->full_spread * DEVIATIONS_PER_SPREAD / row->full,
	};
}

void analyze_net_init(struct analyze_net *net, const struct profile *p)
{
	scoped(analyze_costs_deinit) struct analyze_costs costs;

	net->p = p;
	analyze_calibration_init(&net->calibration, p, ANALYZE_OF_TIME);
	analyze_costs_init(&costs, p);
	net->syscall = probes_of(&costs, profile_mechanism_name(p->sites[0].mech));
	net->fault = probes_of(&costs, profile_env_get(p, PROFILE_ENV_PAGE_FAULTS));
}

void analyze_net_deinit(struct analyze_net *net)
{
	analyze_calibration_deinit(&net->calibration);
}

/* Return the mean cost in ticks that probes add to one call in CELL. Set *ERROR to the cost's standard deviation. */
static double cell_cost(const struct analyze_net *net, const struct profile_cell *cell,
			double *error)
{
	bool is_fault = profile_context_is(net->p, cell->context, PROFILE_CONTEXT_PAGE_FAULT);
	const struct analyze_net_probes *probes = is_fault ? &net->fault : &net->syscall;
	double calls = (double)cell->stats.calls;
	double own = own_cost(&net->calibration, net->p, cell) / calls;
	/* Cold caches multiply the cost outside of the measured time by the same factor as the cost inside. */
	double outer = probes->inner > 0 ? own / probes->inner * probes->outer : probes->outer;

	*error = analyze_calibration_uncertainty(&net->calibration, net->p, cell) / calls +
		 outer * probes->error;
	return (double)cell->stats.cost / calls + outer;
}

double analyze_net_cost(const struct analyze_net *net, uint32_t run, double iterations,
			double *error)
{
	const struct profile *p = net->p;
	double cost = 0;
	uint32_t n = 0;

	*error = 0;
	vec_each(const struct profile_cell, cell, p, cells) {
		double times = floor((double)cell->stats.calls / iterations), of_call;

		if (cell->run != run || p->sites[cell->site].kind != PROFILE_SITE_CONTEXT ||
		    !(times >= 1))
			continue;
		cost += times * cell_cost(net, cell, &of_call);
		*error += times * of_call;
		n++;
	}
	return n == 1 || iterations == 1 ? cost : NAN;
}

/* Return the row of probe type MECH. Rows are indexed by type until drop_unused() removes some of them. */
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
	/* FULL includes INNER, so a FULL below INNER is no measured value. */
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

/* Set the row of probe type MECH for N functions. A run's LOSSES[HITS_IN] is its number of executed probes, [COST_IN] the cost. */
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

/* Return the number of functions whose arguments or variables were captured. */
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

/* Return the mean duration of the runs of KIND, or NAN if there are none. Set *N to the number of these runs. */
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

/* Return the ticks that probes added to system calls and page faults, both inside and just outside of the measured time. */
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
