// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/inline/ranges.h"

#include <math.h>
#include <string.h>

#include "base/alloc.h"
#include "base/sorted.h"

#define NAN_ESTIMATED         \
	{                     \
		NAN, NAN, NAN \
	}

#define ESTIMATE_NONE                                                       \
	{                                                                   \
		NAN, NAN, NAN_ESTIMATED, NAN, NAN_ESTIMATED, NAN, NAN, NAN, \
	}

static const struct analyze_estimate estimate_none = ESTIMATE_NONE;

static const struct analyze_range_side range_none = {
	.entries = NAN,
	.figures = ANALYZE_FIGURES_NONE,
	.low = NAN,
	.high = NAN,
	.estimate = ESTIMATE_NONE,
};

/* Data about an inlined function in one context. Data of the same function and context are merged into one row. */
struct item {
	struct analyze_body body;
	const char *context; /* NULL: the probes of SITE saw no calls */
	const struct profile_site *site; /* NULL: data from samples */
	const struct profile_cell *cell; /* NULL: data from samples, or no calls */
	const struct analyze_body_count *count;
};

struct items {
	vec_of(struct item, items);
};

define_compare(item_compare, struct item,
	       analyze_body_compare(&a->body, &b->body) ?:
		       analyze_context_compare(a->context, b->context));

static struct analyze_body site_body(const struct profile_site *site)
{
	return (struct analyze_body){ .name = site->name,
				      .function = site->into,
				      .chain = site->chain,
				      .file = site->file,
				      .line = site->line };
}

static void items_collect(struct items *items, const struct analyze_bodies *bodies,
			  const struct profile *p)
{
	for (uint32_t i = 0; i < p->n_sites; i++)
		if (p->sites[i].kind == PROFILE_SITE_RANGE)
			vec_push(items, items,
				 ((struct item){ .body = site_body(&p->sites[i]),
						 .site = &p->sites[i] }));
	vec_each(const struct profile_cell, cell, p, cells) {
		const struct profile_site *site = &p->sites[cell->site];

		if (site->kind == PROFILE_SITE_RANGE &&
		    p->runs[cell->run].kind != PROFILE_RUN_CONTROL)
			vec_push(items, items,
				 ((struct item){ .body = site_body(site),
						 .context = p->contexts[cell->context].name,
						 .site = site,
						 .cell = cell }));
	}
	for (uint32_t i = 0; i < bodies->n_counts; i++)
		vec_push(items, items,
			 ((struct item){ .body = bodies->bodies[bodies->counts[i].body],
					 .context = p->contexts[bodies->counts[i].context].name,
					 .count = &bodies->counts[i] }));
	sort_array(items->items, items->n_items, sizeof(*items->items), item_compare);
}

define_compare(context_compare, struct analyze_range_context, strcmp(a->name, b->name));

static const struct analyze_range_context *context_find(const struct analyze_ranges *ranges,
							const char *name)
{
	struct analyze_range_context key = { .name = name };

	return search_array(&key, ranges->contexts, ranges->n_contexts, sizeof(key),
			    context_compare);
}

/* Return each context's statistics. The caller deinits the elements and frees the array. A context without calls is not timed. */
static struct profile_stats *contexts_stats(const struct profile *p)
{
	struct profile_stats *stats = alloc_array(p->n_contexts, sizeof(*stats));

	for (uint32_t i = 0; i < p->n_contexts; i++)
		profile_stats_init(&stats[i]);
	vec_each(const struct profile_cell, cell, p, cells)
		if (p->sites[cell->site].kind == PROFILE_SITE_CONTEXT &&
		    p->runs[cell->run].kind != PROFILE_RUN_CONTROL)
			profile_stats_merge(&stats[cell->context], &cell->stats);
	return stats;
}

static void contexts_init(struct analyze_ranges *ranges, const struct profile *p,
			  const struct analyze_options *options)
{
	const struct analyze_options corrected = { .time = ANALYZE_TIME_ONCPU };
	struct analyze_range_context all = { .name = ANALYZE_ALL_CONTEXTS };
	const struct analyze_bodies *bodies = &ranges->bodies;
	scoped_free struct profile_stats *stats = contexts_stats(p);
	double served = bodies->all > 0 ? bodies->irq / bodies->all : 0;

	for (uint32_t i = 0; i < p->n_contexts; i++) {
		struct analyze_range_context context = { .name = p->contexts[i].name,
							 .number = i,
							 .samples = bodies->samples[i],
							 .sampled = NAN };
		struct analyze_figures figures;

		analyze_figures_form(&figures, &stats[i], &corrected);
		/* Interrupts occur in all code, but have a context of their own. Subtract their part of each context's time. */
		if (ranges->counted)
			context.sampled = context.samples * ranges->tick;
		else if (stats[i].calls)
			context.sampled = fmax(figures.total, 0) * (1 - served);
		analyze_figures_form(&figures, &stats[i], options);
		for (enum analyze_time time = 0; time < ANALYZE_N_TIMES; time++) {
			context.totals[time] = stats[i].calls ? figures.totals[time] : NAN;
			all.totals[time] += figures.totals[time];
		}
		all.samples += context.samples;
		vec_push(ranges, contexts, context);
		profile_stats_deinit(&stats[i]);
	}
	all.sampled = NAN;
	vec_push(ranges, contexts, all);
	sort_array(ranges->contexts, ranges->n_contexts, sizeof(*ranges->contexts),
		   context_compare);
}

/* Return K / N with its interval. With counted instructions, K and N are exact, so both ends of the interval are K / N. */
static struct analyze_estimated share_of(const struct analyze_ranges *ranges, double k, double n)
{
	return ranges->counted ? (struct analyze_estimated){ k / n, k / n, k / n } :
				 analyze_binomial_seen(k, n);
}

/*
 * Return the time of K samples in CONTEXT, in ticks. With counted instructions, the time is exact. In a timed context, it is the
 * samples' fraction of the context's time. Otherwise, each sample stands for one sampling period, and the interval follows from
 * the fraction of all samples.
 */
static struct analyze_estimated time_of(const struct analyze_ranges *ranges,
					const struct analyze_range_context *context, double k)
{
	double all = ranges->bodies.all;
	struct analyze_estimated share;

	if (ranges->counted)
		return (struct analyze_estimated){ k * ranges->tick, k * ranges->tick,
						   k * ranges->tick };
	if (!isnan(context->sampled)) {
		share = share_of(ranges, k, context->samples);
		return analyze_estimated_scale(&share, context->sampled);
	}
	share = share_of(ranges, k, all);
	return analyze_estimated_scale(&share, all * ranges->tick);
}

/* Key to find counts by outermost function and context. COUNT is an index in the COUNTS of struct analyze_bodies. */
struct enclosed {
	const char *function;
	uint32_t context, count;
};

define_compare(enclosed_compare, struct enclosed,
	       strcmp(a->function, b->function) ?: compare_values(a->context, b->context));

static bool is_timed_function(const struct profile *p, const struct profile_cell *cell)
{
	const struct profile_site *site = &p->sites[cell->site];

	return site->kind == PROFILE_SITE_FUNCTION &&
	       p->runs[cell->run].kind != PROFILE_RUN_CONTROL;
}

/* Add CELL's time to the elements of TIMES for all functions inlined into CELL's function, in CELL's context. */
static void times_add(double *times, const struct enclosed *all, size_t n, const struct profile *p,
		      const struct profile_cell *cell)
{
	struct enclosed key = { p->sites[cell->site].name, cell->context, 0 };
	double time = (double)cell->stats.oncpu - (double)cell->stats.cost;
	size_t at = bisect(n, i, enclosed_compare(&all[i], &key) < 0);

	for (; at < n && !enclosed_compare(&all[at], &key); at++)
		times[all[at].count] =
			(isnan(times[all[at].count]) ? 0 : times[all[at].count]) + time;
}

/*
 * Return an array for free(), indexed as BODIES->counts. An element is the on-CPU time of the outermost function in the context,
 * in ticks and without probe cost. NAN: the function was not timed.
 */
static double *function_times(const struct analyze_bodies *bodies, const struct profile *p)
{
	size_t n = bodies->n_counts;
	scoped_free struct enclosed *all = alloc_array(n, sizeof(*all));
	double *times = alloc_array(n, sizeof(*times));

	for (size_t i = 0; i < n; i++) {
		const struct analyze_body_count *count = &bodies->counts[i];

		times[i] = NAN;
		all[i] = (struct enclosed){ bodies->bodies[count->body].function, count->context,
					    i };
	}
	sort_array(all, n, sizeof(*all), enclosed_compare);
	for (size_t i = 0; i < p->n_cells; i++)
		if (is_timed_function(p, &p->cells[i]))
			times_add(times, all, n, p, &p->cells[i]);
	return times;
}

/*
 * Estimate the time of an inlined function. Multiply the outer function's measured TIME by the inlined function's fraction of the
 * outer function's samples. Only this fraction is uncertain.
 */
static void estimate_within(const struct analyze_ranges *ranges, struct analyze_estimate *e,
			    const struct analyze_body_count *count,
			    const struct analyze_range_context *context, double time)
{
	struct analyze_estimated part = share_of(ranges, count->samples, count->around);

	e->total = analyze_estimated_scale(&part, time);
	if (context->sampled > 0)
		e->share = analyze_estimated_scale(&e->total, 1 / context->sampled);
}

/* Return the estimate for COUNT. TIME is the measured time of the outermost function in ticks, or NAN if it was not timed. */
static struct analyze_estimate estimate_form(const struct analyze_ranges *ranges,
					     const struct analyze_body_count *count,
					     const struct analyze_range_context *context,
					     double time)
{
	struct analyze_estimate e = {
		.samples = count->samples,
		.of = context->samples,
		.share = share_of(ranges, count->samples, context->samples),
		.self_share = count->own / context->samples,
		.total = time_of(ranges, context, count->samples),
		.late = count->late,
		.missing = count->missing,
	};

	if (!ranges->counted && time > 0 && count->around >= count->samples)
		estimate_within(ranges, &e, count, context, time);
	e.self_total = e.total.value * (count->own / count->samples);
	return e;
}

/* Add B to A. They are estimates of one inlined function in different contexts. */
static void estimate_add(struct analyze_estimate *a, const struct analyze_estimate *b)
{
	if (isnan(a->samples)) {
		*a = *b;
		return;
	}
	a->samples += b->samples;
	a->total = analyze_estimated_add(&a->total, &b->total);
	a->self_total += b->self_total;
	a->late += b->late;
	a->missing += b->missing;
}

/* Set the members SHARE and SELF_SHARE of E to fractions of the samples in all contexts. */
static void estimate_finish_sum(struct analyze_estimate *e, const struct analyze_ranges *ranges)
{
	const struct analyze_range_context *all = context_find(ranges, ANALYZE_ALL_CONTEXTS);

	if (isnan(e->samples))
		return;
	e->of = all->samples;
	e->share = share_of(ranges, e->samples, e->of);
	e->self_share = e->share.value * (e->self_total / e->total.value);
}

/*
 * Return whether delayed samples could shift the estimate by half the distance to an end of its interval. Delayed samples may lie
 * in the wrong code: LATE of them in the inlined function, and MISSING of them in other code of the outermost function.
 */
static bool estimate_is_doubtful(const struct analyze_estimate *e)
{
	const struct analyze_estimated *t = &e->total;

	return e->late > e->samples * (1 - t->low / t->value) / 2 ||
	       e->missing > e->samples * (t->high / t->value - 1) / 2;
}

/* The state while the rows of one inlined function are added. */
struct body_rows {
	struct analyze_ranges *ranges;
	const struct profile *p;
	const struct analyze_calibration *calibration;
	const struct analyze_options *options;
	const double *times; /* from function_times() */
	const char *location, *why;
	bool timed;
};

static void side_form(struct analyze_range_side *side, const struct body_rows *body,
		      const struct profile_stats *stats, const struct analyze_estimate *estimate)
{
	*side = range_none;
	side->estimate = *estimate;
	side->why = body->why;
	if (body->timed) {
		side->source = ANALYZE_SOURCE_EXACT;
		analyze_figures_form(&side->figures, stats, body->options);
		side->entries = stats->entries == PROFILE_NOT_COUNTED ? 0 : (double)stats->entries;
		return;
	}
	if (isnan(estimate->samples))
		return;
	side->source = body->ranges->counted ? ANALYZE_SOURCE_COUNTED : ANALYZE_SOURCE_ESTIMATED;
	side->figures.totals[ANALYZE_TIME_ONCPU] = estimate->total.value;
	side->figures.total = side->figures.totals[body->options->time];
	side->low = estimate->share.low;
	side->high = estimate->share.high;
	if (estimate_is_doubtful(estimate))
		side->caveat = ANALYZE_CAVEAT_IRQS_OFF;
}

/* Add a row for the N items from FIRST on. CONTEXT is their context, or NULL for all contexts. Return the row's index. */
static uint32_t row_add(struct body_rows *body, const struct item *first, size_t n,
			const char *context)
{
	struct analyze_ranges *ranges = body->ranges;
	enum analyze_time time =
		body->options->time == ANALYZE_TIME_SELF ? ANALYZE_TIME_ONCPU : body->options->time;
	struct analyze_range row = { .body = first->body,
				     .location = body->location,
				     .context = context ? context : ANALYZE_ALL_CONTEXTS };
	const struct analyze_range_context *whole = context_find(ranges, row.context);
	struct analyze_estimate estimate = estimate_none, one;
	scoped(profile_stats_deinit) struct profile_stats stats;
	bool wraps = true;

	profile_stats_init(&stats);
	for (size_t i = 0; i < n; i++) {
		if (first[i].cell) {
			profile_stats_merge(&stats, &first[i].cell->stats);
			analyze_sample_add_cell(&row.sample, &ranges->repetitions,
						body->calibration, body->p, first[i].cell,
						body->options);
		}
		if (!first[i].count)
			continue;
		one = estimate_form(ranges, first[i].count, context_find(ranges, first[i].context),
				    body->times[first[i].count - ranges->bodies.counts]);
		estimate_add(&estimate, &one);
		wraps &= first[i].count->only_wraps;
	}
	if (!context)
		estimate_finish_sum(&estimate, ranges);
	side_form(&row.side, body, &stats, &estimate);
	row.estimated = !body->timed;
	row.share =
		row.estimated ? estimate.share.value : row.side.figures.total / whole->totals[time];
	row.redundant = row.estimated && !body->why &&
			(wraps || isnan(row.side.figures.total) ||
			 (row.share >= NEARLY_ALL && !(estimate.self_share >= MOST)));
	vec_push(ranges, rows, row);
	return ranges->n_rows - 1;
}

/* Add the rows of an inlined function with N ITEMS: first a row for all contexts, then a row for each context. */
static void body_add(struct body_rows body, const struct item *items, size_t n)
{
	struct analyze_ranges *ranges = body.ranges;
	const struct analyze_body *b = &items->body;
	uint32_t sum, contexts = 0;

	for (size_t i = 0; i < n; i++) {
		if (!items[i].site)
			continue;
		body.timed |= !items[i].site->estimated;
		if (items[i].site->estimated)
			body.why = items[i].site->estimated;
	}
	/* If a copy is not timed, the time of all copies together is unknown. */
	body.timed &= !body.why;
	if (b->file)
		body.location = alloc_keep(&ranges->locations,
					   b->line ? alloc_printf("%s:%u", b->file, b->line) :
						     alloc_strdup(b->file));
	sum = row_add(&body, items, n, NULL);
	for_each_run(i, j, n, !item_compare(&items[i], &items[j])) {
		if (!items[i].context)
			continue;
		row_add(&body, &items[i], j - i, items[i].context);
		contexts++;
	}
	ranges->rows[sum].redundant |= contexts == 1;
}

void analyze_ranges_init(struct analyze_ranges *ranges, const struct profile *p,
			 const struct analyze_options *options)
{
	scoped(analyze_calibration_deinit) struct analyze_calibration calibration;
	struct body_rows body = {
		.ranges = ranges, .p = p, .calibration = &calibration, .options = options
	};
	struct items items = { 0 };
	scoped_free double *times;

	memset(ranges, 0, sizeof(*ranges));
	ranges->counted = profile_is_exact(p);
	analyze_repetitions_init(&ranges->repetitions, p, PROFILE_RUN_PROBED);
	analyze_calibration_init(&calibration, p, ANALYZE_OF_TIME);
	ranges->tick = p->sample_period ? (double)p->sample_period : NAN;
	analyze_bodies_init(&ranges->bodies, p);
	contexts_init(ranges, p, options);
	times = function_times(&ranges->bodies, p);
	body.times = times;
	items_collect(&items, &ranges->bodies, p);
	for_each_run(i, j, items.n_items,
		     !analyze_body_compare(&items.items[i].body, &items.items[j].body))
		body_add(body, &items.items[i], j - i);
	free(items.items);
}

void analyze_ranges_deinit(struct analyze_ranges *ranges)
{
	alloc_texts_free(&ranges->locations);
	free(ranges->contexts);
	while (ranges->n_rows)
		analyze_sample_deinit(&ranges->rows[--ranges->n_rows].sample);
	free(ranges->rows);
	analyze_repetitions_deinit(&ranges->repetitions);
	analyze_bodies_deinit(&ranges->bodies);
	memset(ranges, 0, sizeof(*ranges));
}

/* Sort timed rows before estimates, then known totals before unknown ones, then large totals before small ones. */
define_compare(total_compare, struct analyze_range,
	       a->estimated - b->estimated                                             ?:
		       !!isnan(a->side.figures.total) - !!isnan(b->side.figures.total) ?:
		       compare_values(b->side.figures.total, a->side.figures.total)    ?:
		       analyze_body_compare(&a->body, &b->body)                        ?:
		       analyze_context_compare(a->context, b->context));

void analyze_ranges_sort_by_total(struct analyze_ranges *ranges)
{
	sort_array(ranges->rows, ranges->n_rows, sizeof(*ranges->rows), total_compare);
}
