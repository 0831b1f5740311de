/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * State shared by all programs.
 *
 * Rules of this folder. A probe may fire anywhere, even inside the slab allocator with its locks held. So programs never allocate,
 * take a lock or wait, except in queue operations where a task is created or dies. A frame is reserved (top raised) before it is
 * filled, and released last, so an interrupt between any two instructions finds a consistent stack of frames. fentry programs can
 * be preempted on PREEMPT kernels: data that tasks share is updated atomically, and only stacks are taken in per-CPU memory.
 *
 * Code that runs rarely is neither inlined nor static: the verifier checks a global function once, but any other function on each
 * path to it.
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
#define SHARED_ARRAY(name, value_type) ARRAY_OF(name, value_type, BPF_F_MMAPABLE) /* for mmap() */

/* Define the program NAME, which executes DOES with its context CTX. */
#define PROGRAM(section, name, type, does) \
	SEC(section)                       \
	int name(type *ctx)                \
	{                                  \
		does;                      \
		return 0;                  \
	}

/* A global variable instead of a map: its address is a constant, so no lookup is needed. */
struct engine_cpu cpus[ENGINE_MAX_CPUS] __weak = {};

/* User space sets the sizes that depend on the machine before loading. */
/* Task slots, indexed by global pid. docs/ARCHITECTURE.md, "Tasks", compares this with task storage. */
SHARED_ARRAY(slots, struct engine_pids);

SHARED_ARRAY(tasks, struct engine_task);

/* For each key (site and context), the index in cells of its cell's first shard; 0: it has no cell yet. */
SHARED_ARRAY(cell_of, __u32);

/* Cells, with one copy per shard. A CPU updates the copy of its shard. */
SHARED_ARRAY(cells, struct engine_cell);

/* Number of calls whose return was missed, so that they were not timed, indexed by site. */
SHARED_ARRAY(missed, __u64);

/* Number of slots, with slot 0, which is none. The slots of idle tasks follow. */
const volatile __u32 max_tasks __weak = 1;
const volatile __u32 max_cells __weak = 1;
const volatile __u32 n_shards __weak = 1;

__u32 n_cells __weak = 0;
__u32 root_pid __weak = 0; /* pid of the task to follow from its next syscall on; 0: none */
__u64 losses[ENGINE_N_LOSSES] __weak = {};
/* Epoch of the code of modules and BPF programs. User space sets it (record/collect/code.h). */
__u32 code_epoch __weak = 0;

static __always_inline void loss_count(enum engine_loss loss, __u64 n)
{
	__sync_fetch_and_add(&losses[loss], n);
}

static __always_inline struct engine_cpu *this_cpu(void)
{
	struct engine_cpu *cpu = &cpus[bpf_get_smp_processor_id() & (ENGINE_MAX_CPUS - 1)];

	barrier_var(cpu); /* keeps the compiler from recomputing it at each use */
	return cpu;
}

/* Return the task that runs on CPU; NULL: it is not followed. */
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
 * Return the low half of a context pointer, as a number. The verifier forbids arithmetic on a context pointer, but a 32-bit move
 * makes it a scalar. A cast alone may be compiled to a 64-bit move.
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
 * Return the address of a kernel variable, kept in a register. The verifier searches all of the kernel's types for each instruction
 * that names a kernel variable, so only one does.
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
 * The kernel's preemption count shows whether an interrupt is being served. It is a per-CPU variable up to 6.1 and from 6.15 on,
 * and a member of pcpu_hot in between.
 */
extern const int __preempt_count __ksym __weak;
extern const struct pcpu_hot pcpu_hot __ksym __weak;

/* Bits of an NMI, a hard interrupt, and a soft interrupt that is being served. */
#define PREEMPT_INTERRUPT 0x00ff0100

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
 * Kernels whose BTF has __preempt_count, but whose kallsyms lacks it (without KALLSYMS_ALL), refuse programs that name it. Without
 * it, hard interrupts that hit user space are not detected.
 */
static __always_inline bool in_user_interrupt(void)
{
	return false;
}
#endif

/*
 * Return whether an interrupt runs on top of task T. Soft interrupts, and hard interrupts that hit the kernel, run on their own
 * stacks. Hard interrupts that hit user space run on the task's stack: only then read the preemption count, which takes a call.
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

/* A reading of a task's clocks: the time, and the time excluded from the task's calls so far. */
struct engine_clock {
	__u64 now;
	__u64 excluded;
};

/*
 * Read T's clocks together. An interrupt or a task switch between the two readings would count in only one of them: if EXCLUDED
 * changed, read both again.
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
 * Calibrated probe costs by mechanism. A program's mechanism is a constant, so reading a cost is a load from a constant address.
 * For fentry it is an immediate operand, which user space sets in its copy of the program (ENGINE_PLACEHOLDER_INNER, _FULL).
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

/* Exclude COST from the time of T's open calls. Atomic, as probes in an interrupt may do the same. */
static __always_inline void exclude(struct engine_task *t, __u64 cost)
{
	__sync_fetch_and_add(&t->excluded, cost);
}

/* Exclude COST and the time since START, except the part that was excluded meanwhile, as by the sampler. Return the sum. */
static __always_inline __u64 exclude_since(struct engine_task *t, const struct engine_clock *start,
					   __u64 cost)
{
	struct engine_clock end = clock_read(t);

	cost += (end.now - start->now) - (end.excluded - start->excluded);
	exclude(t, cost);
	return cost;
}
