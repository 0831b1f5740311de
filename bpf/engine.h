/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * State shared by all BPF programs.
 *
 * Rules of this folder. A probe may fire anywhere, even inside the slab allocator with its locks held. So programs never allocate,
 * lock or wait, except for queue operations when a task is created or dies. A frame is reserved (top raised) before it is filled,
 * and released last, so interrupts always find a consistent array of frames. fentry programs can be preempted on PREEMPT kernels:
 * shared data is updated atomically, and only stacks are stored in per-CPU memory.
 *
 * Rarely executed code is neither inlined nor static: the verifier checks a global function once, but any other function on each
 * path to it.
 */
#pragma once

#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "kprotperf/engine.h"

/* Stack size on x86-64. KASAN increases it; then it is read from BTF. */
#define THREAD_SIZE_DEFAULT 16384

/* An array. User space sets its size before loading. */
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

/* Define the BPF program NAME, which executes DOES. CTX is its context. */
#define PROGRAM(section, name, type, does) \
	SEC(section)                       \
	int name(type *ctx)                \
	{                                  \
		does;                      \
		return 0;                  \
	}

/* A global variable, not a map: its address is a constant, so it needs no lookup. */
struct engine_cpu cpus[ENGINE_MAX_CPUS] __weak = {};

/* The slot of each task, by global pid. docs/ARCHITECTURE.md, "Tasks", compares this with BPF task storage. */
SHARED_ARRAY(slots, struct engine_pids);

SHARED_ARRAY(tasks, struct engine_task);

/* For each key (site and context): index in cells of the first shard (copy) of its cell; 0: there is no cell. */
SHARED_ARRAY(cell_of, __u32);

/* Statistics of calls, with one copy per shard (group of CPUs). A CPU updates its shard's copy. */
SHARED_ARRAY(cells, struct engine_cell);

/* For each site: number of calls that were not timed because their return was missed. */
SHARED_ARRAY(missed, __u64);

/* Number of task slots, including slot 0 ("no task") but not the slots of idle tasks, which come after them. */
const volatile __u32 max_tasks __weak = 1;
const volatile __u32 max_cells __weak = 1;
const volatile __u32 n_shards __weak = 1;

__u32 n_cells __weak = 0;
__u32 root_pid __weak = 0; /* pid of the task to follow from its next system call; 0: none */
__u64 losses[ENGINE_N_LOSSES] __weak = {};
/* Number that user space increases when modules or BPF programs come or go (record/collect/code.h). Samples contain it. */
__u32 code_epoch __weak = 0;

static __always_inline void loss_count(enum engine_loss loss, __u64 n)
{
	__sync_fetch_and_add(&losses[loss], n);
}

static __always_inline struct engine_cpu *this_cpu(void)
{
	struct engine_cpu *cpu = &cpus[bpf_get_smp_processor_id() & (ENGINE_MAX_CPUS - 1)];

	barrier_var(cpu); /* else the compiler computes CPU again at each use */
	return cpu;
}

/* Return the followed task that runs on CPU, or NULL. */
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

int task_follow_root(void); /* these are in task.bpf.c */
int task_follow_again(void);
int task_lose(void);

/*
 * Return the low 32 bits of a context pointer as a number. The verifier forbids arithmetic on the pointer, but allows it after a
 * 32-bit move. The compiler may make a 64-bit move of a simple cast.
 */
static __always_inline __u32 stack_address(void *ctx)
{
	__u32 low;

	asm volatile("%0 = %1" : "=w"(low) : "w"((__u32)(unsigned long)ctx));
	return low;
}

/* Return whether the address SP is on T's own kernel stack. */
static __always_inline bool on_task_stack(const struct engine_task *t, __u32 sp)
{
	__u32 size = bpf_core_type_exists(union thread_union) ?
			     bpf_core_type_size(union thread_union) :
			     THREAD_SIZE_DEFAULT;

	return sp - t->stack < size;
}

/*
 * Return the address of a kernel variable, kept in a register. The verifier searches all kernel types for each instruction that
 * names a variable, so only one instruction names it.
 */
#define named(variable)                              \
	({                                           \
		__typeof__(variable) at_ = variable; \
                                                     \
		barrier_var(at_);                    \
		at_;                                 \
	})

#ifndef WITHOUT_KSYMS
/* The preemption count shows interrupts: a per-CPU variable up to Linux 6.1 and since 6.15, else a member of pcpu_hot. */
extern const int __preempt_count __ksym __weak;
extern const struct pcpu_hot pcpu_hot __ksym __weak;

/* Bits for an NMI, a hard interrupt, and a soft interrupt that is being served. */
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
 * Without KALLSYMS_ALL, a kernel may have __preempt_count in its BTF, but not in kallsyms, and refuse programs that name it. Then
 * hard interrupts that hit user space are not detected.
 */
static __always_inline bool in_user_interrupt(void)
{
	return false;
}
#endif

/*
 * Return whether an interrupt runs on top of task T. Most interrupts have their own stack. Only hard interrupts that hit user
 * space run on the task's stack: the preemption count shows these interrupts, but reading the count takes a helper call.
 */
static __always_inline bool in_interrupt(const struct engine_task *t, __u32 ctx, __u32 sp)
{
	return !on_task_stack(t, sp) || (ctx == ENGINE_CTX_NONE && in_user_interrupt());
}

/* Allocate a cell for KEY. Return its first shard's index, or 0 if no cell is free. Not inlined, since it runs once per cell. */
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
	engine_cell_give_back(&n_cells, cell); /* another CPU allocated first */
	return was;
}

/* Return the cell of *KEY in CPU's shard. *KEY must be in a map, since the kernel reads it there. */
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

/* A task's clock reading: the time, and the time excluded from the task's calls so far. */
struct engine_clock {
	__u64 now;
	__u64 excluded;
};

/* Read T's time and excluded time together: if an interrupt or task switch between the readings changed EXCLUDED, read again. */
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
 * Calibrated probe costs by mechanism. A program's mechanism is a constant, so the cost is at a constant address. For fentry, user
 * space writes the cost into its copy of the program (ENGINE_PLACEHOLDER_INNER, _FULL).
 */
struct engine_cost costs[PROFILE_N_COSTS] __weak = {};

/* Return V - the inner cost of MECH. */
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

/* Exclude COST from the times of T's open calls. Atomic, since a probe in an interrupt may exclude time, too. */
static __always_inline void exclude(struct engine_task *t, __u64 cost)
{
	__sync_fetch_and_add(&t->excluded, cost);
}

/* Exclude COST and the time since START, but not the time that others (the sampler) excluded meanwhile. Return the sum. */
static __always_inline __u64 exclude_since(struct engine_task *t, const struct engine_clock *start,
					   __u64 cost)
{
	struct engine_clock end = clock_read(t);

	cost += (end.now - start->now) - (end.excluded - start->excluded);
	exclude(t, cost);
	return cost;
}
