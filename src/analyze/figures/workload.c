// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/figures/workload.h"

#include <math.h>
#include <string.h>

#include "analyze/figures/calibration.h"
#include "analyze/stats/statistics.h"
#include "base/alloc.h"
#include "base/sorted.h"

const struct analyze_workload_figures analyze_workload_none = { NAN, NAN, NAN, NAN };

/* A result that one run reported. */
struct ref {
	const char *name;
	bool probed;
	uint32_t run;
	size_t order;
	struct analyze_workload_figures figures;
	double gross;
	double probes, probes_error; /* probe cost per iteration in ticks, or NAN */
};

struct refs {
	vec_of(struct ref, refs);
};

/* Sum and number of the known values, to compute their mean. */
struct mean {
	double sum;
	size_t n;
};

define_compare(ref_compare, struct ref,
	       strcmp(a->name, b->name)      ?:
		       a->probed - b->probed ?:
					       compare_values(a->order, b->order));

static void mean_add(struct mean *mean, double value)
{
	if (isnan(value))
		return;
	mean->sum += value;
	mean->n++;
}

/* Set ROW's time without the probe cost PROBES per iteration. ERROR is the cost's standard deviation, common to all runs. */
static void form_net(struct analyze_workload_row *row, double probes, double error)
{
	struct analyze_moments cost = { .n = row->moments.n, .mean = probes, .systematic = error };
	struct analyze_welch welch = analyze_welch_form(&cost, &row->moments);
	struct analyze_interval interval = analyze_welch_interval(&welch, ANALYZE_CONFIDENCE);

	row->net = row->gross - probes;
	row->net_error = isnan(welch.error) ? ANALYZE_SYSTEMATIC_REACH * error :
					      (interval.high - interval.low) / 2;
}

static struct analyze_workload_row row_form(const struct ref *refs, size_t n,
					    const struct analyze_repetitions *repetitions)
{
	struct analyze_workload_row row = { .name = refs->name,
					    .probed = refs->probed,
					    .order = refs->order };
	struct mean mean = { 0 }, p50 = { 0 }, gross = { 0 }, probes = { 0 }, error = { 0 };
	scoped(analyze_sample_deinit) struct analyze_sample sample = {};

	row.how = row.probed ? ANALYZE_HOW_PROBED : ANALYZE_HOW_UNPROBED;
	row.figures = analyze_workload_none;
	row.figures.iterations = 0;
	row.unit = repetitions->unit;
	for (size_t i = 0; i < n; i++) {
		row.figures.iterations += refs[i].figures.iterations;
		mean_add(&mean, refs[i].figures.mean);
		mean_add(&p50, refs[i].figures.p50);
		mean_add(&gross, refs[i].gross);
		mean_add(&probes, refs[i].probes);
		mean_add(&error, refs[i].probes_error);
		row.figures.min = fmin(row.figures.min, refs[i].figures.min);
		if (!isnan(refs[i].figures.mean))
			analyze_sample_add(&sample, repetitions->of_run[refs[i].run], 1,
					   refs[i].figures.mean);
	}
	row.moments = analyze_sample_moments(&sample);
	if (mean.n)
		row.figures.mean = mean.sum / (double)mean.n;
	if (p50.n)
		row.figures.p50 = p50.sum / (double)p50.n;
	row.gross = gross.n ? gross.sum / (double)gross.n : NAN;
	row.net = row.net_error = NAN;
	if (probes.n && probes.n == n)
		form_net(&row, probes.sum / (double)n, error.sum / (double)n);
	return row;
}

/*
 * Return an array for free(): the estimated cost of probes in each run of P, in ticks. The cost is 0 if P recorded tasks other
 * than the command's, since the command's time does not include the probes of other tasks.
 */
static double *probe_costs(const struct profile *p)
{
	double *costs = alloc_array(p->n_runs, sizeof(*costs));
	bool others = profile_env_get(p, PROFILE_ENV_TASKS);

	for (uint32_t i = 0; i < p->n_cells && !others; i++)
		if (p->sites[p->cells[i].site].kind == PROFILE_SITE_CONTEXT)
			costs[p->cells[i].run] += (double)p->cells[i].stats.cost;
	return costs;
}

/*
 * Collect the results that the workload reported in run number I. If it reported a single result, get the probe cost per iteration
 * from NET. If it reported several, the cost of each is unknown.
 */
static void reports_collect(struct refs *refs, const struct analyze_net *net, uint32_t i)
{
	const struct profile_run *run = &net->p->runs[i];

	vec_each(const struct profile_report, r, run, reports) {
		struct ref ref = {
			.name = r->name,
			.probed = profile_run_is_probed(net->p, run),
			.run = i,
			.order = refs->n_refs,
			.figures = { (double)r->iterations, r->mean, r->p50, r->min },
			.gross = r->mean,
			.probes = NAN,
			.probes_error = NAN,
		};

		if (ref.probed && run->n_reports == 1)
			ref.probes =
				analyze_net_cost(net, i, ref.figures.iterations, &ref.probes_error);
		vec_push(refs, refs, ref);
	}
}

static void refs_collect(struct refs *refs, const struct profile *p, bool raw)
{
	scoped_free double *costs = probe_costs(p);
	scoped(analyze_net_deinit) struct analyze_net net;

	analyze_net_init(&net, p);
	for (uint32_t i = 0; i < p->n_runs; i++)
		reports_collect(refs, &net, i);
	for (uint32_t i = 0; i < p->n_runs; i++) {
		const struct profile_run *run = &p->runs[i];
		double wall = (double)run->wall, cpu = (double)run->cpu;
		struct ref ref = { .name = ANALYZE_COMMAND,
				   .probed = profile_run_is_probed(p, run),
				   .run = i,
				   .order = SIZE_MAX - 1,
				   .figures = { 1, wall, NAN, wall },
				   .gross = wall,
				   .probes = NAN,
				   .probes_error = NAN };

		vec_push(refs, refs, ref);
		if (run->cpu == PROFILE_NOT_COUNTED)
			continue;
		if (!raw)
			cpu -= costs[i];
		ref.name = ANALYZE_COMMAND_CPU;
		ref.order = SIZE_MAX;
		ref.figures.mean = ref.figures.min = cpu;
		ref.gross = (double)run->cpu;
		if (ref.probed && !profile_env_get(p, PROFILE_ENV_TASKS))
			ref.probes = analyze_net_cost(&net, i, 1, &ref.probes_error);
		vec_push(refs, refs, ref);
	}
}

static bool is_same(const struct ref *a, const struct ref *b)
{
	return !strcmp(a->name, b->name) && a->probed == b->probed;
}

void analyze_workload_init(struct analyze_workload *workload, const struct profile *p, bool raw)
{
	struct analyze_repetitions repetitions[2];
	struct refs refs = { 0 };

	analyze_repetitions_init(&repetitions[false], p,
				 profile_is_exact(p) ? PROFILE_RUN_PROBED : PROFILE_RUN_CONTROL);
	analyze_repetitions_init(&repetitions[true], p, PROFILE_RUN_PROBED);
	memset(workload, 0, sizeof(*workload));
	refs_collect(&refs, p, raw);
	sort_array(refs.refs, refs.n_refs, sizeof(*refs.refs), ref_compare);
	for_each_run(i, j, refs.n_refs, is_same(&refs.refs[i], &refs.refs[j])) {
		const struct ref *first = &refs.refs[i];
		struct analyze_workload_row row, *other;

		row = row_form(first, j - i, &repetitions[first->probed]);
		other = workload->n_rows ? &workload->rows[workload->n_rows - 1] : NULL;
		/* If a name has a row with probes and a row without, both get the lower ORDER. */
		if (other && !strcmp(other->name, row.name)) {
			if (other->order < row.order)
				row.order = other->order;
			else
				other->order = row.order;
		}
		vec_push(workload, rows, row);
	}
	free(refs.refs);
	analyze_repetitions_deinit(&repetitions[false]);
	analyze_repetitions_deinit(&repetitions[true]);
}

void analyze_workload_deinit(struct analyze_workload *workload)
{
	free(workload->rows);
	memset(workload, 0, sizeof(*workload));
}

define_compare(order_compare, struct analyze_workload_row,
	       compare_values(a->order, b->order) ?: a->probed - b->probed);

void analyze_workload_sort_by_order(struct analyze_workload *workload)
{
	sort_array(workload->rows, workload->n_rows, sizeof(*workload->rows), order_compare);
}

/* Return the command's CPU time, from runs without probes if there are any: their row comes first. */
static double command_cpu(const struct analyze_workload *w)
{
	for (uint32_t i = 0; i < w->n_rows; i++)
		if (!strcmp(w->rows[i].name, ANALYZE_COMMAND_CPU))
			return w->rows[i].figures.mean;
	return NAN;
}

struct analyze_kernel_share analyze_kernel_share_of(const struct profile *p,
						    const struct analyze_table *t,
						    const struct analyze_workload *workload)
{
	const struct analyze_kernel_share none = { NAN, NAN, NAN };
	struct analyze_kernel_share s = { .command = command_cpu(workload) };

	for (uint32_t i = 0; i < t->syscalls.n_rows; i++)
		s.kernel += t->syscalls.rows[i].figures.totals[ANALYZE_TIME_ONCPU];
	s.kernel /= t->runs;
	s.share = s.kernel / s.command;
	/*
	 * Return NONE if the times include other tasks' system calls, or lack some system calls. A share far above 1 shows this,
	 * too. The share of a command that only makes system calls may be slightly above 1, since its two times are from different
	 * runs. Examples from the workload big-fork: 0.999997 and 1.0033, of three boots each.
	 */
	return profile_env_get(p, PROFILE_ENV_TASKS) || profile_env_get(p, PROFILE_ENV_SYSCALLS) ||
			       !(s.share >= 0 && s.share <= (1 + ABOUT_EQUAL)) ?
		       none :
		       s;
}
