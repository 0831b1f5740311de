// SPDX-License-Identifier: GPL-2.0-or-later
/* The rest of a timed function, outside of its timed bodies. */
#include <math.h>

#include "analyze/diff/inside/ranges_impl.h"
#include "base/alloc.h"
#include "base/sorted.h"

/* Timed bodies in one function; beyond that nobody adds them up. */
#define MAX_PARTS 1000

/* Return whether ROWS[NUMBER], of N of one function, lies within another one that was timed on SIDE. */
static bool is_nested(const struct analyze_diff_range *rows, uint32_t n, uint32_t number, int side)
{
	for (uint32_t i = 0; i < n; i++)
		if (i != number && is_exact(&rows[i].sides[side]) &&
		    analyze_diff_range_is_inside(&rows[number], &rows[i], side))
			return true;
	return false;
}

/* FIGURES of a function less those of its N timed bodies on SIDE. */
static struct analyze_range_side rest_form(const struct analyze_figures *figures,
					   const struct analyze_diff_range *rows, uint32_t n,
					   int side, enum analyze_time time)
{
	struct analyze_range_side rest = analyze_range_none;

	if (isnan(figures->calls))
		return rest;
	rest.source = ANALYZE_SOURCE_EXACT;
	rest.figures.calls = figures->calls;
	memcpy(rest.figures.totals, figures->totals, sizeof(rest.figures.totals));
	for (uint32_t i = 0; i < n; i++) {
		const struct analyze_range_side *part = &rows[i].sides[side];

		if (!is_exact(part) || is_nested(rows, n, i, side))
			continue;
		/* Self times have those of timed bodies left out. */
		rest.figures.totals[ANALYZE_TIME_ONCPU] -= part->figures.totals[ANALYZE_TIME_ONCPU];
		rest.figures.totals[ANALYZE_TIME_WALL] -= part->figures.totals[ANALYZE_TIME_WALL];
	}
	for (enum analyze_time t = 0; t < ANALYZE_N_TIMES && figures->calls > 0; t++)
		rest.figures.means[t] = rest.figures.totals[t] / figures->calls;
	rest.figures.total = rest.figures.totals[time];
	rest.figures.mean = rest.figures.means[time];
	return rest;
}

/*
 * By repetition what rest_form() has of all: a function's time, FROM, less that of its N timed bodies. What
 * was subtracted from either may be wrong, in the same direction or not: the sum is the most.
 */
static void rest_sample(struct analyze_sample *rest, const struct analyze_diff_matching *m,
			const struct analyze_sample *from, const struct analyze_diff_range *rows,
			uint32_t n, int side)
{
	*rest = (struct analyze_sample){ 0 };
	analyze_sample_merge(rest, from, 1);
	for (uint32_t i = 0; i < n && m->calls->time != ANALYZE_TIME_SELF; i++) {
		if (rows[i].samples[side] && !is_nested(rows, n, i, side))
			analyze_sample_merge(rest, rows[i].samples[side], -1);
	}
	analyze_sample_finish(rest);
}

/* Set how sure the change of ROW is, the rest of FUNCTION besides N bodies. */
static void rest_change(const struct analyze_diff_matching *m, struct analyze_diff_range *row,
			const struct analyze_diff_row *function,
			const struct analyze_diff_range *rows, uint32_t n)
{
	struct analyze_sample a, b;

	if (!is_exact(&row->sides[0]) || !is_exact(&row->sides[1]) ||
	    !function->samples[BASELINE] || !function->samples[HARDENED] ||
	    m->out->sides[BASELINE].repetitions.unit != m->out->sides[HARDENED].repetitions.unit)
		return;
	rest_sample(&a, m, function->samples[BASELINE], rows, n, BASELINE);
	rest_sample(&b, m, function->samples[HARDENED], rows, n, HARDENED);
	analyze_change_form(&row->change, &a, &b);
	analyze_change_resample(&row->change);
	analyze_sample_deinit(&b);
	analyze_sample_deinit(&a);
}

static void rest_add(struct analyze_diff_matching *m, const struct analyze_diff_row *function,
		     const struct analyze_diff_range *rows, uint32_t n)
{
	struct analyze_diff_range row = {
		.body = { .name = ANALYZE_RANGE_REST, .function = function->name },
		.context = function->context,
		.redundant = function->redundant,
		.change = analyze_change_none,
		.sides = { rest_form(&function->sides[0], rows, n, BASELINE, m->calls->time),
			   rest_form(&function->sides[1], rows, n, HARDENED, m->calls->time) },
	};

	analyze_diff_range_pair(m, &row);
	rest_change(m, &row, function, rows, n);
	vec_push(m->out, rows, row);
}

/* Add the rest of FUNCTION, if some of the rows from START to END, which are in it, were timed. */
static void rest_of(struct analyze_diff_matching *m, const struct analyze_diff_row *function,
		    uint32_t start, uint32_t end)
{
	scoped_free struct analyze_diff_range *parts = alloc_array(end - start, sizeof(*parts));
	uint32_t n = 0;

	for (uint32_t i = start; i < end; i++) {
		const struct analyze_diff_range *row = &m->out->rows[i];

		if (!strcmp(row->context, function->context) &&
		    (is_exact(&row->sides[0]) || is_exact(&row->sides[1])))
			parts[n++] = *row;
	}
	if (n && n <= MAX_PARTS)
		rest_add(m, function, parts, n);
}

/* For each timed function with timed bodies what is left of it, so that all adds up to its change. */
void analyze_diff_ranges_rests(struct analyze_diff_matching *m)
{
	const struct analyze_diff_rows *functions = m->calls->functions;
	uint32_t matched = m->out->n_rows;

	for_each_run(i, j, matched,
		     !strcmp(m->out->rows[i].body.function, m->out->rows[j].body.function)) {
		const char *name = m->out->rows[i].body.function;
		uint32_t f =
			bisect(functions->n_rows, k, strcmp(functions->rows[k].name, name) < 0);

		for (; f < functions->n_rows && !strcmp(functions->rows[f].name, name); f++)
			rest_of(m, &functions->rows[f], i, j);
	}
}
