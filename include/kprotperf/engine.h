/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory shared by the BPF programs and user space: layouts and limits. Included by both; the includer
 * provides __u8, __u16, __u32, __s32 and __u64.
 */
#pragma once

#include "kprotperf/cost.h"
#include "kprotperf/hist.h"

/* Context numbers of the kernel side. User space turns them into names. */
#define ENGINE_SYSCALLS       512 /* distinct syscall numbers, native and compat each */
#define ENGINE_CTX_COMPAT     ENGINE_SYSCALLS
#define ENGINE_CTX_NONE       (2 * ENGINE_SYSCALLS)
#define ENGINE_CTX_PAGE_FAULT (ENGINE_CTX_NONE + 1)
#define ENGINE_CTX_IRQ        (ENGINE_CTX_NONE + 2)
#define ENGINE_CTX_OTHER      (ENGINE_CTX_NONE + 3) /* a syscall number out of range, x32 too */
#define ENGINE_CONTEXTS       (ENGINE_CTX_NONE + 4)

/* Site 0 is the context itself: the syscall or page fault as a whole. */
#define ENGINE_SITE_CONTEXT 0

/* Maximum number of open frames per task, a power of two; the first is its context's. */
#define ENGINE_DEPTH 32

#define ENGINE_STACK_FRAMES 127

/*
 * Task slots of four neighbouring pids: values of an array map take at least eight bytes, and a machine may
 * have four million pids.
 */
#define ENGINE_PIDS_PER_ENTRY 4
#define ENGINE_MAX_TASKS      65535

struct engine_pids {
	__u16 slot[ENGINE_PIDS_PER_ENTRY];
};

/*
 * A site in a context. Sites are identified by the key of their first context; adding the context gives the
 * cell.
 */
#define ENGINE_KEY(site, ctx) ((site)*ENGINE_CONTEXTS + (ctx))

/* Immediate operands that user space replaces in its copies of programs: any numbers that no instruction has otherwise. */
#define ENGINE_PLACEHOLDER_INNER   0x5173c0d1 /* inner cost of the pair of programs */
#define ENGINE_PLACEHOLDER_FULL    0x5173c0d2 /* their full cost */
#define ENGINE_PLACEHOLDER_CAPTURE 0x5173c0d3 /* a call: it reads captured values */
#define ENGINE_PLACEHOLDER_SITE    0x5173c0de /* the site's key */

/* One open call. */
struct engine_frame {
	__u64 start;
	__u64 excluded; /* the task's EXCLUDED at entry */
	__u64 offcpu;
	__u64 child; /* net on-CPU time of the timed calls made so far, in two's complement */
	__u32 sp; /* identifies the call: see function.bpf.c, range.bpf.c */
	__u32 key; /* ENGINE_KEY() of site and context */
	__u32 none_ctx; /* if the task has no context: ENGINE_CTX_IRQ in an interrupt, else _NONE */
	__u32 calls; /* for an inlined body: executions of its entry */
	__u64 pad[2]; /* makes the size a power of two: see ENGINE_TOP_MASK */
};

enum engine_task_flag {
	ENGINE_TASK_LIVE = 1,
	/*
	 * No syscall entered yet since the task is followed: a return without an entry belongs to an
	 * earlier call, such as the fork that created the task.
	 */
	ENGINE_TASK_FRESH = 2,
	/* A return was shared with the frame below, which comes next. */
	ENGINE_TASK_TAIL = 4,
	/* A task of -p, found among all tasks: it may be running, and then was not switched in. */
	ENGINE_TASK_ADOPTED = 8,
};

/* A followed task. Only the CPU that runs it writes this. */
struct engine_task {
	__u64 excluded; /* total ns that are not the kernel's work for it: offcpu, and probe cost */
	__u64 offcpu; /* ns switched out */
	__u64 switched; /* time of its last switch, in or out */
	__u64 entered; /* number of calls and contexts entered */
	union {
		struct {
			__u32 ctx; /* ENGINE_CTX_NONE where frames[0] is not a call */
			/* The innermost open frame's distance from frames[0], the context's, in bytes. */
			__u32 top;
		};
		__u64 open; /* CTX and TOP at once; equal to CTX if only the context's frame is open */
	};
	__u32 flags;
	__u32 skipped; /* open calls that found no free frame, whose returns are therefore expected */
	__u32 pid;
	__u32 stack; /* start of its kernel stack, the low half of the address */
	__u64 born; /* start of following it; pads the fields to a frame's size: see frame_close() */
	struct engine_frame frames[ENGINE_DEPTH];
};

#define ENGINE_FRAME    ((__u32)sizeof(struct engine_frame))
#define ENGINE_TOP_MASK ((ENGINE_DEPTH - 1) * ENGINE_FRAME)

/*
 * The calls of one (site, context). An unused cell is all zero. The size is a multiple of a cache line: shards
 * of different CPUs must not share one.
 */
struct engine_cell {
	__u64 calls; /* for a range: excursions */
	__u64 wall;
	__u64 excluded; /* part of WALL: switched out, or in other probes inside */
	__u64 offcpu;
	__u64 child;
	__u64 sq_lo; /* sum of squares of net times below 2^20 */
	__u64 sq_hi; /* sum of squares of the other net times, in units of 2^20: (v >> 10)^2 */
	__u64 max;
	__u64 min_inv; /* ~min, so that zero means none yet */
	__u64 errors;
	__u64 negative; /* calls that took less than the calibrated cost of their probes */
	__u64 unreturned; /* calls ended by their task's death, without the cost of a return probe */
	__u64 bodies; /* for a range: calls of the inlined function (executions of its entry) */
	__u32 hist[HIST_SLOTS];
	/*
	 * Syscalls on a real clock: the time that the program takes after reading the clock at the end of a call. It is measured
	 * for one call in ENGINE_CLOSINGS.
	 */
	__u64 closings, closing_time;
	/* For contexts: calls from which something was excluded; the program takes longer to end these. */
	__u64 enclosing;
	__u64 pad[7]; /* makes the size a multiple of a cache line */
};

#define ENGINE_CLOSINGS 16

/*
 * Events that are counted with each call, by arrays beside those of tasks, frames and cells. A task's count is that of the
 * CPUs it ran on, less EXCLUDED: the counts while it was switched out, and those of probes. All are in two's complement.
 */
#define ENGINE_COUNTERS 4

struct engine_counted_task {
	__u64 excluded[ENGINE_COUNTERS];
	__u64 left[ENGINE_COUNTERS]; /* the CPU's counts when the task was switched out */
};

struct engine_counted_call {
	__u64 start[ENGINE_COUNTERS];
	__u64 child[ENGINE_COUNTERS];
};

struct engine_counted_cell {
	__u64 total[ENGINE_COUNTERS];
	__u64 child[ENGINE_COUNTERS];
};

/* Events that a mechanism's probes count of themselves, as in struct engine_cost. */
struct engine_counter_costs {
	__u64 inner[ENGINE_COUNTERS], full[ENGINE_COUNTERS];
};

/*
 * Take one of MAX cells, *TAKEN of which are in use. Return its number, from 1 on, or 0 if none is left. However often
 * this fails, *TAKEN exceeds MAX at most by the number of CPUs, so it cannot wrap and no cell is taken twice.
 */
static inline __u32 engine_cell_take(__u32 *taken, __u32 max)
{
	__u32 cell;

	if (*(volatile __u32 *)taken >= max)
		return 0;
	cell = __sync_fetch_and_add(taken, 1) + 1;
	return cell <= max ? cell : 0;
}

/* CELL was not used after all. It stays taken if another was taken since. */
static inline void engine_cell_give_back(__u32 *taken, __u32 cell)
{
	__sync_val_compare_and_swap(taken, cell, cell - 1);
}

#define ENGINE_SQ_SPLIT 20
#define ENGINE_SMALL    4096 /* times whose slots are looked up: slot numbers that fit eight bits */

/*
 * Later than any time: with this, a return probe takes the same path as between two samples, and a
 * calibration before the sampler starts holds while it runs.
 */
#define ENGINE_NEVER (1ull << 63)

#define ENGINE_MAX_CPUS 1024 /* a power of two */

/* The state of a CPU. The first cache line has what all probes read. */
struct engine_cpu {
	__u32 slot; /* slot of the running task; 0: not followed */
	__u32 shard; /* shard of the cells that this CPU updates */
	__u64 due; /* time at which the timer expires next; ENGINE_NEVER: unknown */
	__u64 overdue; /* DUE plus PENDING of the sampler's cost */
	__u32 taken; /* a probe has taken the sample that is due */
	__u32 resting; /* slot of the running task while no probe may see it: task_rest() */
	__u64 samples; /* sampler interrupts that reached the program, whatever ran */
	__u64 hits; /* the SAMPLES that hit a followed task other than an idle one */
	__u64 started; /* time at which the program of the last sample started */
	__u64 took; /* duration of that program */
	__u64 skipped; /* periods without a sample before one that hit a followed task */
	__u64 captured; /* ticks that its tasks spent on capturing values */
	__u64 late; /* delay of the last sample */
	__u64 closing; /* with counters: slot of the dying task whose open calls are being ended */
	__u64 pad1[4];
};

enum engine_sample_flag {
	ENGINE_SAMPLE_USER = 1,
	ENGINE_SAMPLE_LATE = 2,
	ENGINE_SAMPLE_AT_RETURN = 4, /* taken by a return probe: its own frames may come first */
};
#define ENGINE_SAMPLE_EPOCH 8 /* first bit of the value of code_epoch at the sample */

/*
 * A sample whose program begins later than ENGINE_LATE_NS after the calibrated latency was delayed: more than
 * the latency varies. A return probe that finds the timer expired for longer than ENGINE_PENDING_NS knows that
 * interrupts have been off since, or it would have been interrupted. These limits are for a clock of instructions. On a
 * real clock latencies vary more, and both limits are at least this variation (struct engine_cost, PENDING).
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
	__u32 site; /* with ENGINE_SAMPLE_AT_RETURN: the site whose return probe took the sample */
	__u64 ips[ENGINE_STACK_FRAMES];
};

#define ENGINE_VALUES 16

#define ENGINE_WATCHED 64 /* maximum number of samples watched in calibration; a power of two */

/* Loss counters, in the order in which they are read. */
enum engine_loss {
	ENGINE_LOSS_NO_RETURN, /* frames found open when an outer one returned */
	ENGINE_LOSS_NO_ENTRY, /* returns without a matching frame */
	ENGINE_LOSS_DEPTH, /* calls not timed: ENGINE_DEPTH frames open */
	ENGINE_LOSS_CELLS, /* calls not aggregated: no cell left */
	ENGINE_LOSS_TASKS, /* tasks not followed: no slot left, or pid out of range; with -a each time one is switched in */
	ENGINE_LOSS_SWITCHES, /* switches to or from a followed task that the kernel did not report */
	ENGINE_LOSS_STACKS, /* samples without a place for their stack */
	ENGINE_LOSS_STACK_FETCH, /* samples whose stack could not be walked */
	ENGINE_LOSS_BLOCKS, /* blocks executed in calls that are not open */
	ENGINE_LOSS_CAPTURES, /* calls whose values found no row of their own */
	ENGINE_LOSS_COUNTERS, /* times that an event had no counter */
	ENGINE_INFO_OPEN_AT_START, /* returns of calls begun before the task was followed */
	ENGINE_INFO_CLOSED_BY_EXIT, /* calls closed at their task's death */
	ENGINE_INFO_ENTERED, /* ENTERED of tasks that have exited; live tasks have their own */
	ENGINE_N_LOSSES,
};

/* A function under kprobe.multi, in a hash table by the low half of its address; 0: free. */
struct engine_multi {
	__u32 addr;
	__u32 site;
};

/* Maximum number of slots searched. User space leaves out functions that lie further. */
#define ENGINE_MULTI_PROBES 16

/* Functions whose calls are counted at once, without their times. */
#define ENGINE_COUNTED 64

/*
 * The first slot for ADDR, modulo the table's size (a power of two). FACTOR is odd, and chosen for few
 * collisions.
 */
static inline __u32 engine_multi_slot(__u32 addr, __u64 factor)
{
	return (__u32)(addr * factor >> 40);
}

/*
 * Ranges: inlined bodies, which kprobes inside a function enter and leave. The probe's cookie says what to do.
 * The lower half is an action, with enum engine_range_kind in place of ENGINE_RANGE_OP, which the program
 * implies; or, if there are several actions, the index of their list.
 */
#define ENGINE_RANGE_KEY    0x07ffffffu /* the site's key */
#define ENGINE_RANGE_CALL   0x08000000u /* enters at the body's entry, which makes it a call */
#define ENGINE_RANGE_STRICT 0x10000000u /* control gets here from one side only: see range.bpf.c */
#define ENGINE_RANGE_OP     29 /* enum engine_range_op, in a list */
#define ENGINE_RANGE_OPS    3u
#define ENGINE_RANGE_KIND   29
/* The upper half: the function's frame, in words above the stack pointer or RBP. */
#define ENGINE_RANGE_FRAME    32
#define ENGINE_RANGE_FRAME_FP 0x8000u

enum engine_range_op {
	ENGINE_RANGE_ENTER,
	ENGINE_RANGE_LEAVE,
	ENGINE_RANGE_COUNT, /* counts the body's entry, where no edge from outside leads to it */
};

/* The list of actions at one address, in order. */
#define ENGINE_RANGE_ACTIONS 7

struct engine_range_list {
	__u32 n;
	__u32 actions[ENGINE_RANGE_ACTIONS];
};

/* A probe that counts a block of a function. Its index is the probe's cookie. */
struct engine_block {
	__u32 key; /* the key of the function's site */
	__u32 cost; /* cost of a hit, in ticks, */
	__u32 per_frame; /* plus this for each open frame above the function's */
	/*
	 * The cost's part below a tick, in units of 2^-ENGINE_BLOCK_FRACTION ticks. As a call may have a thousand hits, some hits
	 * are charged one tick more than COST, which makes the cost right on average.
	 */
	__u32 fraction;
};

#define ENGINE_BLOCK_FRACTION 16

#define ENGINE_NAME 16 /* bytes of a name, with its end: two values */

/* A call whose values are captured; copies of the return programs fill in all but NET and KEY. */
struct engine_call {
	__u64 net; /* its time, as in its cell */
	__u32 key; /* ENGINE_KEY() of site and context */
	__u16 slot; /* the function's place among those captured */
	__u16 absent; /* bits: values that could not be read, for a pointer that leads nowhere */
	__u64 values[ENGINE_VALUES];
};

#define ENGINE_READ 128 /* bytes, a multiple of 8 */

/* A call, with room for what helpers read. */
struct engine_reading {
	struct engine_call call;
	__u64 read[ENGINE_READ / 8];
};

#define ENGINE_ARGS 6

/* Values saved of an open call by kprobe, for capturing: arguments in registers and the return value. */
struct engine_saved {
	__u64 args[ENGINE_ARGS];
	__u64 ret;
	__u64 pad; /* makes the size a power of two */
};

/* Calls of a site in a context with the same values; or one call of a sample, for which there was no row. */
struct engine_capture {
	__u64 hash; /* 0: free */
	__u64 calls;
	__u64 time; /* two's complement */
	__u64 sq_lo, sq_hi, max, min_inv; /* as in struct engine_cell */
	__u32 key;
	__u32 absent; /* as in struct engine_call */
	__u64 values[ENGINE_VALUES];
};

/* All functions' rows come first, then, for each function, a sample of the calls that found no row. */
#define ENGINE_CAPTURED        64
#define ENGINE_CAPTURE_ROWS    4096 /* a power of two */
#define ENGINE_CAPTURE_SAMPLES 1024
#define ENGINE_CAPTURE_PROBES \
	64 /* maximum number of rows searched: with 16 a table two fifths full refuses one */
