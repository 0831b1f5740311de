/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Load the BPF programs without attaching them, and size and map the memory that they share with user space. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "profile/profile.h"
#include "record/engine/engine.h"
#include "record/engine/features.h"
#include "record/engine/saved_programs.h"

/* The oldest Linux release known to have all features that the programs need. Only messages use it. */
#define RECORD_OLDEST_KERNEL "5.15"

struct kprotperf_bpf;

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

struct record_bpf {
	/* The caller sets these three members before loading, and the other members to zero. */
	struct record_engine_config config;
	struct record_features features;
	uint32_t n_cpus;

	struct kprotperf_bpf *skel;
	struct record_programs progs;
	struct record_saved_programs saved_programs;
	struct record_map_view views[RECORD_N_VIEWS];
	uint32_t n_tasks, n_cells, n_shards, n_stacks, n_block_shards;
};

/* Print libbpf's messages only with -vv. */
void record_bpf_log(void);

/* Return the bytes of kernel memory that maps and probes take. */
size_t record_bpf_memory(const struct record_bpf *b);

/* Load the programs. Return 0 or -errno, reported; -EDQUOT: the maps would take too much of the free memory. */
int record_bpf_load(struct record_bpf *b);
/* Return an explanation or advice, for the user, about the error ERR of record_bpf_load(). */
const char *record_bpf_advice(int err);
/* Test whether the kernel accepts all programs that recordings need. Unload them afterwards. Return 0 or -errno, reported. */
int record_bpf_try(const struct record_features *features);
void record_bpf_unload(struct record_bpf *b); /* B may have failed to load */
