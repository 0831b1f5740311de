/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * State shared by all programs.
 *
 * Rules of this folder. A probe may fire anywhere, even inside the slab allocator with its locks held:
 * nothing here allocates, takes a lock or waits, except queue operations where a task is created or dies.
 * A frame is reserved (top raised) before it is filled and released last, so an interrupt between any two
 * instructions finds the stack of frames consistent. fentry programs can be preempted on PREEMPT kernels:
 * whatever tasks share is updated atomically, and only the sampler has per-CPU scratch memory.
 *
 * Code that runs rarely is neither inlined nor static: the verifier checks a global function once, and
 * others again on each path to them.
 */
#pragma once

#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "kprotperf/engine.h"

/* x86-64's stack size; with KASAN it is larger, and read from BTF. */
#define THREAD_SIZE_DEFAULT 16384

/* An array whose size user space sets before loading. */
#define ARRAY_OF(name, value_type, flags)         \
	struct {                                  \
		__uint(type, BPF_MAP_TYPE_ARRAY); \
		__uint(map_flags, flags);         \
		__uint(max_entries, 1);           \
		__type(key, __u32);               \
		__type(value, value_type);        \
	} name __weak SEC(".maps")
#define SIZED_ARRAY(name, value_type)  ARRAY_OF(name, value_type, 0)
#define SHARED_ARRAY(name, value_type) ARRAY_OF(name, value_type, BPF_F_MMAPABLE) /* and mmaps */

/* The program NAME, which DOES something with its context, CTX. */
#define PROGRAM(section, name, type, does) \
	SEC(section)                       \
	int name(type *ctx)                \
	{                                  \
		does;                      \
		return 0;                  \
	}

/* A global rather than a map: its address is a constant, without a lookup. */
struct engine_cpu cpus[ENGINE_MAX_CPUS] __weak = {};

/* User space sets the sizes that depend on the machine before loading. */
/* Task slot by (global) pid; cheaper than task storage and never busy. See docs/ARCHITECTURE.md. */
SHARED_ARRAY(slots, struct engine_pids);

SHARED_ARRAY(tasks, struct engine_task);

/* Index in cells of the first shard of the cell of (site, context); 0: none yet. */
SHARED_ARRAY(cell_of, __u32);

/* One copy of each cell per shard; a CPU updates that of its shard. */
SHARED_ARRAY(cells, struct engine_cell);

/* Calls of a site that were not timed because their return was missed. */
SHARED_ARRAY(missed, __u64);

/* Slots, slot 0 included. The idle tasks have slots after these. */
const volatile __u32 max_tasks __weak = 1;
const volatile __u32 max_cells __weak = 1;
const volatile __u32 n_shards __weak = 1;

__u32 n_cells __weak = 0;
__u32 root_pid __weak = 0; /* the task to follow from its next syscall on */
__u64 losses[ENGINE_N_LOSSES] __weak = {};
/* The epoch of code outside of the kernel's image, set by user space (record/collect/code.h). */
__u32 code_epoch __weak = 0;

static __always_inline void loss_count(enum engine_loss loss, __u64 n)
{
	__sync_fetch_and_add(&losses[loss], n);
}

static __always_inline struct engine_cpu *this_cpu(void)
{
	struct engine_cpu *cpu = &cpus[bpf_get_smp_processor_id() & (ENGINE_MAX_CPUS - 1)];

	barrier_var(cpu); /* or the compiler recomputes it at each use */
	return cpu;
}

/* The task that runs on CPU, if it is followed. */
static __always_inline struct engine_task *cpu_task(struct engine_cpu *cpu)
{
	if (!cpu->slot)
		return NULL;
	return bpf_map_lookup_elem(&tasks, &cpu->slot);
}

static __always_inline struct engine_task *this_task(void)
{
	return cpu_task(this_cpu());
}

int task_follow_root(void); /* task.bpf.c */
int task_follow_again(void);
int task_lose(void);

/*
 * The low half of a stack pointer, as a number. The verifier forbids arithmetic on a context pointer, but a
 * 32-bit move of one gives a scalar; a cast alone may be compiled to a 64-bit move.
 */
static __always_inline __u32 stack_address(void *ctx)
{
	__u32 low;

	asm volatile("%0 = %1" : "=w"(low) : "w"((__u32)(unsigned long)ctx));
	return low;
}

/* Return whether SP lies on T's own kernel stack. */
static __always_inline bool on_task_stack(const struct engine_task *t, __u32 sp)
{
	__u32 size = bpf_core_type_exists(union thread_union) ?
			     bpf_core_type_size(union thread_union) :
			     THREAD_SIZE_DEFAULT;

	return sp - t->stack < size;
}

/*
 * The address of a kernel variable, kept in a register: for each instruction that names a kernel variable, the verifier
 * searches all of the kernel's types.
 */
#define named(variable)                              \
	({                                           \
		__typeof__(variable) at_ = variable; \
                                                     \
		barrier_var(at_);                    \
		at_;                                 \
	})

#ifndef WITHOUT_KSYMS
/*
 * The kernel's preemption count shows every interrupt. It is a per-CPU variable up to 6.1 and from 6.15, and
 * a member of pcpu_hot in between.
 */
extern const int __preempt_count __ksym __weak;
extern const struct pcpu_hot pcpu_hot __ksym __weak;

#define PREEMPT_INTERRUPT 0x00ff0100 /* NMI, hard interrupt, soft interrupt being served */

static __always_inline bool in_user_interrupt(void)
{
	const int *count = named(&__preempt_count);
	const struct pcpu_hot *hot;

	if (count)
		return *(int *)bpf_this_cpu_ptr(count) & PREEMPT_INTERRUPT;
	hot = named(&pcpu_hot);
	if (hot)
		return ((struct pcpu_hot *)bpf_this_cpu_ptr(hot))->preempt_count &
		       PREEMPT_INTERRUPT;
	return false;
}
#else
/*
 * Kernels with that variable in BTF but not in kallsyms (without KALLSYMS_ALL) refuse programs that name
 * it. Without it, a hard interrupt that hits user space goes unnoticed.
 */
static __always_inline bool in_user_interrupt(void)
{
	return false;
}
#endif

/*
 * Return whether an interrupt runs on top of task T. Soft interrupts, and hard interrupts that hit the kernel,
 * run on their own stacks. Only hard interrupts that hit user space stay on the task's stack: then the preemption
 * count decides, and reading it takes a call.
 */
static __always_inline bool in_interrupt(const struct engine_task *t, __u32 ctx, __u32 sp)
{
	return !on_task_stack(t, sp) || (ctx == ENGINE_CTX_NONE && in_user_interrupt());
}

/*
 * Allocate a cell for KEY, a (site, context). Return the index of its first shard; 0: no cell is left. Not
 * inlined: it runs once per cell.
 */
__weak __noinline __u32 cell_claim(__u32 key)
{
	__u32 *first = bpf_map_lookup_elem(&cell_of, &key), cell, was;

	if (!first)
		return 0;
	if (*first)
		return *first;
	cell = engine_cell_take(&n_cells, max_cells);
	if (!cell)
		return 0;
	was = __sync_val_compare_and_swap(first, 0, cell * n_shards);
	if (!was)
		return cell * n_shards;
	engine_cell_give_back(&n_cells, cell); /* another CPU was first */
	return was;
}

/* Return the cell of *KEY in CPU's shard. *KEY must lie in a map, as the kernel reads it in place. */
static __always_inline struct engine_cell *cell_get(const struct engine_cpu *cpu, const __u32 *key)
{
	__u32 *first = bpf_map_lookup_elem(&cell_of, key), at;

	if (!first)
		return NULL;
	at = *first;
	if (!at) {
		at = cell_claim(*key);
		if (!at)
			return NULL;
	}
	at += cpu->shard;
	return bpf_map_lookup_elem(&cells, &at);
}

/* A task's clocks at one moment. */
struct engine_clock {
	__u64 now;
	__u64 excluded;
};

/*
 * Read T's clocks together. An interrupt between the two readings, or a switch if programs can be preempted,
 * would count in only one of them: then read both again.
 */
static __always_inline struct engine_clock clock_read(const struct engine_task *t)
{
	const volatile __u64 *excluded = &t->excluded;
	struct engine_clock c;

	c.excluded = *excluded;
	c.now = bpf_ktime_get_ns();
	if (c.excluded != *excluded) {
		c.excluded = *excluded;
		c.now = bpf_ktime_get_ns();
	}
	return c;
}

/*
 * Calibrated probe costs by mechanism. A program knows its mechanism, so a cost is a load from a constant
 * address or, for fentry, an instruction of the copy written by user space (ENGINE_PLACEHOLDER_INNER, _FULL).
 */
struct engine_cost costs[PROFILE_N_COSTS] __weak = {};

/* Return V less the inner cost of MECH. */
static __always_inline __u64 cost_less(__u64 v, enum profile_mechanism mech)
{
	if (mech == PROFILE_UNTIMED)
		return v;
	if (mech != PROFILE_MECH_FENTRY)
		return v - costs[mech].inner;
	asm volatile("%0 -= %1" : "+r"(v) : "i"(ENGINE_PLACEHOLDER_INNER));
	return v;
}

static __always_inline __u64 cost_full(enum profile_mechanism mech)
{
	__u64 v;

	if (mech != PROFILE_MECH_FENTRY)
		return costs[mech].full;
	asm volatile("%0 = %1" : "=r"(v) : "i"(ENGINE_PLACEHOLDER_FULL));
	return v;
}

/* Exclude COST from T's calls. Atomic, as probes in an interrupt exclude time of the same task. */
static __always_inline void exclude(struct engine_task *t, __u64 cost)
{
	__sync_fetch_and_add(&t->excluded, cost);
}

/*
 * Exclude COST and the time since START, less what the sampler's interrupts excluded meanwhile. Return how much was
 * excluded.
 */
static __always_inline __u64 exclude_since(struct engine_task *t, const struct engine_clock *start,
					   __u64 cost)
{
	struct engine_clock end = clock_read(t);

	cost += (end.now - start->now) - (end.excluded - start->excluded);
	exclude(t, cost);
	return cost;
}
