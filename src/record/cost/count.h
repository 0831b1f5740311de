/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Counts of functions' calls, before any is timed: each is counted in a run, up to a number whose counting takes next to
 * nothing.
 */
#pragma once

#include <linux/types.h>
#include <stdint.h>

#include "kprotperf/engine.h"
#include "record/engine/engine.h"
#include "record/target/symbols.h"

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
