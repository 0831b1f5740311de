// SPDX-License-Identifier: GPL-2.0-or-later
/* Read the counts of the BPF programs while the programs run, and reset the counts between runs. */
#include "record/engine/engine.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/membarrier.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/system/clock.h"
#include "kprotperf/engine.h"
#include "record/engine/engine_impl.h"
#include "record/engine/counters.h"

/* Add up a member of the cells of SITE in context CTX over all shards. VIEW has cells of SIZE bytes, with the member at OFFSET. */
static uint64_t sum_of(const struct record_engine *e, uint32_t site, uint32_t ctx,
		       enum record_view view, size_t size, size_t offset)
{
	const uint64_t *cell_of = e->views[RECORD_VIEW_CELL_OF].mem;
	const char *cells = e->views[view].mem;
	uint64_t first = cell_of[ENGINE_KEY((size_t)site, ctx)], sum = 0;

	for (uint32_t i = 0; first && i < e->n_shards; i++)
		sum += __atomic_load_n((const uint64_t *)(cells + (first + i) * size + offset),
				       __ATOMIC_RELAXED);
	return sum;
}

#define sum_in_cells(e, site, ctx, field)                                   \
	sum_of(e, site, ctx, RECORD_VIEW_CELLS, sizeof(struct engine_cell), \
	       offsetof(struct engine_cell, field))

uint64_t record_engine_sum(const struct record_engine *e, uint32_t site, uint32_t ctx,
			   enum record_sum of)
{
	switch (of) {
	case RECORD_SUM_CALLS:
		return sum_in_cells(e, site, ctx, calls);
	case RECORD_SUM_ONCPU:
		return sum_in_cells(e, site, ctx, wall) - sum_in_cells(e, site, ctx, offcpu);
	case RECORD_SUM_EXCLUDED:
		return sum_in_cells(e, site, ctx, excluded);
	case RECORD_SUM_CLOSING:
		return sum_in_cells(e, site, ctx, closing_time);
	default:
		return sum_of(e, site, ctx, RECORD_VIEW_COUNTED, sizeof(struct engine_counted_cell),
			      offsetof(struct engine_counted_cell, total[of - RECORD_SUM_COUNTED]));
	}
}

void record_engine_read_closings(struct record_engine *e, uint32_t interval, uint64_t max)
{
	e->skel->bss->closings_below = UINT32_MAX / interval;
	e->skel->bss->closing_max = max;
}

void record_engine_fork_helper(struct record_engine *e, bool forks)
{
	__atomic_store_n(&e->skel->bss->forks_helper, forks, __ATOMIC_RELEASE);
}

void record_engine_set_code_epoch(struct record_engine *e, uint32_t epoch)
{
	__atomic_store_n(&e->skel->bss->code_epoch, epoch, __ATOMIC_RELAXED);
}

uint32_t record_engine_live_tasks(const struct record_engine *e)
{
	return __atomic_load_n(&e->skel->bss->live_tasks, __ATOMIC_ACQUIRE);
}

void record_engine_maps(const struct record_engine *e, struct record_engine_maps *maps)
{
	*maps = (struct record_engine_maps){
		.cpus = e->skel->bss->cpus,
		.tasks = e->views[RECORD_VIEW_TASKS].mem,
		.cell_of = e->views[RECORD_VIEW_CELL_OF].mem,
		.cells = e->views[RECORD_VIEW_CELLS].mem,
		.missed = e->views[RECORD_VIEW_MISSED].mem,
		.stacks = e->config.sample_period ? e->views[RECORD_VIEW_STACKS].mem : NULL,
		.losses = (const uint64_t *)e->skel->bss->losses,
		.n_cpus = e->n_cpus,
		.n_tasks = e->n_tasks,
		.n_sites = e->config.n_functions + 1,
		.n_cells = e->n_cells,
		.n_shards = e->n_shards,
		.n_stacks = e->n_stacks,
		.block_counts = e->views[RECORD_VIEW_BLOCKS].mem,
		.counted = e->views[RECORD_VIEW_COUNTED].mem,
		.n_counters = e->config.n_counters,
		.counters_stopped = e->counters ? record_counters_stopped(e->counters) : 0,
		.captures = e->views[RECORD_VIEW_CAPTURES].mem,
		.n_captured = e->config.n_captured,
		.n_block_probes = e->config.n_blocks + 1,
		.n_block_shards = e->n_block_shards,
	};
}

/* Return the CPU time, in ns, of all tasks that have been followed so far, except idle tasks. */
static uint64_t followed_oncpu(const struct record_engine *e)
{
	const struct engine_task *tasks = e->views[RECORD_VIEW_TASKS].mem;
	const struct engine_cpu *cpus = e->skel->bss->cpus;
	uint64_t sum = __atomic_load_n(&e->skel->bss->oncpu_gone, __ATOMIC_RELAXED);
	uint32_t used = e->skel->data->next_slot, last = e->skel->rodata->max_tasks;

	for (uint32_t i = 1; i < used && i < last; i++) {
		const struct engine_task *t = &tasks[i];

		if (t->flags & ENGINE_TASK_LIVE)
			sum += t->switched - t->born - t->offcpu;
	}
	/* Add the time since the last switch for tasks that are running now. */
	for (uint32_t i = 0; i < e->n_cpus; i++) {
		uint32_t slot = __atomic_load_n(&cpus[i].slot, __ATOMIC_RELAXED) ?:
					__atomic_load_n(&cpus[i].resting, __ATOMIC_RELAXED);

		if (slot && slot < last)
			sum += clock_ns() - tasks[slot].switched;
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

uint64_t record_engine_misses(const struct record_engine *e)
{
	struct bpf_program *prog;
	uint64_t sum = 0;

	bpf_object__for_each_program(prog, e->skel->obj) sum +=
		record_program_misses(bpf_program__fd(prog));
	for (uint32_t i = 0; i < e->saved_programs.n_items; i++)
		sum += record_program_misses(e->saved_programs.items[i].fd);
	return sum;
}

uint64_t record_engine_samples_expected(const struct record_engine *e)
{
	uint64_t period = e->config.sample_period;

	return period ? (followed_oncpu(e) - e->oncpu_before) / period : 0;
}

/* Wait until all BPF programs that are running now have ended. They run under RCU, so wait for a grace period. */
static void await_programs(void)
{
	const struct timespec while_ = { .tv_nsec = 10000000 };

	if (syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0))
		nanosleep(&while_, NULL); /* on nohz_full CPUs membarrier() fails */
}

void record_engine_pause(struct record_engine *e)
{
	struct kprotperf_bpf__bss *b = e->skel->bss;
	struct engine_task *tasks = e->views[RECORD_VIEW_TASKS].mem;

	if (!e->n_links || (!e->config.system_wide && !record_engine_live_tasks(e)))
		return;
	__atomic_store_n(&b->paused, true, __ATOMIC_SEQ_CST);
	await_programs();
	/* A program may move a task's slot between RESTING and SLOT while this loop clears the two. So clear both twice. */
	for (int times = e->config.left_out ? 2 : 1; times; times--) {
		for (uint32_t i = 0; i < e->n_cpus; i++) {
			uint32_t rests =
				__atomic_exchange_n(&b->cpus[i].resting, 0, __ATOMIC_SEQ_CST);
			uint32_t runs = __atomic_exchange_n(&b->cpus[i].slot, 0, __ATOMIC_SEQ_CST);

			/* Account the running task's time up to now. */
			if (runs || rests)
				tasks[runs ?: rests].switched = clock_ns();
		}
		await_programs();
	}
}

void record_engine_run(struct record_engine *e, bool run)
{
	uint8_t *left_out = e->skel->bss->left_out;

	for (uint32_t i = 0; e->config.left_out && i < ENGINE_CONTEXTS; i++)
		__atomic_store_n(&left_out[i], run && e->config.left_out[i], __ATOMIC_RELAXED);
}

static void forget_tasks(struct record_engine *e)
{
	struct engine_task *tasks = e->views[RECORD_VIEW_TASKS].mem;
	struct engine_pids *slots = e->views[RECORD_VIEW_SLOTS].mem;
	uint32_t last = e->skel->rodata->max_tasks;

	for (uint32_t i = 1; i < last; i++) {
		struct engine_task *t = &tasks[i];
		uint16_t *entry =
			&slots[t->pid / ENGINE_PIDS_PER_ENTRY].slot[t->pid % ENGINE_PIDS_PER_ENTRY];

		if (!(t->flags & ENGINE_TASK_LIVE))
			continue;
		if (*entry == i)
			*entry = 0;
		t->flags = 0;
		bpf_map__update_elem(e->skel->maps.free_slots, NULL, 0, &i, sizeof(i), BPF_ANY);
	}
	e->skel->bss->live_tasks = 0;
	/* The last slots are for the idle tasks. No BPF program sees the creation of these tasks, so set up the slots here. */
	for (uint32_t i = last; i < e->n_tasks; i++)
		tasks[i] = (struct engine_task){
			.ctx = ENGINE_CTX_NONE,
			.flags = ENGINE_TASK_LIVE | ENGINE_TASK_FRESH,
		};
}

/* Clear only the stacks in use: they are few, and each has a KiB. */
static void forget_stacks(struct record_engine *e)
{
	struct engine_stack *stacks = e->views[RECORD_VIEW_STACKS].mem;

	for (uint32_t i = 0; i < e->n_stacks; i++)
		if (stacks[i].key)
			stacks[i] = (struct engine_stack){};
}

void record_engine_reset(struct record_engine *e)
{
	uint32_t n = e->skel->bss->n_cells;
	size_t used = (size_t)((n < e->n_cells ? n : e->n_cells) + 1) * e->n_shards;
	struct engine_cpu *cpus = e->skel->bss->cpus;

	record_engine_pause(e);
	forget_tasks(e);
	e->oncpu_before = followed_oncpu(e);
	/* Clear only the cells in use. These cells keep their functions and contexts in the next run. */
	memset(e->views[RECORD_VIEW_CELLS].mem, 0, used * sizeof(struct engine_cell));
	if (e->config.n_counters)
		memset(e->views[RECORD_VIEW_COUNTED].mem, 0,
		       used * sizeof(struct engine_counted_cell));
	memset(e->views[RECORD_VIEW_BLOCKS].mem, 0, e->views[RECORD_VIEW_BLOCKS].len);
	memset(e->views[RECORD_VIEW_CAPTURES].mem, 0, e->views[RECORD_VIEW_CAPTURES].len);
	memset(e->skel->bss->captures_left, 0, sizeof(e->skel->bss->captures_left));
	forget_stacks(e);
	memset(e->skel->bss->losses, 0, sizeof(e->skel->bss->losses));
	for (uint32_t i = 0; i < e->n_cpus; i++) {
		cpus[i].samples = 0;
		cpus[i].hits = 0;
		cpus[i].due = ENGINE_NEVER;
		cpus[i].overdue = ENGINE_NEVER;
		cpus[i].taken = 0;
		cpus[i].skipped = 0;
		cpus[i].captured = 0;
	}
	memset(e->views[RECORD_VIEW_MISSED].mem, 0, e->views[RECORD_VIEW_MISSED].len);
	__atomic_store_n(&e->skel->bss->paused, false, __ATOMIC_SEQ_CST);
}
