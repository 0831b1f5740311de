/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * State that all programs share, and the opening and closing of frames.
 *
 * Rules of this folder. A probe may fire anywhere, inside the slab allocator with its locks held
 * too: nothing here allocates, takes a lock or can wait, except queue operations at the few points
 * where a task is born or dead. A frame is reserved (depth raised) before it is filled and released
 * last, so that an interrupt between any two instructions finds the stack of frames consistent.
 * Programs can be preempted under fentry on PREEMPT kernels: whatever is shared between tasks is
 * updated atomically, and there is no scratch memory per CPU outside the sampler.
 */
#ifndef BPF_ENGINE_H
#define BPF_ENGINE_H

#include "vmlinux.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#include "kprotperf/engine.h"

/* x86-64's; with KASAN it is larger, which is read from BTF. */
#define THREAD_SIZE_DEFAULT 16384

/* Sizes below that depend on the machine are set by user space before loading. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct engine_cpu);
} cpus __weak SEC(".maps");

/* Task slot by (global) pid; cheaper than task storage and never busy. See docs/ARCHITECTURE.md. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct engine_pids);
} slots __weak SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct engine_task);
} tasks __weak SEC(".maps");

/* Number of the cell of (site, context), counted from 1; 0: none yet. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} cell_of __weak SEC(".maps");

/* Cell C as CPU N updates it: element C * n_shards + N % n_shards. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct engine_cell);
} cells __weak SEC(".maps");

const volatile __u32 max_cells __weak = 1;
const volatile __u32 shard_mask __weak = 0;

__u32 n_cells __weak = 0;
__u32 root_pid __weak = 0; /* the task to follow from its next syscall on */
__u64 losses[ENGINE_N_LOSSES] __weak = {};

static __always_inline void loss_count(enum engine_loss loss, __u64 n)
{
	__sync_fetch_and_add(&losses[loss], n);
}

static __always_inline struct engine_cpu *this_cpu(void)
{
	__u32 cpu = bpf_get_smp_processor_id();

	return bpf_map_lookup_elem(&cpus, &cpu);
}

/* The task that runs on CPU, if it is followed. */
static __always_inline struct engine_task *cpu_task(struct engine_cpu *cpu)
{
	__u32 slot;

	if (!cpu)
		return NULL;
	slot = cpu->slot;
	if (!slot)
		return NULL;
	return bpf_map_lookup_elem(&tasks, &slot);
}

static __always_inline struct engine_task *this_task(void)
{
	return cpu_task(this_cpu());
}

int task_follow_root(void); /* task.bpf.c */

/*
 * The low half of a pointer to the stack, as a number. The verifier lets nobody calculate with a
 * context pointer, but what a 32-bit move makes of one is just a number; a cast alone may be
 * compiled to a 64-bit move.
 */
static __always_inline __u32 stack_address(void *ctx)
{
	__u64 low;

	asm volatile("r1 = %1; w0 = w1; %0 = r0" : "=r"(low) : "r"(ctx) : "r0", "r1");
	return low;
}

/*
 * Does SP lie on the running task's own stack? Soft interrupts, and hard ones that hit the kernel,
 * are served on stacks of their own.
 */
static __always_inline bool on_task_stack(__u32 sp)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();
	__u32 size = bpf_core_type_exists(union thread_union) ?
			     bpf_core_type_size(union thread_union) :
			     THREAD_SIZE_DEFAULT;

	return sp - (__u32)(unsigned long)task->stack < size;
}

#ifndef WITHOUT_KSYMS
/*
 * The kernel's preemption count tells of every interrupt. It is a per-CPU variable of its own up to
 * 6.1 and from 6.15, a member of pcpu_hot between.
 */
extern const int __preempt_count __ksym __weak;
extern const struct pcpu_hot pcpu_hot __ksym __weak;

#define PREEMPT_INTERRUPT 0x00ff0100 /* NMI, hard interrupt, soft interrupt being served */

static __always_inline bool in_interrupt(void *ctx)
{
	if (&__preempt_count)
		return *(int *)bpf_this_cpu_ptr(&__preempt_count) & PREEMPT_INTERRUPT;
	if (&pcpu_hot)
		return ((struct pcpu_hot *)bpf_this_cpu_ptr(&pcpu_hot))->preempt_count &
		       PREEMPT_INTERRUPT;
	return !on_task_stack(stack_address(ctx));
}
#else
/*
 * Kernels whose BTF has that variable but whose kallsyms does not (without KALLSYMS_ALL) refuse
 * programs that name it. Here a hard interrupt that hits user space goes unnoticed: it stays on the
 * task's stack.
 */
static __always_inline bool in_interrupt(void *ctx)
{
	return !on_task_stack(stack_address(ctx));
}
#endif

static __always_inline struct engine_cell *cell_get(__u32 site, __u32 ctx)
{
	__u32 key = site * ENGINE_CONTEXTS + ctx, cell;
	__u32 *number = bpf_map_lookup_elem(&cell_of, &key);

	if (!number)
		return NULL;
	cell = *number;
	if (!cell) {
		__u32 mine = __sync_fetch_and_add(&n_cells, 1) + 1;

		if (mine > max_cells)
			return NULL;
		/* Another CPU may have been first: then ours stays unused. */
		cell = __sync_val_compare_and_swap(number, 0, mine);
		if (!cell)
			cell = mine;
	}
	key = cell * (shard_mask + 1) + (bpf_get_smp_processor_id() & shard_mask);
	return bpf_map_lookup_elem(&cells, &key);
}

/* Raises *MAX to V. Three tries: a fourth CPU at the same nanosecond may lose its extreme. */
static __always_inline void raise(__u64 *max, __u64 v)
{
	__u64 seen = *max;

	for (int i = 0; i < 3 && v > seen; i++) {
		__u64 was = __sync_val_compare_and_swap(max, seen, v);

		if (was == seen)
			break;
		seen = was;
	}
}

static __always_inline void cell_add(struct engine_cell *c, __u64 oncpu, __u64 offcpu, __u64 child,
				     __u64 cost, __u64 net)
{
	__u32 slot = hist_slot(net);

	__sync_fetch_and_add(&c->calls, 1);
	__sync_fetch_and_add(&c->oncpu, oncpu);
	/* Mostly zero, and an atomic addition is dear on real machines. */
	if (offcpu)
		__sync_fetch_and_add(&c->offcpu, offcpu);
	if (child)
		__sync_fetch_and_add(&c->child, child);
	if (cost)
		__sync_fetch_and_add(&c->cost, cost);
	if (net < (1 << ENGINE_SQ_SPLIT)) {
		__sync_fetch_and_add(&c->sq_lo, net * net);
	} else {
		__u64 scaled = net >> (ENGINE_SQ_SPLIT / 2);

		__sync_fetch_and_add(&c->sq_hi, scaled * scaled);
	}
	if (net > c->max)
		raise(&c->max, net);
	if (~net > c->min_inv)
		raise(&c->min_inv, ~net);
	if (slot < HIST_SLOTS)
		__sync_fetch_and_add(&c->hist[slot], 1);
}

/* A task's clocks at one moment. */
struct engine_clock {
	__u64 now;
	__u64 offcpu;
	__u64 cost;
};

/*
 * Reads T's clocks together. An interrupt between the readings, or a switch where programs can be
 * preempted, would be in one and not in the other: then they are read again.
 */
static __always_inline struct engine_clock clock_read(const struct engine_task *t)
{
	const volatile __u64 *offcpu = &t->offcpu, *cost = &t->cost;
	struct engine_clock c;

	c.offcpu = *offcpu;
	c.cost = *cost;
	c.now = bpf_ktime_get_ns();
	if (c.offcpu != *offcpu || c.cost != *cost) {
		c.offcpu = *offcpu;
		c.cost = *cost;
		c.now = bpf_ktime_get_ns();
	}
	return c;
}

/* Fills frame F of T; the clocks come last, so that the call is charged with little of this. */
static __always_inline void frame_open(struct engine_task *t, struct engine_frame *f, __u32 site,
				       __u32 ctx, __u64 sp)
{
	struct engine_clock c;

	f->child = 0;
	f->sp = sp;
	f->site = site;
	f->ctx = ctx;
	c = clock_read(t);
	f->offcpu = c.offcpu;
	f->cost = c.cost;
	f->start = c.now;
}

/*
 * Accounts frame F, which ended at END, and tells PARENT (may be F itself: nobody). INNER is the part
 * of the site's own probes that lies between the two readings of the clocks.
 */
static __always_inline struct engine_cell *frame_close(struct engine_frame *f,
						       struct engine_frame *parent,
						       const struct engine_clock *end, __u64 inner)
{
	__u64 offcpu = end->offcpu - f->offcpu;
	__u64 oncpu = end->now - f->start - offcpu;
	__u64 cost = end->cost - f->cost;
	__u64 child = f->child;
	__s64 net = oncpu - cost - inner;
	struct engine_cell *c = cell_get(f->site, f->ctx);

	if (net < 0) {
		if (c)
			__sync_fetch_and_add(&c->negative, 1);
		net = 0;
	}
	parent->child += net;
	if (!c) {
		loss_count(ENGINE_LOSS_CELLS, 1);
		return NULL;
	}
	cell_add(c, oncpu, offcpu, child, cost, net);
	return c;
}

/* Drops the frames of functions that are open although their task is back at its base. */
static __always_inline void frames_drop(struct engine_task *t, enum engine_loss reason)
{
	__u32 depth = t->depth;

	if (depth > 1) {
		loss_count(reason, depth - 1);
		t->depth = 1;
	}
}

#endif
