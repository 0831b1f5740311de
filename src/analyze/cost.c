// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/cost.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "analyze/diff.h"
#include "analyze/sort.h"
#include "base/alloc.h"

static struct analyze_cost *row_of(struct analyze_costs *costs, const char *name)
{
	struct analyze_cost row = {
		.name = name,
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
	uint32_t i;

	for (i = 0; i < costs->n_rows; i++)
		if (!strcmp(costs->rows[i].name, name))
			return &costs->rows[i];
	vec_push(costs, rows, row);
	return &costs->rows[i];
}

/* Reads KEY=VALUE+-SPREAD out of TEXT, whose words are separated by blanks. */
static void read_value(const char *text, const char *key, double *value, double *spread)
{
	size_t n = strlen(key);
	const char *at;
	char *end;

	for (at = text; at; at = strchr(at, ' ')) {
		at += strspn(at, " ");
		if (strncmp(at, key, n) || at[n] != '=')
			continue;
		*value = strtod(at + n + 1, &end);
		if (end == at + n + 1 || !isfinite(*value)) {
			*value = NAN;
			return;
		}
		if (!strncmp(end, "+-", 2))
			*spread = strtod(end + 2, NULL);
		return;
	}
}

static void read_calibration(struct analyze_costs *costs, const struct profile *p)
{
	size_t prefix = strlen(PROFILE_ENV_COST);
	uint32_t i;

	for (i = 0; i < p->n_envs; i++) {
		struct analyze_cost *row;

		if (strncmp(p->envs[i].key, PROFILE_ENV_COST, prefix))
			continue;
		row = row_of(costs, p->envs[i].key + prefix);
		row->calibration = p->envs[i].value;
		read_value(row->calibration, "inner", &row->inner, &row->inner_spread);
		read_value(row->calibration, "full", &row->full, &row->full_spread);
		read_value(row->calibration, "interrupt", &row->interrupt, &row->interrupt_spread);
		/* The part cannot be more than the whole: the whole was not measured. */
		if (row->full < row->inner)
			row->full = row->full_spread = NAN;
	}
}

static void count(double *sum, double n)
{
	*sum = isnan(*sum) ? n : *sum + n;
}

/*
 * The rows of what timed calls: one for each mechanism of sites, and that of page faults, which have
 * one of their own. NULL where it is not known. A file may have many cells: looked for once.
 */
struct timed {
	const char *names[PROFILE_N_MECHANISMS + 1];
	uint32_t rows[PROFILE_N_MECHANISMS + 1]; /* of costs, plus 1; 0: none yet */
};

#define PAGE_FAULTS PROFILE_N_MECHANISMS

static struct analyze_cost *timed_row(struct analyze_costs *costs, struct timed *timed, int mech)
{
	if (!timed->names[mech])
		return NULL;
	if (!timed->rows[mech])
		timed->rows[mech] = row_of(costs, timed->names[mech]) - costs->rows + 1;
	return &costs->rows[timed->rows[mech] - 1];
}

static void count_functions(struct analyze_costs *costs, struct timed *timed,
			    const struct profile *p)
{
	uint32_t i;

	for (i = 0; i < p->n_sites; i++) {
		const struct profile_site *site = &p->sites[i];
		struct analyze_cost *row;

		if (site->kind == PROFILE_SITE_CONTEXT || site->mech == PROFILE_MECH_NONE)
			continue;
		row = timed_row(costs, timed, site->mech);
		count(&row->functions, 1);
		count(&row->calls, 0);
		row->example = site->name;
	}
}

static void count_calls(struct analyze_costs *costs, struct timed *timed, const struct profile *p)
{
	uint32_t i;

	for (i = 0; i < p->n_cells; i++) {
		const struct profile_cell *cell = &p->cells[i];
		const struct profile_site *site = &p->sites[cell->site];
		bool is_context = site->kind == PROFILE_SITE_CONTEXT;
		bool is_fault = is_context && !strcmp(p->contexts[cell->context].name,
						      PROFILE_CONTEXT_PAGE_FAULT);
		struct analyze_cost *row;

		if (p->runs[cell->run].kind == PROFILE_RUN_CONTROL)
			continue;
		if (is_context) {
			costs->oncpu += (double)cell->stats.oncpu;
			costs->subtracted += (double)cell->stats.cost;
		}
		row = timed_row(costs, timed, is_fault ? PAGE_FAULTS : (int)site->mech);
		if (!row)
			continue;
		count(&row->calls, (double)profile_stats_observed(&cell->stats));
		count(&row->contexts, is_context ? (double)cell->stats.calls : 0);
	}
}

/* Probes of blocks have a cost each: in the file is their sum. */
static void count_blocks(struct analyze_costs *costs, const struct profile *p)
{
	double hits = 0, total = 0;
	struct analyze_cost *row;
	uint32_t i;

	for (i = 0; i < p->n_runs; i++) {
		const uint64_t *losses = p->runs[i].losses;

		if (losses[PROFILE_INFO_BLOCK_HITS] == PROFILE_NOT_COUNTED ||
		    losses[PROFILE_INFO_BLOCK_COST] == PROFILE_NOT_COUNTED)
			continue;
		hits += (double)losses[PROFILE_INFO_BLOCK_HITS];
		total += (double)losses[PROFILE_INFO_BLOCK_COST];
	}
	if (!p->n_blocks || !(hits > 0))
		return;
	row = row_of(costs, "block");
	row->functions = p->n_blocks;
	row->calls = hits;
	row->full = total / hits;
	row->total = total;
	row->is_of_hits = true;
	if (costs->oncpu > 0)
		row->share = total / costs->oncpu;
}

static void count_all(struct analyze_costs *costs, const struct profile *p)
{
	struct timed timed = { .names = { NULL } };
	int mech;

	for (mech = 0; mech < PROFILE_N_MECHANISMS; mech++)
		timed.names[mech] = profile_mechanism_name(mech);
	timed.names[PAGE_FAULTS] = profile_env_get(p, PROFILE_ENV_PAGE_FAULTS);
	count_functions(costs, &timed, p);
	count_calls(costs, &timed, p);
	count_blocks(costs, p);
}

static void form_totals(struct analyze_costs *costs)
{
	uint32_t i;

	for (i = 0; i < costs->n_rows; i++) {
		struct analyze_cost *row = &costs->rows[i];
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
	uint32_t i;

	*n = 0;
	for (i = 0; i < p->n_runs; i++) {
		if (p->runs[i].kind != kind)
			continue;
		sum += (double)p->runs[i].wall;
		++*n;
	}
	return *n ? sum / *n : NAN;
}

/* What probes are known to have taken from the workload: also around its syscalls, if calibrated. */
static double time_added(const struct analyze_costs *costs)
{
	double added = costs->subtracted;
	uint32_t i;

	for (i = 0; i < costs->n_rows; i++) {
		const struct analyze_cost *row = &costs->rows[i];

		if (row->contexts > 0 && row->full > row->inner)
			added += row->contexts * (row->full - row->inner);
	}
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

static int row_compare(const void *left, const void *right)
{
	const struct analyze_cost *a = left, *b = right;

	return strcmp(a->name, b->name);
}

void analyze_costs_init(struct analyze_costs *costs, const struct profile *p)
{
	uint32_t i;

	memset(costs, 0, sizeof(*costs));
	costs->clock = p->clock;
	for (i = 0; i < p->n_runs; i++)
		if (p->runs[i].boot >= costs->boots)
			costs->boots = p->runs[i].boot + 1;
	read_calibration(costs, p);
	count_all(costs, p);
	form_totals(costs);
	form_slowdown(costs, p);
	analyze_sort(costs->rows, costs->n_rows, sizeof(*costs->rows), row_compare);
}

void analyze_costs_deinit(struct analyze_costs *costs)
{
	free(costs->rows);
	memset(costs, 0, sizeof(*costs));
}

bool analyze_cost_is_unknown(const struct analyze_cost *row)
{
	return row->calls > 0 && !row->calibration && !row->is_of_hits;
}

const struct analyze_cost *analyze_cost_find(const struct analyze_costs *costs, const char *name)
{
	uint32_t i;

	for (i = 0; i < costs->n_rows; i++)
		if (!strcmp(costs->rows[i].name, name))
			return &costs->rows[i];
	return NULL;
}
