// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What the BPF side has counted: read while it counts, and set back between runs.
 */
#include "record/engine/engine.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/clock.h"
#include "kprotperf/engine.h"
#include "record/engine/engine_impl.h"
#include "record/engine/sampler.h"

/* Sum over the shards of SITE's cell in CTX of the counter that lies OFFSET bytes into a cell. */
static uint64_t sum_of(const struct record_engine *e, uint32_t site, uint32_t ctx, size_t offset)
{
	const uint64_t *cell_of = e->bpf.views[RECORD_VIEW_CELL_OF].mem;
	const struct engine_cell *cells = e->bpf.views[RECORD_VIEW_CELLS].mem;
	uint64_t first = cell_of[ENGINE_KEY((size_t)site, ctx)], sum = 0;

	for (uint32_t i = 0; first && i < e->bpf.n_shards; i++)
		sum += __atomic_load_n((const uint64_t *)((const char *)&cells[first + i] + offset),
				       __ATOMIC_RELAXED);
	return sum;
}

uint64_t record_engine_calls(const struct record_engine *e, uint32_t site, uint32_t ctx)
{
	return sum_of(e, site, ctx, offsetof(struct engine_cell, calls));
}

uint64_t record_engine_oncpu(const struct record_engine *e, uint32_t site, uint32_t ctx)
{
	return sum_of(e, site, ctx, offsetof(struct engine_cell, wall)) -
	       sum_of(e, site, ctx, offsetof(struct engine_cell, offcpu));
}

uint64_t record_engine_excluded(const struct record_engine *e, uint32_t site, uint32_t ctx)
{
	return sum_of(e, site, ctx, offsetof(struct engine_cell, excluded));
}

uint32_t record_engine_live_tasks(const struct record_engine *e)
{
	return __atomic_load_n(&e->bpf.skel->bss->live_tasks, __ATOMIC_ACQUIRE);
}

size_t record_engine_memory(const struct record_engine *e)
{
	const struct bpf_map *map;
	size_t sum = 0;

	bpf_object__for_each_map(map, e->bpf.skel->obj)
	{
		size_t value = (bpf_map__value_size(map) + 7) & ~7ul;
		bool per_cpu = bpf_map__type(map) == BPF_MAP_TYPE_PERCPU_ARRAY;

		sum += value * bpf_map__max_entries(map) * (per_cpu ? e->bpf.n_cpus : 1);
	}
	return sum;
}

void record_engine_maps(const struct record_engine *e, struct record_engine_maps *maps)
{
	*maps = (struct record_engine_maps){
		.cpus = e->bpf.skel->bss->cpus,
		.tasks = e->bpf.views[RECORD_VIEW_TASKS].mem,
		.cell_of = e->bpf.views[RECORD_VIEW_CELL_OF].mem,
		.cells = e->bpf.views[RECORD_VIEW_CELLS].mem,
		.missed = e->bpf.views[RECORD_VIEW_MISSED].mem,
		.missed_before = e->missed_before,
		.stacks = e->bpf.config.sample_period ? e->bpf.views[RECORD_VIEW_STACKS].mem : NULL,
		.losses = (const uint64_t *)e->bpf.skel->bss->losses,
		.n_cpus = e->bpf.n_cpus,
		.n_tasks = e->bpf.n_tasks,
		.n_sites = e->bpf.config.n_functions + 1,
		.n_cells = e->bpf.n_cells,
		.n_cells_used = e->bpf.skel->bss->n_cells < e->bpf.n_cells ?
					e->bpf.skel->bss->n_cells :
					e->bpf.n_cells,
		.n_shards = e->bpf.n_shards,
		.n_stacks = e->bpf.n_stacks,
		.block_counts = e->bpf.views[RECORD_VIEW_BLOCKS].mem,
		.paths = e->bpf.views[RECORD_VIEW_PATHS].mem,
		.trips = e->bpf.views[RECORD_VIEW_TRIPS].mem,
		.n_block_probes = e->bpf.config.n_blocks + 1,
		.n_block_shards = e->bpf.n_block_shards,
		.n_paths = e->bpf.config.n_blocks ? ENGINE_PATHS : 0,
		.n_trips = e->bpf.config.n_blocks ? ENGINE_TRIP_ROWS : 0,
	};
}

uint64_t record_engine_followed_oncpu(const struct record_engine *e)
{
	const struct engine_task *tasks = e->bpf.views[RECORD_VIEW_TASKS].mem;
	const struct engine_cpu *cpus = e->bpf.skel->bss->cpus;
	uint64_t sum = __atomic_load_n(&e->bpf.skel->bss->oncpu_gone, __ATOMIC_RELAXED);
	uint32_t used = e->bpf.skel->data->next_slot, last = e->bpf.skel->rodata->max_tasks;

	for (uint32_t i = 1; i < used && i < last; i++) {
		const struct engine_task *t = &tasks[i];

		if (t->flags & ENGINE_TASK_LIVE)
			sum += t->switched_out - t->born - t->offcpu;
	}
	/* Of those that run, what has come since they were switched in is still missing. */
	for (uint32_t i = 0; i < e->bpf.n_cpus; i++) {
		uint32_t slot = __atomic_load_n(&cpus[i].slot, __ATOMIC_RELAXED);

		if (slot && slot < last)
			sum += clock_ns() - tasks[slot].switched_out;
	}
	return sum;
}

uint64_t record_program_misses(int fd)
{
	struct bpf_prog_info info = {};
	__u32 len = sizeof(info);

	if (fd < 0 || bpf_obj_get_info_by_fd(fd, &info, &len))
		return 0;
	return info.recursion_misses;
}

void record_engine_note_missed(struct record_engine *e, uint32_t site)
{
	const uint64_t *missed = e->bpf.views[RECORD_VIEW_MISSED].mem;
	uint32_t n = e->bpf.config.n_functions + 1;

	if (!e->missed_before) {
		e->missed_before = alloc_array(n, sizeof(*e->missed_before));
		for (uint32_t i = 0; i < n; i++)
			e->missed_before[i] = UINT64_MAX;
	}
	if (e->missed_before[site] == UINT64_MAX)
		e->missed_before[site] = missed[site];
}

uint64_t record_engine_misses(const struct record_engine *e)
{
	struct bpf_program *prog;
	uint64_t sum = 0;

	bpf_object__for_each_program(prog, e->bpf.skel->obj) sum +=
		record_program_misses(bpf_program__fd(prog));
	return sum;
}

uint64_t record_engine_samples_expected(const struct record_engine *e)
{
	return record_sampler_expected(e->sampler);
}

void record_engine_reset(struct record_engine *e)
{
	uint32_t used = e->bpf.skel->bss->n_cells < e->bpf.n_cells ? e->bpf.skel->bss->n_cells :
								     e->bpf.n_cells;
	struct engine_task *tasks = e->bpf.views[RECORD_VIEW_TASKS].mem;
	struct engine_cpu *cpus = e->bpf.skel->bss->cpus;

	/* Cells keep their numbers, so only those in use need be cleared. */
	memset(e->bpf.views[RECORD_VIEW_CELLS].mem, 0,
	       (size_t)(used + 1) * e->bpf.n_shards * sizeof(struct engine_cell));
	memset(e->bpf.views[RECORD_VIEW_BLOCKS].mem, 0, e->bpf.views[RECORD_VIEW_BLOCKS].len);
	memset(e->bpf.views[RECORD_VIEW_PATHS].mem, 0, e->bpf.views[RECORD_VIEW_PATHS].len);
	memset(e->bpf.views[RECORD_VIEW_TRIPS].mem, 0, e->bpf.views[RECORD_VIEW_TRIPS].len);
	memset(e->bpf.views[RECORD_VIEW_STACKS].mem, 0,
	       e->bpf.n_stacks * sizeof(struct engine_stack));
	memset(e->bpf.skel->bss->losses, 0, sizeof(e->bpf.skel->bss->losses));
	/* No task that is to be followed is in a call. */
	free(e->missed_before);
	e->missed_before = NULL;
	for (uint32_t i = 0; i < e->bpf.n_cpus; i++) {
		cpus[i].shard = i % e->bpf.n_shards;
		cpus[i].samples = 0;
		cpus[i].due = ENGINE_NEVER;
		cpus[i].overdue = ENGINE_NEVER;
		cpus[i].taken = 0;
		cpus[i].skipped = 0;
	}
	memset(e->bpf.views[RECORD_VIEW_MISSED].mem, 0, e->bpf.views[RECORD_VIEW_MISSED].len);
	/* Of tasks that go on from one run to the next, what is open still has been entered. */
	for (uint32_t i = 0; i < e->bpf.n_tasks; i++)
		if (tasks[i].flags & ENGINE_TASK_LIVE)
			tasks[i].entered =
				tasks[i].top / ENGINE_FRAME + (tasks[i].ctx != ENGINE_CTX_NONE);
	record_sampler_reset(e->sampler);
}
