/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The one loop of calibration: something is done RECORD_ROUNDS times, and each time what the engine counted for
 * some sites meanwhile is read.
 */
#pragma once

#include <linux/types.h>
#include <stdbool.h>
#include <stdint.h>

#include "kprotperf/engine.h"
#include "record/engine/engine.h"
#include "record/target/symbols.h"

/*
 * Repeated readings of one thing, for calibration: interrupts that hit some of them leave their median.
 */

#define RECORD_ROUNDS 101

struct record_series {
	uint64_t values[RECORD_ROUNDS];
};

void record_values_sort(uint64_t *values, uint32_t n); /* ascending */

uint64_t record_series_median(struct record_series *s); /* sorts S */

/* The median absolute deviation of the N VALUES, at least one, from CENTRE; overwrites them. */
uint64_t record_values_deviation(uint64_t *values, uint32_t n, uint64_t centre);

/* The same of a series, which it leaves alone. */
uint64_t record_series_deviation(const struct record_series *s, uint64_t centre);

/*
 * Readings of one moment agree with one another more than with those of the next. Where that matters, what is measured
 * RECORD_REPEATS times is a series of these medians: its median is theirs, and its deviation that between moments.
 */
#define RECORD_REPEATS 5
struct record_series record_series_of(const uint64_t medians[RECORD_REPEATS]);

/*
 * Calls SERIES for each I below RECORD_REPEATS, until one fails. On a real clock it does that on the CPUs in turn, and in
 * between others may run: what disturbs one series should not disturb them all. 0 or -errno.
 */
int record_repeat(bool real_clock, int (*series)(void *arg, uint32_t i), void *arg);

/* The reading of a site in a context. */
struct record_reading {
	uint32_t site, ctx;
	enum record_sum of;
	struct record_series series; /* growth of the sum in each round */
};

/* One round: 0, or -errno, which ends the loop. */
typedef int (*record_round_fn)(void *arg);

int record_measure(const struct record_engine *e, record_round_fn once, void *arg,
		   struct record_reading *readings, uint32_t n);

/* The same, on a real clock by record_repeat(): each series is then record_series_of() its repeats. */
int record_measure_repeated(const struct record_engine *e, bool real_clock, record_round_fn once,
			    void *arg, struct record_reading *readings, uint32_t n);

/* The same by the clock: ALL is how long a round took, AFTER that from *STAMP, which it sets, to its end; NULL: none. */
int record_measure_time(record_round_fn once, void *arg, const uint64_t *stamp,
			struct record_series *all, struct record_series *after);

/* Runs the program whose descriptor ARG points to. */
int record_round_run(void *arg);

/*
 * Counts of functions' calls, before any is timed: each is counted in a run, up to a number whose counting takes next to
 * nothing.
 */

#define RECORD_COUNTED_CLONES 4

/* A function whose calls by followed tasks are counted. */
struct record_count {
	char *name; /* less the clone suffixes */
	uint64_t most; /* as soon as there are more, they are counted no longer */
	uint64_t calls;
	int links[RECORD_COUNTED_CLONES];
	uint32_t n_links;
};

/* Up to ENGINE_COUNTED, in memory that processes share. */
struct record_counts {
	struct record_count *items;
	uint32_t n_items;
};

/* E is armed, and no task followed yet. The symbols' functions are loaded. */
void record_count_begin(struct record_counts *counts, const struct record_engine *e,
			const struct record_symbols *symbols);
/* To be called every few ms. */
void record_count_look(struct record_counts *counts, const struct record_engine *e);
void record_count_end(struct record_counts *counts, const struct record_engine *e);
