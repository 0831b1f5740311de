// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/figures/table.h"

#include <math.h>
#include <string.h>

#include "analyze/figures/accounting.h"
#include "base/alloc.h"
#include "base/log.h"
#include "base/sorted.h"

const struct analyze_figures analyze_figures_none = ANALYZE_FIGURES_NONE;

/* A cell (calls of one function in one context and run) to add to a row. CELL NULL: the function has no calls, but gets a row. */
struct ref {
	const char *name, *context;
	const struct profile_cell *cell;
	bool skipped, uncounted;
	bool by_block; /* block probes counted these calls and distort their time */
};

struct sampling {
	const struct profile *p;
	const struct analyze_repetitions *repetitions;
	struct analyze_calibration calibration;
	const struct analyze_options *options;
	double seconds;
};

struct refs {
	vec_of(struct ref, refs);
};

/* Return S's total of this kind of TIME, without probe cost unless RAW. Subtract integers, since doubles may round. */
static double time_total(const struct profile_stats *s, enum analyze_time time, bool raw)
{
	if (time == ANALYZE_TIME_SELF)
		return (double)(int64_t)((uint64_t)s->self + (raw ? s->cost : 0));
	return (double)(int64_t)((time == ANALYZE_TIME_WALL ? s->wall : s->oncpu) -
				 (raw ? 0 : s->cost));
}

/* BPF programs sum up the squares of times. From LONG_CALL ticks on, they square time / LONG_CALL_LESS, rounded down. */
#define LONG_CALL      (1 << 20)
#define LONG_CALL_LESS 1024

/* Return the standard deviation of a call's time. If the rounding of long calls may hide it, return an upper limit. */
static double spread_of(const struct analyze_figures *f, double sumsq)
{
	double hidden = f->max < LONG_CALL ? 0 : f->mean * LONG_CALL_LESS;
	double variance = fmax(0, sumsq / f->calls - f->mean * f->mean);

	return variance > hidden ? sqrt(variance) :
				   fmin(sqrt(variance + hidden), (f->max - f->min) / 2);
}

/* Return TIME, or NAN if TIME is not above 0, because the subtracted probe cost is too large. */
static double known(double time)
{
	return time > 0 ? time : NAN;
}

void analyze_figures_form(struct analyze_figures *f, const struct profile_stats *stats,
			  const struct analyze_options *options)
{
	*f = analyze_figures_none;
	f->calls = (double)stats->calls;
	if (stats->errors != PROFILE_NOT_COUNTED)
		f->errors = (double)stats->errors;
	for (enum analyze_time time = 0; time < ANALYZE_N_TIMES; time++) {
		f->totals[time] = time_total(stats, time, options->raw);
		if (stats->calls)
			f->means[time] = f->totals[time] / f->calls;
	}
	f->total = f->totals[options->time];
	f->mean = f->means[options->time];
	/* The recorder has percentiles only for on-CPU time without probe cost. */
	if (options->time != ANALYZE_TIME_ONCPU || (options->raw && stats->cost) || !stats->calls)
		return;
	f->min = (double)stats->min;
	f->max = (double)stats->max;
	f->spread = spread_of(f, stats->sumsq);
	f->p50 = known(profile_stats_quantile(stats, 0.50));
	f->p90 = known(profile_stats_quantile(stats, 0.90));
	f->p99 = known(profile_stats_quantile(stats, 0.99));
	f->p999 = known(profile_stats_quantile(stats, 0.999));
	f->min = known(f->min);
	f->max = known(f->max);
}

struct analyze_figures analyze_figures_per_run(const struct analyze_figures *f, uint32_t runs)
{
	struct analyze_figures per_run = *f;

	per_run.calls /= runs;
	per_run.errors /= runs;
	per_run.total /= runs;
	for (enum analyze_time time = 0; time < ANALYZE_N_TIMES; time++)
		per_run.totals[time] /= runs;
	return per_run;
}

void analyze_sample_add_cell(struct analyze_sample *s, const struct analyze_repetitions *r,
			     const struct analyze_calibration *c, const struct profile *p,
			     const struct profile_cell *cell, const struct analyze_options *options)
{
	analyze_sample_add(s, r->of_run[cell->run], (double)cell->stats.calls,
			   time_total(&cell->stats, options->time, options->raw));
	if (!options->raw)
		s->uncertainty += analyze_calibration_uncertainty(c, p, cell);
}

int analyze_context_compare(const char *a, const char *b)
{
	bool all_a, all_b;

	if (!a || !b)
		return !!a - !!b;
	all_a = analyze_is_sum(a);
	all_b = analyze_is_sum(b);
	if (all_a || all_b)
		return all_b - all_a;
	return strcmp(a, b);
}

define_compare(ref_compare, struct ref,
	       strcmp(a->name, b->name) ?: analyze_context_compare(a->context, b->context));

const char analyze_caveat_probes[] = "less than its probes";

double analyze_duration(const struct profile *p)
{
	double ns = 0;

	for (uint32_t i = 0; i < p->n_runs; i++)
		ns += profile_run_is_probed(p, &p->runs[i]) ? (double)p->runs[i].wall : 0;
	return ns > 0 && !p->n_args && profile_env_get(p, PROFILE_ENV_TASKS) ? ns / 1e9 : NAN;
}

static void row_add(struct analyze_rows *rows, const struct ref *first, size_t n,
		    const char *context, const struct sampling *sampling)
{
	struct analyze_row row = { .kind = context ? ANALYZE_CALL_FUNCTION : ANALYZE_CALL_SYSCALL,
				   .name = first->name,
				   .label = first->name,
				   .context = context };
	scoped(profile_stats_deinit) struct profile_stats sum;
	scoped(analyze_sample_deinit) struct analyze_sample sample = {};
	bool uncounted = false, has_cells = false;

	profile_stats_init(&sum);
	for (size_t i = 0; i < n; i++) {
		uncounted |= first[i].uncounted;
		has_cells |= first[i].cell != NULL;
		if (first[i].skipped)
			row.caveat = ANALYZE_CAVEAT_SKIPPED;
		if (!first[i].cell)
			continue;
		profile_stats_merge(&sum, &first[i].cell->stats);
		if (first->by_block)
			continue;
		analyze_sample_add_cell(&sample, sampling->repetitions, &sampling->calibration,
					sampling->p, first[i].cell, sampling->options);
	}
	row.moments = analyze_sample_moments(&sample);
	analyze_figures_form(&row.figures, &sum, sampling->options);
	if (first->by_block) {
		row.figures = analyze_figures_none;
		row.figures.calls = (double)sum.calls;
		row.caveat = "blocks counted";
	}
	if (uncounted) {
		row.caveat = has_cells ? ANALYZE_CAVEAT_PARTLY : ANALYZE_CAVEAT_UNCOUNTED;
		row.figures = has_cells ? row.figures : analyze_figures_none;
	}
	row.figures.rate = row.figures.calls / sampling->seconds;
	/* With counted instructions, the probe cost is exact, so a row needs no remark about it. */
	if (!row.caveat && sampling->p->clock == PROFILE_CLOCK_NS && !sampling->options->raw &&
	    row.figures.totals[ANALYZE_TIME_ONCPU] < (double)sum.cost)
		row.caveat = analyze_caveat_probes;
	vec_push(rows, rows, row);
}

/* Add a row for each context in REFS, which are N entries of one function. Return the number of rows. */
static size_t contexts_add(struct analyze_rows *rows, const struct ref *refs, size_t n,
			   const struct sampling *sampling)
{
	size_t added = 0;

	for_each_run(i, j, n, !ref_compare(&refs[i], &refs[j])) {
		if (!refs[i].cell)
			continue;
		row_add(rows, &refs[i], j - i, refs[i].context, sampling);
		added++;
	}
	return added;
}

static void functions_form(struct analyze_rows *rows, struct refs *refs,
			   const struct sampling *sampling)
{
	sort_array(refs->refs, refs->n_refs, sizeof(*refs->refs), ref_compare);
	for_each_run(i, j, refs->n_refs, !strcmp(refs->refs[i].name, refs->refs[j].name)) {
		uint32_t sum = rows->n_rows;
		size_t contexts;

		row_add(rows, &refs->refs[i], j - i, ANALYZE_ALL_CONTEXTS, sampling);
		contexts = contexts_add(rows, &refs->refs[i], j - i, sampling);
		rows->rows[sum].redundant = contexts == 1;
		if (log_progress_due())
			log_progress("summing up functions: %u of %u", j, refs->n_refs);
	}
	log_progress_end();
}

static void label_marked(struct analyze_table *table, struct analyze_rows *of)
{
	vec_each(struct analyze_row, row, of, rows) {
		if (!row->caveat)
			continue;
		row->label = alloc_keep(&table->labels,
					row->caveat == analyze_caveat_probes ?
						alloc_printf("%s !", row->name) :
						alloc_printf("%s [%s]", row->name, row->caveat));
	}
}

void analyze_table_init(struct analyze_table *table, const struct profile *p,
			const struct analyze_options *options)
{
	struct refs syscalls = { 0 }, functions = { 0 };
	struct sampling sampling = { .p = p,
				     .repetitions = &table->repetitions,
				     .options = options,
				     .seconds = analyze_duration(p) };
	scoped_free bool *skipped = analyze_sites_skipped(p);
	scoped_free bool *by_block = alloc_array(p->n_sites, sizeof(*by_block));

	for (uint32_t i = 0; i < p->n_blocks && !profile_is_exact(p); i++)
		by_block[p->blocks[i].site] = true;
	memset(table, 0, sizeof(*table));
	table->clock = p->clock;
	table->time = options->time;
	table->runs = profile_probed_runs(p);
	analyze_repetitions_init(&table->repetitions, p, PROFILE_RUN_PROBED);
	table->boots = table->repetitions.boots;
	analyze_calibration_init(&sampling.calibration, p, ANALYZE_OF_TIME);
	for (uint32_t i = 0; i < p->n_sites; i++)
		if (p->sites[i].kind == PROFILE_SITE_FUNCTION)
			vec_push(&functions, refs,
				 ((struct ref){ .name = p->sites[i].name,
						.uncounted =
							!profile_site_is_counted(p, &p->sites[i]),
						.skipped = skipped[i],
						.by_block = by_block[i] }));
	vec_each(const struct profile_cell, cell, p, cells) {
		const struct profile_site *site = &p->sites[cell->site];
		struct ref ref = { .name = site->name,
				   .context = p->contexts[cell->context].name,
				   .cell = cell,
				   .skipped = skipped[cell->site],
				   .by_block = by_block[cell->site] };

		if (p->runs[cell->run].kind == PROFILE_RUN_CONTROL)
			continue;
		if (site->kind == PROFILE_SITE_CONTEXT) {
			ref.name = ref.context;
			ref.context = NULL;
			vec_push(&syscalls, refs, ref);
			table->oncpu += (double)cell->stats.oncpu;
			table->cost += (double)cell->stats.cost;
		} else if (site->kind == PROFILE_SITE_FUNCTION) {
			vec_push(&functions, refs, ref);
		}
	}
	sort_array(syscalls.refs, syscalls.n_refs, sizeof(*syscalls.refs), ref_compare);
	contexts_add(&table->syscalls, syscalls.refs, syscalls.n_refs, &sampling);
	functions_form(&table->functions, &functions, &sampling);
	label_marked(table, &table->syscalls);
	label_marked(table, &table->functions);
	free(syscalls.refs);
	free(functions.refs);
	analyze_calibration_deinit(&sampling.calibration);
}

void analyze_table_deinit(struct analyze_table *table)
{
	alloc_texts_free(&table->labels);
	free(table->syscalls.rows);
	free(table->functions.rows);
	analyze_repetitions_deinit(&table->repetitions);
	memset(table, 0, sizeof(*table));
}

define_compare(total_compare, struct analyze_row,
	       !!isnan(a->figures.total) - !!isnan(b->figures.total)      ?:
		       compare_values(b->figures.total, a->figures.total) ?:
		       strcmp(a->name, b->name)                           ?:
		       analyze_context_compare(a->context, b->context));

void analyze_rows_sort_by_total(struct analyze_rows *rows)
{
	sort_array(rows->rows, rows->n_rows, sizeof(*rows->rows), total_compare);
}
