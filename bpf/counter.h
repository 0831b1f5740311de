/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Count events (such as cache misses) in each call: docs/ARCHITECTURE.md, "Events". Without events, N_COUNTERS is a constant 0, so
 * the verifier removes all calls of these static functions and does not check them. The kernel may then lack the helper they use.
 */
#pragma once

#include "engine.h"

const volatile __u32 n_counters __weak = 0;
const volatile __u32 counter_cpus __weak = 1;

/* Perf events. The index is event * counter_cpus + CPU. */
struct {
	__uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
	__uint(max_entries, 1);
	__uint(key_size, sizeof(__u32));
	__uint(value_size, sizeof(__u32));
} counters __weak SEC(".maps");

SIZED_ARRAY(counted_tasks, struct engine_counted_task); /* indexed by task slot */
SIZED_ARRAY(counted_calls, struct engine_counted_call); /* indexed by counted_number() */
SHARED_ARRAY(counted_cells, struct engine_counted_cell); /* indexed like the array cells */

struct engine_counter_costs counter_costs[PROFILE_N_COSTS] __weak = {};

static __always_inline __u64 counter_read(__u32 i)
{
	struct bpf_perf_event_value value = {};

	if (bpf_perf_event_read_value(&counters, i * counter_cpus + bpf_get_smp_processor_id(),
				      &value, sizeof(value)))
		loss_count(ENGINE_LOSS_COUNTERS, 1);
	return value.counter;
}

/* Return the count of event I in the running TASK. If EXCLUDED changes during the reading, read again, like clock_read(). */
static __always_inline __u64 counter_of(const struct engine_counted_task *task, __u32 i)
{
	const volatile __u64 *excluded = &task->excluded[i];
	__u64 was = *excluded, now = counter_read(i);

	if (was != *excluded) {
		was = *excluded;
		now = counter_read(i);
	}
	return now - was;
}

/* Return the slot of the running task, or of the dying task whose open calls are being ended. */
static __always_inline __u32 counted_slot(const struct engine_cpu *cpu)
{
	return cpu->slot ?: cpu->closing;
}

/* Return the index in counted_calls of frame F of task T in slot SLOT. */
static __always_inline __u32 counted_number(__u32 slot, const struct engine_task *t,
					    const struct engine_frame *f)
{
	return slot * ENGINE_DEPTH + (__u32)((void *)f - (void *)t->frames) / ENGINE_FRAME;
}

/* Return the index of KEY's cell in CPU's shard (copy), or 0 if no cell is free. */
static __always_inline __u32 counted_cell(const struct engine_cpu *cpu, __u32 key)
{
	__u32 *first = bpf_map_lookup_elem(&cell_of, &key), at = first ? *first : 0;

	at = at ?: cell_claim(key);
	return at ? at + cpu->shard : 0;
}

/* Start counting events for the call with frame F. */
static __noinline int counters_open(struct engine_task *t, struct engine_frame *f)
{
	__u32 slot = counted_slot(this_cpu()), at = counted_number(slot, t, f);
	struct engine_counted_task *task = bpf_map_lookup_elem(&counted_tasks, &slot);
	struct engine_counted_call *call = bpf_map_lookup_elem(&counted_calls, &at);

	if (!task || !call)
		return 0;
	for (__u32 i = 0; i < ENGINE_COUNTERS && i < n_counters; i++) {
		call->child[i] = 0;
		call->start[i] = counter_of(task, i);
	}
	return 0;
}

/* Stop counting events for the call with frame F. If ENCLOSED, add its events to CHILD of the caller, whose frame is below. */
static __noinline int counters_close(const struct engine_cpu *cpu, struct engine_task *t,
				     struct engine_frame *f, __u32 mech, bool enclosed)
{
	__u32 slot = counted_slot(cpu), at = counted_cell(cpu, f->key),
	      number = counted_number(slot, t, f);
	struct engine_counted_task *task = bpf_map_lookup_elem(&counted_tasks, &slot);
	struct engine_counted_call *call = bpf_map_lookup_elem(&counted_calls, &number), *caller;
	struct engine_counted_cell *cell = bpf_map_lookup_elem(&counted_cells, &at);

	number -= enclosed;
	caller = bpf_map_lookup_elem(&counted_calls, &number);
	if (!task || !call || !caller || !cell || mech >= PROFILE_N_COSTS)
		return 0;
	for (__u32 i = 0; i < ENGINE_COUNTERS && i < n_counters; i++) {
		const struct engine_counter_costs *cost = &counter_costs[mech];
		__u64 n = counter_of(task, i) - call->start[i] - cost->inner[i];

		__sync_fetch_and_add(&cell->total[i], n);
		__sync_fetch_and_add(&cell->child[i], call->child[i]);
		if (enclosed)
			caller->child[i] += n;
		__sync_fetch_and_add(&task->excluded[i], cost->full[i]);
	}
	return 0;
}
