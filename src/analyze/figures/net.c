// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/figures/net.h"

#include <math.h>

#include "analyze/figures/cost.h"
#include "analyze/stats/statistics.h"

/* What NAME's probes cost around a call. */
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
	analyze_calibration_init(&net->calibration, p);
	analyze_costs_init(&costs, p);
	net->syscall = probes_of(&costs, profile_mechanism_name(PROFILE_MECH_TRACEPOINT));
	net->fault = probes_of(&costs, profile_env_get(p, PROFILE_ENV_PAGE_FAULTS));
}

void analyze_net_deinit(struct analyze_net *net)
{
	analyze_calibration_deinit(&net->calibration);
}

/* Of each call of CELL's. */
static double cell_cost(const struct analyze_net *net, const struct profile_cell *cell,
			double *error)
{
	bool is_fault = profile_context_is(net->p, cell->context, PROFILE_CONTEXT_PAGE_FAULT);
	const struct analyze_net_probes *probes = is_fault ? &net->fault : &net->syscall;
	double calls = (double)cell->stats.calls;
	double own = analyze_calibration_own(&net->calibration, net->p, cell) / calls;
	/* Around the call its probes are as cold as in it. */
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
