/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * State that all programs share, and the opening and closing of frames.
 *
 * Rules of this folder. A probe may fire anywhere, inside the slab allocator with its locks held
 * too: nothing here allocates, takes a lock or can wait, except queue operations at the few points
 * where a task is born or dead. A frame is reserved (top raised) before it is filled and released
 * last, so that an interrupt between any two instructions finds the stack of frames consistent.
 * Programs can be preempted under fentry on PREEMPT kernels: whatever is shared between tasks is
 * updated atomically, and there is no scratch memory per CPU outside the sampler.
 *
 * What runs rarely is neither inlined nor static: the verifier goes through such a function once, and
 * through others again on each way that leads to them.
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

/* Not a map of its own: a global's address is a constant, with nothing to look up. */
struct engine_cpu cpus[ENGINE_MAX_CPUS] __weak = {};

/* Sizes below that depend on the machine are set by user space before loading. */
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

/* Where the shards of the cell of (site, context) begin in cells; 0: none yet. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u32);
} cell_of __weak SEC(".maps");

/* Each cell as often as there are shards; a CPU updates the one of its own. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct engine_cell);
} cells __weak SEC(".maps");

/* Calls of a site that were not timed because their return was missed. */
struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64);
} missed __weak SEC(".maps");

/* enum engine_site_state of each, looked at only where a return has no frame and at a task's death. */
__u8 site_states[ENGINE_MAX_SITES] __weak = {};

const volatile __u32 max_cells __weak = 1;
const volatile __u32 n_shards __weak = 1;
/* Entries of paths, a power of two, less one; 0: no blocks are counted, and the verifier leaves out what is for them. */
const volatile __u32 path_mask __weak = 0;

__u32 n_cells __weak = 0;
__u32 root_pid __weak = 0; /* the task to follow from its next syscall on */
__u64 losses[ENGINE_N_LOSSES] __weak = {};

static __always_inline void loss_count(enum engine_loss loss, __u64 n)
{
	__sync_fetch_and_add(&losses[loss], n);
}

static __always_inline struct engine_cpu *this_cpu(void)
{
	struct engine_cpu *cpu = &cpus[bpf_get_smp_processor_id() & (ENGINE_MAX_CPUS - 1)];

	barrier_var(cpu); /* or the compiler calculates it anew wherever it is used */
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
int path_close(struct engine_task *t, __u64 time, __u64 aside); /* block.bpf.c */

/*
 * The low half of a pointer to the stack, as a number. The verifier lets nobody calculate with a
 * context pointer, but what a 32-bit move makes of one is just a number; a cast alone may be
 * compiled to a 64-bit move.
 */
static __always_inline __u32 stack_address(void *ctx)
{
	__u32 low;

	asm volatile("%0 = %1" : "=w"(low) : "w"((__u32)(unsigned long)ctx));
	return low;
}

/* Does SP lie on that task's own stack? */
static __always_inline bool on_task_stack(const struct engine_task *t, __u32 sp)
{
	__u32 size = bpf_core_type_exists(union thread_union) ?
			     bpf_core_type_size(union thread_union) :
			     THREAD_SIZE_DEFAULT;

	return sp - t->stack < size;
}

#ifndef WITHOUT_KSYMS
/*
 * The kernel's preemption count tells of every interrupt. It is a per-CPU variable of its own up to
 * 6.1 and from 6.15, a member of pcpu_hot between.
 */
extern const int __preempt_count __ksym __weak;
extern const struct pcpu_hot pcpu_hot __ksym __weak;

#define PREEMPT_INTERRUPT 0x00ff0100 /* NMI, hard interrupt, soft interrupt being served */

static __always_inline bool in_user_interrupt(void)
{
	if (&__preempt_count)
		return *(int *)bpf_this_cpu_ptr(&__preempt_count) & PREEMPT_INTERRUPT;
	if (&pcpu_hot)
		return ((struct pcpu_hot *)bpf_this_cpu_ptr(&pcpu_hot))->preempt_count &
		       PREEMPT_INTERRUPT;
	return false;
}
#else
/*
 * Kernels whose BTF has that variable but whose kallsyms does not (without KALLSYMS_ALL) refuse
 * programs that name it. Here a hard interrupt that hits user space goes unnoticed.
 */
static __always_inline bool in_user_interrupt(void)
{
	return false;
}
#endif

#ifndef WITHOUT_KSYMS
extern const struct kernel_stat kstat __ksym __weak;
#endif

/* Changes whenever this CPU is interrupted: by its timer, which makes jiffies, or by something else. */
static __always_inline __u32 interrupts_seen(void)
{
	__u32 n = bpf_jiffies64();

#ifndef WITHOUT_KSYMS
	if (&kstat)
		n += ((struct kernel_stat *)bpf_this_cpu_ptr(&kstat))->irqs_sum;
#endif
	return n;
}

/*
 * Is the running task T interrupted? Soft interrupts, and hard ones that hit the kernel, are served
 * on stacks of their own; only one that hits user space stays on the task's, and there the count,
 * which takes a call to read, must tell.
 */
static __always_inline bool in_interrupt(const struct engine_task *t, __u32 ctx, __u32 sp)
{
	return !on_task_stack(t, sp) || (ctx == ENGINE_CTX_NONE && in_user_interrupt());
}

/*
 * Gives the (site, context) of *FIRST a cell, and returns the first of its shards; 0: none left. Not
 * inlined: it runs once a cell.
 */
__weak __noinline __u32 cell_claim(__u32 key)
{
	__u32 *first = bpf_map_lookup_elem(&cell_of, &key), cell, was;

	if (!first)
		return 0;
	if (*first)
		return *first;
	cell = __sync_fetch_and_add(&n_cells, 1) + 1;
	if (cell > max_cells)
		return 0;
	/* Another CPU may have been first: then ours stays unused. */
	was = __sync_val_compare_and_swap(first, 0, cell * n_shards);
	return was ?: cell * n_shards;
}

/* The cell of *KEY, which lies in a map itself: the kernel reads it where it is. */
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

/* hist_slot() of small values, by user space: what it costs here must not vary with the value. */
const volatile __u8 small_slots[ENGINE_SMALL] __weak = {};

#define SMALL_SHIFT 8 /* of larger ones, whose slots are so many further on */

/* Which branches so often that inlined it made up a third of what the verifier had to do. */
__weak __noinline __u32 slot_of_long_time(__u64 v)
{
	return hist_slot(v);
}

static __always_inline __u32 slot_of_time(__u64 v)
{
	if (v < ENGINE_SMALL)
		return small_slots[v];
	if (v < ENGINE_SMALL << SMALL_SHIFT)
		return small_slots[v >> SMALL_SHIFT] + SMALL_SHIFT * HIST_SUB;
	return slot_of_long_time(v);
}

/* The distribution of NET, in ticks. */
static __always_inline void cell_add(struct engine_cell *c, __u64 net)
{
	__u32 slot = slot_of_time(net);

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
	__u64 aside;
};

/*
 * Reads T's clocks together. An interrupt between the readings, or a switch where programs can be
 * preempted, would be in one and not in the other: then they are read again.
 */
static __always_inline struct engine_clock clock_read(const struct engine_task *t)
{
	const volatile __u64 *aside = &t->aside;
	struct engine_clock c;

	c.aside = *aside;
	c.now = bpf_ktime_get_ns();
	if (c.aside != *aside) {
		c.aside = *aside;
		c.now = bpf_ktime_get_ns();
	}
	return c;
}

/*
 * What a site's probes cost, calibrated, in ticks. INNER and FULL may be NULL: then they stand in an
 * instruction, where user space writes them into copies of the program. NESTED, what it costs more to
 * close a frame in which others were, is NULL for those that no frame encloses. TRIP, what it costs
 * less where the frame's return is one with that of the frame below, is NULL where that cannot be. HALF
 * is what a return probe alone costs, while its site is being detached; NULL where that cannot be.
 */
struct probe_cost {
	const volatile __u64 *inner;
	const volatile __u64 *full;
	const volatile __u64 *nested;
	const volatile __u64 *trip;
	const volatile __u64 *half;
	__u64 extra; /* on top of FULL, known of this site */
};

#define COST_INNER 0x5173c0d1
#define COST_FULL  0x5173c0d2

static __always_inline __u64 cost_less(__u64 v, const volatile __u64 *inner)
{
	if (inner)
		return v - *inner;
	asm volatile("%0 -= %1" : "+r"(v) : "i"(COST_INNER));
	return v;
}

static __always_inline __u64 cost_full(const volatile __u64 *full)
{
	__u64 v;

	if (full)
		return *full;
	asm volatile("%0 = %1" : "=r"(v) : "i"(COST_FULL));
	return v;
}

/* Atomically: probes in an interrupt set aside for the same task. */
static __always_inline void set_aside(struct engine_task *t, __u64 cost)
{
	__sync_fetch_and_add(&t->aside, cost);
}

/* Fills frame F of T, but for what tells when it began and what is counted in it. */
static __always_inline void frame_fill(const struct engine_task *t, struct engine_frame *f,
				       __u32 key, __u32 sp)
{
	f->child = 0;
	f->sp = sp;
	f->key = key;
	f->offcpu = t->offcpu;
}

/* Fills frame F of T; the clocks come last, so that the call is charged with little of this. */
static __always_inline void frame_open(struct engine_task *t, struct engine_frame *f, __u32 key,
				       __u32 sp)
{
	struct engine_clock c;

	__sync_fetch_and_add(&t->entered, 1); /* an interrupt may come in between */
	frame_fill(t, f, key, sp);
	if (path_mask) {
		f->calls = interrupts_seen() << 1;
		f->signature = 0;
		f->turns = 0;
	}
	c = clock_read(t);
	f->aside = c.aside;
	f->start = c.now;
}

/*
 * Accounts frame F of T, which ended at END on CPU, and tells the frame below it if there can be one.
 * (The verifier takes F for any of the frames: there is room for one before the first.)
 */
static __always_inline struct engine_cell *
frame_close(const struct engine_cpu *cpu, struct engine_task *t, struct engine_frame *f,
	    const struct engine_clock *end, struct probe_cost cost)
{
	__u64 wall = end->now - f->start;
	__u64 aside = end->aside - f->aside;
	__u64 net = cost_less(wall - aside, cost.inner);
	struct engine_cell *c;

	if (cost.nested)
		f[-1].child += net;
	c = cell_get(cpu, &f->key);
	if (!c) {
		loss_count(ENGINE_LOSS_CELLS, 1);
		return NULL;
	}
	__sync_fetch_and_add(&c->calls, 1);
	__sync_fetch_and_add(&c->wall, wall);
	/* Mostly zero, and an atomic addition is dear on real machines. */
	if (aside) {
		__sync_fetch_and_add(&c->aside, aside);
		__sync_fetch_and_add(&c->offcpu, t->offcpu - f->offcpu);
		if (cost.nested)
			set_aside(t, *cost.nested);
	}
	if (f->child)
		__sync_fetch_and_add(&c->child, f->child);
	if ((__s64)net < 0) {
		__sync_fetch_and_add(&c->negative, 1);
		net = 0;
	}
	cell_add(c, net);
	return c;
}

static __always_inline struct engine_frame *frame_at(struct engine_task *t, __u32 top)
{
	return (void *)t->frames + (top & ENGINE_TOP_MASK);
}

/*
 * The context of a call that begins at TOP while its task has none. An interrupt that hits user space
 * finds no function open, so that only the outermost has to ask.
 */
static __always_inline __u32 none_context(struct engine_task *t, __u32 top)
{
	struct engine_frame *f = frame_at(t, top);

	if (top > ENGINE_FRAME)
		f->none_ctx = f[-1].none_ctx;
	else
		f->none_ctx = in_user_interrupt() ? ENGINE_CTX_IRQ : ENGINE_CTX_NONE;
	return f->none_ctx;
}

/* The same of any call that begins at TOP, on the stack at SP. */
static __always_inline __u32 frame_context(struct engine_task *t, __u32 top, __u32 sp)
{
	__u32 ctx = t->ctx;

	if (!on_task_stack(t, sp))
		return ENGINE_CTX_IRQ;
	return ctx == ENGINE_CTX_NONE ? none_context(t, top) : ctx;
}

static __always_inline __u32 site_state(__u32 key)
{
	return site_states[key / ENGINE_CONTEXTS & (ENGINE_MAX_SITES - 1)];
}

/* Not inlined: a loop's body is verified at every turn. */
__weak __noinline int frame_miss(__u32 key)
{
	__u32 site = key / ENGINE_CONTEXTS;
	__u64 *n = bpf_map_lookup_elem(&missed, &site);

	if (n)
		__sync_fetch_and_add(n, 1);
	loss_count(ENGINE_LOSS_NO_RETURN, 1);
	return 0;
}

/*
 * Drops the frames above UNTIL, whose returns were missed. Not inlined: it runs only where something
 * was missed.
 */
__weak __noinline int frames_miss(struct engine_task *t, __u32 until)
{
	__u32 top;

	if (!t)
		return 0;
	top = t->top;
	for (int i = 0; i < ENGINE_DEPTH && top > until; i++) {
		frame_miss(frame_at(t, top)->key);
		top -= ENGINE_FRAME;
	}
	t->top = until;
	return 0;
}

/* Drops the frames of functions that are open although their task is back at its base. */
static __always_inline void frames_drop(struct engine_task *t)
{
	if (t->top)
		frames_miss(t, 0);
}

#endif
