/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The struct that load.c (loading), engine.c (programs and parameters) and engine_counts.c (counts) share. */
#pragma once

#include "base/alloc.h"
#include "kprotperf.skel.h"
#include "record/engine/engine.h"
#include "record/engine/features.h"
#include "record/engine/saved_programs.h"

struct record_map_view {
	void *mem;
	size_t len;
};

enum record_view {
	RECORD_VIEW_SLOTS,
	RECORD_VIEW_TASKS,
	RECORD_VIEW_CELL_OF,
	RECORD_VIEW_CELLS,
	RECORD_VIEW_STACKS,
	RECORD_VIEW_MISSED,
	RECORD_VIEW_BLOCKS,
	RECORD_VIEW_CAPTURES,
	RECORD_VIEW_COUNTED,
	RECORD_N_VIEWS
};

struct record_engine {
	/* These three members are set before loading, and the others are zero. */
	struct record_engine_config config;
	struct record_features features;
	uint32_t n_cpus;

	struct kprotperf_bpf *skel;
	struct record_programs progs;
	struct record_saved_programs saved_programs;
	struct record_map_view views[RECORD_N_VIEWS]; /* memory of maps that user space shares */
	uint32_t n_tasks, n_cells, n_shards, n_stacks, n_block_shards;
	vec_of(struct bpf_link *, links);
	struct record_counters *counters; /* NULL: no events are counted */
	uint64_t oncpu_before; /* CPU time, in ns, of all followed tasks until the last reset */
};

/* Load the programs of E. Return 0 or -errno, reported; -EDQUOT: the maps would take too much of the free memory. */
int record_engine_load(struct record_engine *e);
void record_engine_unload(struct record_engine *e); /* E may have failed to load */
