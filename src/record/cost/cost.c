// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/cost/cost.h"

#include <errno.h>
#include <math.h>

#include "profile/profile.h"
#include "record/engine/engine.h"

/* Median absolute deviations, as parts: docs/accounting.md has the measurements. */
#define LOOP_ERROR 0.04 /* of a cost, from one loop to another, */
#define COLD_ERROR 0.2 /* and of what cold caches add to it */
#define STEP_ERROR \
	0.36 /* of the clock's step, in the difference of two medians: 1 / 4 x the square root of 2 */

/* Two figures disagree beyond so many standard deviations. */
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

void record_cost_solve_half(struct engine_cost *cost, uint64_t both, uint64_t ret)
{
	cost->half = record_cost_less(cost->full, record_cost_less(both, ret));
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

/* Two figures of the same differ by this many times the deviation of one. */
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
