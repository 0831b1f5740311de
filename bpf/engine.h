/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * State shared by all programs, and the opening and closing of frames.
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

/* x86-64's; with KASAN it is larger, and read from BTF. */
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
#define SHARED_ARRAY(name, value_type) ARRAY_OF(name, value_type, BPF_F_MMAPABLE) /* and maps */

/* The program NAME, which DOES something with its context, CTX. */
#define PROGRAM(section, name, type, does) \
	SEC(section)                       \
	int name(type *ctx)                \
	{                                  \
		does;                      \
		return 0;                  \
	}

/* Globals rather than maps: their address is a constant, without a lookup. */
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

/* enum engine_site_state of each; read only for a return without a frame and at a task's death. */
__u8 site_states[ENGINE_MAX_SITES] __weak = {};

const volatile __u32 max_cells __weak = 1;
const volatile __u32 n_shards __weak = 1;
/* Number of entries of paths, a power of two, minus one; 0: no blocks, and the verifier prunes their code. */
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
int path_close(struct engine_task *t, __u64 time, __u64 excluded); /* block.bpf.c */

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

/* Does SP lie on that task's own stack? */
static __always_inline bool on_task_stack(const struct engine_task *t, __u32 sp)
{
	__u32 size = bpf_core_type_exists(union thread_union) ?
			     bpf_core_type_size(union thread_union) :
			     THREAD_SIZE_DEFAULT;

	return sp - t->stack < size;
}

/*
 * The address of a kernel variable, in one instruction however often it is used: for each that names one the verifier
 * goes through all of the kernel's types.
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

#ifndef WITHOUT_KSYMS
extern const struct kernel_stat kstat __ksym __weak;
#endif

/* Changes whenever this CPU is interrupted: by its timer, which advances jiffies, or otherwise. */
static __always_inline __u32 interrupts_seen(void)
{
	__u32 n = bpf_jiffies64();

#ifndef WITHOUT_KSYMS
	const struct kernel_stat *stat = named(&kstat);

	if (stat)
		n += ((struct kernel_stat *)bpf_this_cpu_ptr(stat))->irqs_sum;
#endif
	return n;
}

/*
 * Is the running task T interrupted? Soft interrupts, and hard interrupts that hit the kernel, run on their
 * own stacks. Only those that hit user space stay on the task's, where the preemption count decides; reading
 * it takes a call.
 */
static __always_inline bool in_interrupt(const struct engine_task *t, __u32 ctx, __u32 sp)
{
	return !on_task_stack(t, sp) || (ctx == ENGINE_CTX_NONE && in_user_interrupt());
}

/*
 * Allocates a cell for the (site, context) of *FIRST, and returns its first shard; 0: none left. Not inlined:
 * it runs once per cell.
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

/* The cell of *KEY, which must lie in a map: the kernel reads it in place. */
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

#include "counter.h"

/* Raises *MAX to V, in three attempts: a fourth CPU in the same nanosecond may lose its extreme. */
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

/* hist_slot() of small values, filled by user space: its cost here must not depend on the value. */
const volatile __u8 small_slots[ENGINE_SMALL] __weak = {};

#define SMALL_SHIFT 8 /* larger values are shifted; their slots come this much later */

/* Not inlined: with its many branches it would be a third of the verifier's work. */
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

/* The squares of NET, in ticks, and the least: sq_lo, sq_hi, max, min_inv of a cell or a capture. */
static __always_inline void moments_add(__u64 *m, __u64 net)
{
	if (net < (1 << ENGINE_SQ_SPLIT)) {
		__sync_fetch_and_add(&m[0], net * net);
	} else {
		__u64 scaled = net >> (ENGINE_SQ_SPLIT / 2);

		__sync_fetch_and_add(&m[1], scaled * scaled);
	}
	if (~net > m[3])
		raise(&m[3], ~net);
}

/* The distribution of NET, in ticks. */
static __always_inline void cell_add(struct engine_cell *c, __u64 net)
{
	__u32 slot = slot_of_time(net);

	moments_add(&c->sq_lo, net);
	if (slot < HIST_SLOTS)
		__sync_fetch_and_add(&c->hist[slot], 1);
}

/* A task's clocks at one moment. */
struct engine_clock {
	__u64 now;
	__u64 excluded;
};

/*
 * Reads T's clocks together. An interrupt between the two, or a switch if programs can be preempted, would
 * be in one and not in the other: then they are read again.
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
 * address or, for fentry, an instruction of the copy written by user space (COST_INNER, COST_FULL).
 */
struct engine_cost costs[PROFILE_N_COSTS] __weak = {};

#define COST_INNER 0x5173c0d1
#define COST_FULL  0x5173c0d2

/* V less the inner cost of MECH. */
static __always_inline __u64 cost_less(__u64 v, enum profile_mechanism mech)
{
	if (mech == PROFILE_MECH_NONE)
		return v;
	if (mech != PROFILE_MECH_FENTRY)
		return v - costs[mech].inner;
	asm volatile("%0 -= %1" : "+r"(v) : "i"(COST_INNER));
	return v;
}

static __always_inline __u64 cost_full(enum profile_mechanism mech)
{
	__u64 v;

	if (mech != PROFILE_MECH_FENTRY)
		return costs[mech].full;
	asm volatile("%0 = %1" : "=r"(v) : "i"(COST_FULL));
	return v;
}

/* Atomically: probes in an interrupt exclude time of the same task. */
static __always_inline void exclude(struct engine_task *t, __u64 cost)
{
	__sync_fetch_and_add(&t->excluded, cost);
}

/*
 * Excludes COST and the time since START, but not again what was excluded meanwhile: the sampler's interrupts. Returns how much
 * that is.
 */
static __always_inline __u64 exclude_since(struct engine_task *t, const struct engine_clock *start,
					   __u64 cost)
{
	struct engine_clock end = clock_read(t);

	cost += (end.now - start->now) - (end.excluded - start->excluded);
	exclude(t, cost);
	return cost;
}

struct engine_held held_less[ENGINE_HELDS] __weak = {};

/* 1 if N, of which one is the kernel's for this program, is more; without a branch: all programs take the same. */
static __always_inline __u64 is_nested(__u64 n)
{
	n = (1 - n) >> 63;
	barrier_var(n);
	return n;
}

const volatile bool on_rt __weak =
	false; /* of kprobes; fentry has other programs there, since to ask costs elsewhere too */

/* What this program costs less than it does with no lock held. */
static __always_inline struct engine_held held_now(bool rt, bool fentry)
{
	const struct engine_held *less =
		&held_less[fentry ? ENGINE_HELD_FENTRY : ENGINE_HELD_KPROBE];
	const struct task_struct *task;
	__u64 migration, rcu;

	if (!rt)
		return (struct engine_held){};
	task = (const void *)bpf_get_current_task_btf();
	migration = is_nested(task->migration_disabled);
	rcu = is_nested((__u32)task->rcu_read_lock_nesting);
	return (struct engine_held){ less->before * migration, less->behind * migration,
				     less->rcu * rcu };
}

/* Behind the program; fentry's trampoline leaves two sections, its own and the program's. */
static __always_inline __u64 held_all(struct engine_held held, bool fentry)
{
	return held.before + held.behind + (fentry ? 2 : 1) * held.rcu;
}

/* Fills frame F of T, except its start, its counts and its place on the stack, which a context has none of. */
static __always_inline void frame_fill(const struct engine_task *t, struct engine_frame *f,
				       __u32 key)
{
	f->child = 0;
	f->key = key;
	f->offcpu = t->offcpu;
}

/* For the call of F the blocks executed are counted, if any are. */
static __always_inline void frame_watch_path(struct engine_frame *f)
{
	if (!path_mask)
		return;
	f->calls = interrupts_seen() << 1;
	f->signature = 0;
	f->trips = 0;
}

/*
 * Fills frame F of T. The clocks come last: the call contains little of this, and what comes behind the program, LESS
 * than with no lock held.
 */
static __always_inline void frame_open(struct engine_task *t, struct engine_frame *f, __u32 key,
				       __u64 less, bool counted)
{
	struct engine_clock c;

	__sync_fetch_and_add(&t->entered, 1); /* an interrupt may come in between */
	frame_fill(t, f, key);
	if (counted)
		counters_open(t, f);
	c = clock_read(t);
	f->excluded = c.excluded + less;
	f->start = c.now;
}

const volatile bool keeps_slow __weak = false; /* calls; if not, the verifier prunes what does */
__u64 slower_than __weak =
	0; /* ticks that these take at least; no constant, with which 6.1 refuses 1 */

static int slow_keep(void *ctx, struct engine_task *t, struct engine_frame *f,
		     __u64 time); /* slow.h */

/* NET is the most so far. With keeps_slow a cell's maximum stays below that, so that each slow call comes here. */
static __always_inline bool is_slow(struct engine_cell *c, __u64 net)
{
	if (keeps_slow && net >= slower_than) {
		raise(&c->slowest, net);
		return true;
	}
	raise(&c->max, net);
	return false;
}

/*
 * Accounts frame F of T, which ended at END on CPU, and updates the frame below if it is ENCLOSED in one. MECH
 * is NONE if its time does not include the cost of a return probe, or none has run. (To the verifier F may be
 * any frame: there is room for one before the first.) CTX has the stack of a slow call; NULL: none. With
 * COUNTED events are too.
 */
static __always_inline struct engine_cell *
frame_close(void *ctx, const struct engine_cpu *cpu, struct engine_task *t, struct engine_frame *f,
	    const struct engine_clock *end, enum profile_mechanism mech, bool enclosed,
	    bool counted)
{
	__u64 wall = end->now - f->start;
	__u64 excluded = end->excluded - f->excluded;
	__u64 net = cost_less(wall - excluded, mech);
	struct engine_cell *c;

	if (counted)
		counters_close(cpu, t, f, mech, enclosed);
	if (enclosed)
		f[-1].child += net;
	c = cell_get(cpu, &f->key);
	if (!c) {
		loss_count(ENGINE_LOSS_CELLS, 1);
		return NULL;
	}
	__sync_fetch_and_add(&c->calls, 1);
	__sync_fetch_and_add(&c->wall, wall);
	/* Mostly zero, and an atomic addition is expensive on real machines. */
	if (excluded | f->child) {
		__sync_fetch_and_add(&c->excluded, excluded);
		__sync_fetch_and_add(&c->child, f->child);
		__sync_fetch_and_add(&c->offcpu, t->offcpu - f->offcpu);
		if (!enclosed)
			__sync_fetch_and_add(&c->enclosing, 1); /* nobody's to exclude */
		else if (mech != PROFILE_MECH_NONE)
			exclude(t, costs[mech].nested);
		/* Those that are slow on a CPU alone come to is_slow(). */
		if (keeps_slow && (__s64)net < (__s64)slower_than &&
		    (__s64)(net + t->offcpu - f->offcpu) >= (__s64)slower_than)
			slow_keep(ctx, t, f, net);
	}
	if ((__s64)net < 0) {
		__sync_fetch_and_add(&c->negative, 1);
		net = 0;
	}
	if (net > c->max && is_slow(c, net))
		slow_keep(ctx, t, f, net);
	cell_add(c, net);
	return c;
}

static __always_inline struct engine_frame *frame_at(struct engine_task *t, __u32 top)
{
	return (void *)t->frames + (top & ENGINE_TOP_MASK);
}

/*
 * The context of a call that begins at TOP while its task has none. An interrupt that hits user space finds
 * no open function, so only the outermost call has to check.
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

/* The context of any call that begins at TOP, on the stack at SP. */
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

/* Not inlined: the verifier checks a loop's body in each iteration. */
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
 * Drops the frames above UNTIL, whose returns were missed. Not inlined: it runs only after a miss.
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

/* Counts a return whose frame is not open. Not inlined: it runs only after a miss. */
__weak __noinline int frame_unmatched(struct engine_task *t)
{
	if (!t)
		return 0;
	if (t->skipped)
		t->skipped--;
	else
		loss_count(t->flags & ENGINE_TASK_FRESH ? ENGINE_INFO_OPEN_AT_START :
							  ENGINE_LOSS_NO_ENTRY,
			   1);
	return 0;
}

/* Drops frames of functions still open although their task is back in user space. */
static __always_inline void frames_drop(struct engine_task *t)
{
	if (t->top)
		frames_miss(t, 0);
}

#include "slow.h"
