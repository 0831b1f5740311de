/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The measuring loop of calibration: call a function RECORD_ROUNDS times, and read each time how the engine's counts grew. */
#pragma once

#include <linux/types.h>
#include <stdbool.h>
#include <stdint.h>

#include "kprotperf/engine.h"
#include "record/engine/engine.h"
#include "record/target/symbols.h"

struct record_walk;

/* A series has repeated readings of one quantity. Interrupts that lengthen a few readings do not change the median. */

#define RECORD_ROUNDS 101

struct record_series {
	uint64_t values[RECORD_ROUNDS];
};

uint64_t record_series_median(struct record_series *s); /* sorts S in place */

/* Return the median absolute deviation of the N VALUES (N > 0) from CENTRE. Overwrites VALUES. */
uint64_t record_values_deviation(uint64_t *values, uint32_t n, uint64_t centre);

/* Return the median absolute deviation of S from CENTRE. S is not changed. */
uint64_t record_series_deviation(const struct record_series *s, uint64_t centre);

/* A round of a measurement: once(arg) makes the system call CTX, which calls a probed function once. */
struct record_call {
	int (*once)(void *arg); /* return 0, or -errno, which ends the measurement */
	void *arg;
	uint32_t ctx;
	const struct record_walk *walk; /* memory to walk over before each round; NULL: no walk */
};

/* Readings of one of the engine's sums (OF) for the function SITE in the context CTX, or of the time of rounds. */
struct record_reading {
	uint32_t site, ctx;
	enum record_sum of;
	bool is_time; /* time of a round, from its start or, if STAMP is not NULL, from *STAMP */
	const uint64_t *stamp; /* time that the round notes */
	struct record_series series; /* time, or growth of the sum OF, in each round */
};

/* Fill the series of the N READINGS. If all are times, E may be NULL. Return 0 or -errno. */
int record_measure(const struct record_engine *e, const struct record_call *call,
		   struct record_reading *readings, uint32_t n);

/*
 * Measure like record_measure(). Readings taken shortly one after the other differ less than readings taken at different times. To
 * include the latter difference on a real clock, measure RECORD_REPEATS series at different times, on the CPUs in turn, and make
 * one series of their medians.
 */
#define RECORD_REPEATS 5
int record_measure_repeated(const struct record_engine *e, bool real_clock,
			    const struct record_call *call, struct record_reading *readings,
			    uint32_t n);
struct record_series record_series_of(const uint64_t medians[RECORD_REPEATS]);

/* Run the BPF program whose descriptor ARG points to. */
int record_round_run(void *arg);

/* Count calls of functions before any function is timed. Counting stops at a maximum number of calls, so it takes little time. */

#define RECORD_COUNTED_CLONES 4

/* A function whose calls by followed tasks are counted. */
struct record_count {
	char *name; /* function name without clone suffixes */
	uint64_t most; /* at a higher number of calls, counting stops */
	uint64_t calls;
	int links[RECORD_COUNTED_CLONES];
	uint32_t n_links;
};

/* Up to ENGINE_COUNTED functions, in memory that processes share. */
struct record_counts {
	struct record_count *items;
	uint32_t n_items;
};

/* Begin to count. E must be armed (record_engine_arm()) and follow no task yet. The functions of SYMBOLS must be loaded. */
void record_count_begin(struct record_counts *counts, const struct record_engine *e,
			const struct record_symbols *symbols);
/* Read the counts, and stop counting functions that exceed their maximum. Call this every few ms. */
void record_count_look(struct record_counts *counts, const struct record_engine *e);
void record_count_end(struct record_counts *counts, const struct record_engine *e);
