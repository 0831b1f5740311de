/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The memory that the BPF programs and user space share: layouts and limits. Included by both;
 * the includer brings __u16, __u32 and __u64.
 */
#ifndef KPROTPERF_ENGINE_H
#define KPROTPERF_ENGINE_H

#include "kprotperf/hist.h"

/* Contexts as the kernel side numbers them. User space turns them into names. */
#define ENGINE_SYSCALLS       512 /* syscall numbers told apart, native and compat each */
#define ENGINE_CTX_COMPAT     ENGINE_SYSCALLS
#define ENGINE_CTX_NONE       (2 * ENGINE_SYSCALLS)
#define ENGINE_CTX_PAGE_FAULT (ENGINE_CTX_NONE + 1)
#define ENGINE_CTX_IRQ        (ENGINE_CTX_NONE + 2)
#define ENGINE_CTX_OTHER      (ENGINE_CTX_NONE + 3) /* a syscall number out of range, x32 too */
#define ENGINE_CONTEXTS       (ENGINE_CTX_NONE + 4)

/* Site 0 is the context itself: the syscall or page fault as a whole. */
#define ENGINE_SITE_CONTEXT 0

/* Frames a task can have open at once, a power of two; the first is that of its context. */
#define ENGINE_DEPTH 32

#define ENGINE_STACK_FRAMES 127

/*
 * Task slots of four neighbouring pids: an array map gives each value eight bytes at least, and a
 * machine may have four million pids.
 */
#define ENGINE_PIDS_PER_ENTRY 4
#define ENGINE_MAX_TASKS      65535

struct engine_pids {
	__u16 slot[ENGINE_PIDS_PER_ENTRY];
};

/*
 * A site in a context. Sites go by the key of their first context, so that adding the context is all
 * it takes to find the cell.
 */
#define ENGINE_KEY(site, ctx) ((site)*ENGINE_CONTEXTS + (ctx))

/* One open call. */
struct engine_frame {
	__u64 start;
	__u64 aside; /* the task's sums at entry: what came since is the difference */
	__u64 offcpu;
	__u64 child; /* net on-CPU time of the timed calls made so far, in two's complement */
	__u32 sp; /* tells recursive calls apart: see function.bpf.c, range.bpf.c */
	__u32 key; /* of site and context */
	__u32 none_ctx; /* where the task has no context: whether this is in an interrupt */
	/*
	 * Of an inlined body: how often its entry was executed. Of a function, where blocks are counted: the lowest
	 * bit tells that one of its own was, the others what the CPU's count of interrupts was at its start.
	 */
	__u32 calls;
	/* Of such a function: which blocks were executed, and turns of loops, 16 bits each. */
	__u64 signature;
	__u64 turns;
};

enum engine_task_flag {
	ENGINE_TASK_LIVE = 1,
	/*
	 * No syscall entered yet since the task is followed: a return without an entry belongs to
	 * a call that began before, such as the fork that made the task.
	 */
	ENGINE_TASK_FRESH = 2,
	/* A return was one with that of the frame below, which comes next. */
	ENGINE_TASK_TAIL = 4,
};

/* What is known of a followed task. Touched only by the CPU the task runs on. */
struct engine_task {
	__u64 aside; /* ns that are not the kernel's work for it, ever: offcpu, and what probes took */
	__u64 offcpu; /* ns switched out */
	__u64 switched_out; /* when it was last */
	__u64 entered; /* calls and contexts */
	__u32 top; /* the innermost open frame's distance from frames[0], the context's, in bytes */
	__u32 ctx; /* ENGINE_CTX_NONE where frames[0] is not a call */
	__u32 flags;
	__u32 skipped; /* calls open that found no frame free, so that their returns are known */
	__u32 pid;
	__u32 stack; /* where its kernel stack begins, the low half of the address */
	__u64 born; /* when it was first followed; makes this a frame's size: see frame_close() */
	struct engine_frame frames[ENGINE_DEPTH];
};

#define ENGINE_FRAME    ((__u32)sizeof(struct engine_frame))
#define ENGINE_TOP_MASK ((ENGINE_DEPTH - 1) * ENGINE_FRAME)

/*
 * The calls of one (site, context). Zero is the state of an unused one. The size is one of whole cache lines:
 * shards of different CPUs must not share one.
 */
struct engine_cell {
	__u64 calls; /* of a range: excursions */
	__u64 wall;
	__u64 aside; /* of the wall time: switched out, and in probes inside, not the site's own */
	__u64 offcpu;
	__u64 child;
	__u64 sq_lo; /* sum of squares of net times below 2^20 */
	__u64 sq_hi; /* of the others, in units of 2^20: v >> 10 squared */
	__u64 max;
	__u64 min_inv; /* ~min, so that zero means none yet */
	__u64 errors;
	__u64 negative; /* calls whose probes were thought to cost more than the call took */
	__u64 unreturned; /* calls ended by their task's death, without the cost of a return's probe */
	__u64 bodies; /* of a range: calls of the inlined function that these excursions were part of */
	__u32 hist[HIST_SLOTS];
	/*
	 * Calls of a function whose blocks are counted in which there was no interrupt and no switch: how many, their
	 * time as ASIDE leaves it less CHILD, and ASIDE.
	 */
	__u64 quiet, quiet_self, quiet_aside;
};

#define ENGINE_SQ_SPLIT 20
#define ENGINE_SMALL    4096 /* times whose slots are looked up: slot numbers that fit eight bits */

/*
 * Later than any time: with this, a return probe goes the same way as between two samples, so that
 * what is calibrated before the sampler runs holds while it does.
 */
#define ENGINE_NEVER (1ull << 63)

#define ENGINE_MAX_CPUS 1024 /* a power of two */

/* What a CPU is doing: one cache line each. */
struct engine_cpu {
	__u32 slot; /* of the running task; 0: not followed */
	__u32 shard; /* of cells that it updates */
	__u64 due; /* when the timer expires next; ENGINE_NEVER: unknown */
	__u64 overdue; /* ENGINE_PENDING_NS later */
	__u32 taken; /* a probe has taken the sample that is due */
	__u32 pad0;
	__u64 samples; /* sampler interrupts that reached the program, whatever ran */
	__u64 started; /* when the last one's program began, and how long it took */
	__u64 took;
	__u64 skipped; /* periods without a sample before one that hit a followed task */
};

enum engine_sample_flag {
	ENGINE_SAMPLE_USER = 1,
	ENGINE_SAMPLE_LATE = 2,
	ENGINE_SAMPLE_AT_RETURN = 4, /* taken by a return probe: its own frames may come first */
};

/*
 * A sample whose program begins later than this after the calibrated latency was held up: above what
 * that varies by. A return probe that finds the timer expired for longer than the other knows that
 * interrupts have been off since: with them on, it would have been interrupted.
 */
#define ENGINE_LATE_NS    2000
#define ENGINE_PENDING_NS 200

/* A kernel stack with the number of samples that had it; key 0: free. */
struct engine_stack {
	__u64 key;
	__u64 count;
	__u32 ctx;
	__u32 flags;
	__u32 n;
	__u32 site; /* whose return probe took it, with ENGINE_SAMPLE_AT_RETURN */
	__u64 ips[ENGINE_STACK_FRAMES];
};

#define ENGINE_WATCHED 64 /* samples looked at in calibration, at most; a power of two */

/* Counters of what went missing, in the order of their reading. */
enum engine_loss {
	ENGINE_LOSS_NO_RETURN, /* frames found open when an outer one returned */
	ENGINE_LOSS_NO_ENTRY, /* returns that matched no frame */
	ENGINE_LOSS_DEPTH, /* calls not timed: ENGINE_DEPTH frames open */
	ENGINE_LOSS_CELLS, /* calls not aggregated: no cell left */
	ENGINE_LOSS_TASKS, /* tasks not followed: no slot left, or pid out of range */
	ENGINE_LOSS_STACKS, /* samples without a place for their stack */
	ENGINE_LOSS_STACK_FETCH, /* samples whose stack could not be walked */
	ENGINE_LOSS_BLOCKS, /* blocks executed in calls that are not open */
	ENGINE_LOSS_PATHS, /* calls whose path found no place in the table */
	ENGINE_LOSS_TURNS, /* calls with turns of a loop that found none in theirs */
	ENGINE_INFO_OPEN_AT_START, /* returns of calls begun before the task was followed */
	ENGINE_INFO_CLOSED_BY_EXIT, /* calls closed at their task's death */
	ENGINE_INFO_ENTERED, /* by tasks that are gone; the others' sums are their own */
	ENGINE_N_LOSSES,
};

#define ENGINE_MAX_SITES 65536 /* whose states are known, a power of two */

enum engine_site_state {
	ENGINE_SITE_ATTACHED,
	ENGINE_SITE_DETACHED, /* or about to be: its returns need no entry */
};

/* A function under kprobe.multi, in a hash table by the low half of its address; 0: free. */
struct engine_multi {
	__u32 addr;
	__u32 site;
	__u32 extra; /* what it costs here beyond what is calibrated, in ticks */
};

/* Slots looked at from the first on, at most. User space leaves a function out that lies further. */
#define ENGINE_MULTI_PROBES 16

/*
 * The first slot for ADDR, to be taken modulo the table's size (a power of two). FACTOR is odd, and
 * chosen so that few addresses meet.
 */
static inline __u32 engine_multi_slot(__u32 addr, __u64 factor)
{
	return (__u32)(addr * factor >> 40);
}

/*
 * Ranges: inlined bodies, which kprobes inside of a function enter and leave. What such a probe is to do
 * stands in its cookie. The lower half is an action, without ENGINE_RANGE_OP, which the program is for, and
 * with enum engine_range_kind there instead; or, where there are several actions, the place of their list.
 */
#define ENGINE_RANGE_KEY    0x07ffffffu /* of the site */
#define ENGINE_RANGE_CALL   0x08000000u /* enters at the body's entry, which makes it a call */
#define ENGINE_RANGE_STRICT 0x10000000u /* control comes here from one side only: see range.bpf.c */
#define ENGINE_RANGE_OP     29 /* enum engine_range_op, in a list */
#define ENGINE_RANGE_KIND   29
/*
 * The upper half: where the function's frame is, so many words above the stack pointer, or above RBP; and
 * what a hit costs here beyond what is calibrated, in ticks, before our program runs and after.
 */
#define ENGINE_RANGE_FRAME     32
#define ENGINE_RANGE_FRAME_FP  0x8000u
#define ENGINE_RANGE_EXTRA     48
#define ENGINE_RANGE_TAIL      56
#define ENGINE_RANGE_EXTRA_MAX 0xffu

enum engine_range_op {
	ENGINE_RANGE_ENTER,
	ENGINE_RANGE_LEAVE,
	ENGINE_RANGE_COUNT, /* the body's entry, where no edge from outside leads */
};

/* What the kernel does at a probe inside of a function. */
enum engine_range_kind {
	ENGINE_RANGE_OPTIMIZED, /* jumps to it, and back behind the instructions that the jump took */
	ENGINE_RANGE_STEPPED, /* a breakpoint, behind which the instruction is executed elsewhere */
	ENGINE_RANGE_EMULATED, /* a breakpoint, behind which the kernel does what the instruction would */
	ENGINE_RANGE_CALL_EMULATED, /* the same of a call, or of what turns interrupts on or off, */
	ENGINE_RANGE_JUMP_EMULATED, /* and of a jump without a condition, or a return */
	ENGINE_RANGE_PREPARED, /* as STEPPED, by way of what the optimizer prepared and then left alone */
	ENGINE_RANGE_KINDS = 8, /* a power of two */
};

/* What a hit costs, in ticks: in all; and which part of it a frame opened or closed there holds. */
struct engine_range_cost {
	__u64 open, open_head; /* the rest of OPEN comes after the clock was read */
	__u64 close, close_head;
	__u64 idle_enter, idle_leave; /* where the frame was open, or was not */
	__u64 several,
		several_head; /* without what lies between its own two readings of the clock */
	__u64 hop; /* each further open frame looked at */
};

/* Several things to do at one address, in their order. */
#define ENGINE_RANGE_ACTIONS 7

struct engine_range_list {
	__u32 n;
	__u32 actions[ENGINE_RANGE_ACTIONS];
};

/* A probe that counts a block of a function, by its number, which is the probe's cookie. */
struct engine_block {
	__u32 key; /* of the function's site */
	__u32 cost; /* what a hit costs here, in ticks, */
	__u32 hop; /* and more for each open frame above the function's */
	/*
	 * COST is a whole number, and a call may have a thousand hits: every so often it is one more, so that it is
	 * right in the mean. In units of 2^-ENGINE_BLOCK_FRACTION ticks.
	 */
	__u32 fraction;
	__u64 bit; /* of its call's signature; 0: none */
	__u64 turn; /* what it adds to the turns of its call's loops; 0: nothing */
	/*
	 * The loop's bits of these: once they are full nothing is added. All bits for a probe that adds nothing, so
	 * that it goes the same way.
	 */
	__u64 full;
};

#define ENGINE_TURNS 4

/* Calls of a site in a context that went the same way; HASH 0: free. */
struct engine_path {
	__u64 hash;
	__u64 signature;
	__u64 calls;
	__u64 time; /* with the inner cost of the site's own probes */
	__u64 turns[ENGINE_TURNS];
	__u32 key; /* of site and context */
	__u32 pad;
};

/* Calls of a site in a context that turned in one of its loops so often as falls into one slot of hist.h. */
struct engine_turns {
	__u64 id; /* ENGINE_TURNS_ID(); 0: free */
	__u64 calls;
};

#define ENGINE_TURNS_ID(key, loop, slot) ((__u64)(key) << 32 | (loop) << 16 | (slot) << 1 | 1)
#define ENGINE_TURNS_KEY(id)             ((__u32)((id) >> 32))
#define ENGINE_TURNS_LOOP(id)            ((__u32)(id) >> 16)
#define ENGINE_TURNS_SLOT(id)            (((__u32)(id)&0xffff) >> 1)

#define ENGINE_TURN_ROWS   8192 /* a power of two */
#define ENGINE_PATHS       16384 /* a power of two */
#define ENGINE_PATH_PROBES 16 /* slots looked at, at most */

#define ENGINE_BLOCK_FRACTION 16

#endif
