// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/cost/cost.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "profile/profile.h"
#include "record/engine/engine.h"

/* Errors as median absolute deviations, relative to the quantities named below. docs/accounting.md has the measurements. */
#define LOOP_ERROR 0.04 /* error by the difference between two loops, relative to the cost */
#define COLD_ERROR 0.2 /* error of the cost that cold caches add, relative to that cost */
#define STEP_ERROR \
	0.36 /* relative to the clock's step: for the difference of two medians, sqrt(2) / 4 */

/* Regard two measurements as different if they differ by more than this many standard deviations. */
#define DISAGREEMENT 2

void record_cost_solve(struct engine_cost *cost, struct record_series *base,
		       struct record_series *with, struct record_series *inner, uint64_t empty)
{
	uint64_t unprobed = record_series_median(base), probed = record_series_median(with);
	uint64_t own = record_series_median(inner);

	cost->full = record_cost_less(probed, unprobed);
	cost->full_spread =
		record_series_deviation(with, probed) + record_series_deviation(base, unprobed);
	cost->inner = record_cost_less(own, empty);
	cost->inner_spread = record_series_deviation(inner, own);
	cost->known = true;
}

void record_cost_solve_nested(struct engine_cost *cost, const struct engine_cost *outer,
			      uint32_t n_args)
{
	cost->nested = record_cost_less(outer->full, record_cost_full(cost, n_args));
}

void record_cost_solve_multi(struct engine_cost *cost, struct record_series *base,
			     struct record_series *with, uint64_t n)
{
	uint64_t unprobed = record_series_median(base), probed = record_series_median(with);
	uint64_t all = RECORD_ROUNDS * record_cost_less(probed, unprobed + cost->nested);

	cost->full = (all + n / 2) / n;
	cost->full_spread =
		(record_series_deviation(with, probed) + record_series_deviation(base, unprobed)) *
		RECORD_ROUNDS / n;
	cost->known = true;
}

int record_cost_solve_trampoline(struct engine_cost *cost, const struct record_timed *none,
				 const struct record_timed *one, const struct record_timed *two)
{
	if (two->after < one->after || 2 * one->all <= none->all + two->all)
		return -ERANGE;
	cost->trampoline = 2 * one->all - none->all - two->all;
	cost->after_handlers = two->after - one->after;
	return 0;
}

void record_cost_add_interrupts(struct engine_cost *cost, double share)
{
	cost->inner += cost->inner * share + 0.5;
	cost->full += cost->full * share + 0.5;
}

/* Return the median absolute deviation that one measurement has, judging by A and B, two measurements of the same quantity. */
static double deviation_of_two(uint64_t a, uint64_t b)
{
	return fabs((double)a - (double)b) / M_SQRT2 / DEVIATIONS_PER_SPREAD;
}

uint64_t record_cost_error(uint64_t readings, uint64_t step, uint64_t first, uint64_t again,
			   double in_runs)
{
	double read = hypot((double)readings, STEP_ERROR * (double)step);
	double loop = LOOP_ERROR * (double)first, cold = COLD_ERROR * (in_runs - (double)first);

	return (uint64_t)ceil(
		hypot(hypot(read, deviation_of_two(first, again)), hypot(loop, cold)));
}

bool record_cost_disagrees(uint64_t readings, uint64_t first, uint64_t again)
{
	return deviation_of_two(first, again) >
	       DISAGREEMENT * hypot((double)readings, LOOP_ERROR * (double)first);
}

/* ---- cold caches ---- */

#define LINE      64
#define L2_UNSAID (2ul << 20)
#define L2_MOST   (16ul << 20)

/* Minimum number of measured closings. The first ones are not like calibration's, since the memory of their cell is cold. */
#define FEWEST 8

/* If cold closings do not take at least DISTINCT times as long as warm ones, the difference may be due to the clock's step. */
#define DISTINCT 1.25

void record_walk_init(struct record_walk *w)
{
	long l2 = sysconf(_SC_LEVEL2_CACHE_SIZE);

	w->size = 2 * (l2 > 0 ? (size_t)l2 : L2_UNSAID);
	if (w->size > 2 * L2_MOST)
		w->size = 2 * L2_MOST;
	w->memory = malloc(w->size);
	if (w->memory)
		memset(w->memory, 1, w->size);
}

void record_walk_deinit(struct record_walk *w)
{
	free(w->memory);
	w->memory = NULL;
}

void record_walk(const struct record_walk *w)
{
	for (volatile char *at = w->memory; at && at < w->memory + w->size; at += LINE)
		++*at;
}

double record_coldness(const struct engine_cell *cell, uint32_t n_shards,
		       const struct engine_cost *cost)
{
	double n = 0, time = 0, coldness;

	for (uint32_t i = 0; i < n_shards; i++) {
		n += (double)cell[i].closings;
		time += (double)cell[i].closing_time;
	}
	if (n < FEWEST || (double)cost->cold_closing < (double)cost->closing * DISTINCT)
		return 0;
	coldness =
		(time / n - (double)cost->closing) / (double)(cost->cold_closing - cost->closing);
	return coldness > 0 ? coldness : 0;
}

double record_cold_add(struct record_cold_costs *sums, const struct engine_cost *cost, uint64_t n,
		       uint64_t enclosing, double coldness)
{
	/* Probes access little memory between their clock readings. So beyond a COLDNESS of 1, INNER grows less than FULL. */
	double in_time = coldness > 1 ? sqrt(coldness) : coldness;
	double inner = in_time * ((double)cost->cold_inner - (double)cost->inner);
	double full = coldness * ((double)cost->cold_full - (double)cost->full);

	sums->calls += (double)n;
	sums->inner += (double)n * ((double)cost->inner + inner);
	sums->full +=
		(double)n * ((double)cost->full + full) + (double)enclosing * (double)cost->nested;
	return inner;
}
