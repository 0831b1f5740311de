/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The measuring loop of calibration: do something RECORD_ROUNDS times, and each time read what the engine counted for
 * some sites meanwhile.
 */
#pragma once

#include <linux/types.h>
#include <stdbool.h>
#include <stdint.h>

#include "kprotperf/engine.h"
#include "record/engine/engine.h"
#include "record/target/symbols.h"

/* Repeated readings of one quantity: interrupts that hit a few of them do not change the median. */

#define RECORD_ROUNDS 101

struct record_series {
	uint64_t values[RECORD_ROUNDS];
};

void record_values_sort(uint64_t *values, uint32_t n); /* ascending */

uint64_t record_series_median(struct record_series *s); /* sorts S */

/* Return the median absolute deviation of the N VALUES (N > 0) from CENTRE. Overwrites VALUES. */
uint64_t record_values_deviation(uint64_t *values, uint32_t n, uint64_t centre);

/* Return the median absolute deviation of S from CENTRE. S is not changed. */
uint64_t record_series_deviation(const struct record_series *s, uint64_t centre);

/*
 * Readings taken at one time differ less than readings taken at different times. If this matters, measure RECORD_REPEATS series,
 * and make one series of their medians: its median is that of the medians, and its deviation is that between times.
 */
#define RECORD_REPEATS 5
struct record_series record_series_of(const uint64_t medians[RECORD_REPEATS]);

/*
 * Call SERIES for each I below RECORD_REPEATS, until one fails. On a real clock use the CPUs in turn, and sleep in between: a
 * disturbance of one series should not affect all. Return 0 or -errno.
 */
int record_repeat(bool real_clock, int (*series)(void *arg, uint32_t i), void *arg);

/* The reading of a site in a context. */
struct record_reading {
	uint32_t site, ctx;
	enum record_sum of;
	struct record_series series; /* growth of the sum in each round */
};

/* Make one round. Return 0, or -errno, which ends the loop. */
typedef int (*record_round_fn)(void *arg);

int record_measure(const struct record_engine *e, record_round_fn once, void *arg,
		   struct record_reading *readings, uint32_t n);

/* Measure as record_measure(). On a real clock use record_repeat(): each series is then record_series_of() the medians. */
int record_measure_repeated(const struct record_engine *e, bool real_clock, record_round_fn once,
			    void *arg, struct record_reading *readings, uint32_t n);

/* Time rounds: ALL has their times, AFTER the times from *STAMP, which the round sets, to the end. STAMP NULL: AFTER is unused. */
int record_measure_time(record_round_fn once, void *arg, const uint64_t *stamp,
			struct record_series *all, struct record_series *after);

/* Run the program whose descriptor ARG points to. */
int record_round_run(void *arg);

/* Counting the calls of functions before any is timed. Counting stops at a maximum, so that it takes next to no time. */

#define RECORD_COUNTED_CLONES 4

/* A function whose calls by followed tasks are counted. */
struct record_count {
	char *name; /* without clone suffixes */
	uint64_t most; /* counting stops above this */
	uint64_t calls;
	int links[RECORD_COUNTED_CLONES];
	uint32_t n_links;
};

/* Up to ENGINE_COUNTED functions, in memory that processes share. */
struct record_counts {
	struct record_count *items;
	uint32_t n_items;
};

/* Begin to count. E must be armed and follow no task yet, and the symbols' functions must be loaded. */
void record_count_begin(struct record_counts *counts, const struct record_engine *e,
			const struct record_symbols *symbols);
/* Read the counts, and stop counting functions that exceed their maximum. Call this every few ms. */
void record_count_look(struct record_counts *counts, const struct record_engine *e);
void record_count_end(struct record_counts *counts, const struct record_engine *e);
