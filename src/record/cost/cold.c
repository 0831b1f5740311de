// SPDX-License-Identifier: GPL-2.0-or-later
#include "record/cost/cold.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINE      64
#define L2_UNSAID (2ul << 20)
#define L2_MOST   (16ul << 20)

/* Fewer closings say nothing: a cell's first calls also find its own memory cold, which calibration's do not. */
#define FEWEST 8

/* Below this, what lies between the two is the clock's step and not the caches. */
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
	/* Between the two readings little memory is touched: what is colder than behind a walk is so by less there. */
	double in_time = coldness > 1 ? sqrt(coldness) : coldness;
	double inner = in_time * ((double)cost->cold_inner - (double)cost->inner);
	double full = coldness * ((double)cost->cold_full - (double)cost->full);

	sums->calls += (double)n;
	sums->inner += (double)n * ((double)cost->inner + inner);
	sums->full +=
		(double)n * ((double)cost->full + full) + (double)enclosing * (double)cost->nested;
	return inner;
}
