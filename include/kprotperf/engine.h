/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Memory shared by the BPF programs and user space: layouts and limits. The includer provides __u8, __u16, __u32, __s32 and __u64.
 */
#pragma once

#include "kprotperf/cost.h"
#include "kprotperf/hist.h"

/* Numbers of contexts in the BPF programs. User space turns them into names. */
#define ENGINE_SYSCALLS       512 /* syscall numbers, of native and compat syscalls each */
#define ENGINE_CTX_COMPAT     ENGINE_SYSCALLS
#define ENGINE_CTX_NONE       (2 * ENGINE_SYSCALLS)
#define ENGINE_CTX_PAGE_FAULT (ENGINE_CTX_NONE + 1)
#define ENGINE_CTX_IRQ        (ENGINE_CTX_NONE + 2)
#define ENGINE_CTX_OTHER      (ENGINE_CTX_NONE + 3) /* syscall number out of range, as with x32 */
#define ENGINE_CONTEXTS       (ENGINE_CTX_NONE + 4)

/* Site 0 is the context itself: the syscall or page fault as a whole. */
#define ENGINE_SITE_CONTEXT 0

/* Maximum number of open frames per task, a power of two. The first frame is that of the task's context. */
#define ENGINE_DEPTH 32

#define ENGINE_STACK_FRAMES 127

/*
 * Task slots of four consecutive pids. They share an entry, since an entry of an array map takes at least eight bytes, and a
 * machine may have four million pids.
 */
#define ENGINE_PIDS_PER_ENTRY 4
#define ENGINE_MAX_TASKS      65535

struct engine_pids {
	__u16 slot[ENGINE_PIDS_PER_ENTRY];
};

/* The key of a site in a context. Programs identify a site by its first key, that of context 0, and add the context. */
#define ENGINE_KEY(site, ctx) ((site)*ENGINE_CONTEXTS + (ctx))

/* Immediate operands that user space replaces in its copies of programs. No other instruction has these numbers. */
#define ENGINE_PLACEHOLDER_INNER   0x5173c0d1 /* INNER of the site's cost */
#define ENGINE_PLACEHOLDER_FULL    0x5173c0d2 /* FULL of the site's cost */
#define ENGINE_PLACEHOLDER_CAPTURE 0x5173c0d3 /* replaced by code that captures values */
#define ENGINE_PLACEHOLDER_SITE    0x5173c0de /* the site's key */

/* One open call. */
struct engine_frame {
	__u64 start;
	__u64 excluded; /* EXCLUDED of the task at entry */
	__u64 offcpu;
	__u64 child; /* net on-CPU time of timed callees so far, in two's complement */
	__u32 sp; /* identifies the call: function.bpf.c, range.bpf.c */
	__u32 key; /* ENGINE_KEY() of site and context */
	__u32 none_ctx; /* if the task has no context: ENGINE_CTX_IRQ in an interrupt, else ENGINE_CTX_NONE */
	__u32 calls; /* of an inlined body: number of executions of its entry */
	__u64 pad[2]; /* makes the size a power of two, for ENGINE_TOP_MASK */
};

enum engine_task_flag {
	ENGINE_TASK_LIVE = 1,
	/*
	 * The task has entered no syscall since it is followed. A return without an entry belongs to an earlier call, such as the
	 * fork that created the task.
	 */
	ENGINE_TASK_FRESH = 2,
	/* The last return shared its trampoline with the return of the frame below, which is next. */
	ENGINE_TASK_TAIL = 4,
	/* The task was found by -p. It may have been running since before it was followed, so no switch to it was seen. */
	ENGINE_TASK_ADOPTED = 8,
};

/* A followed task. Only the CPU that runs the task writes its members. */
struct engine_task {
	__u64 excluded; /* total ns to exclude from calls: OFFCPU and the cost of probes */
	__u64 offcpu; /* total ns switched out */
	__u64 switched; /* time of the last switch to or from the task */
	__u64 entered; /* number of calls and contexts entered */
	union {
		struct {
			__u32 ctx; /* ENGINE_CTX_NONE: frames[0] is not open */
			/* Offset of the innermost open frame from frames[0], in bytes. 0: only the context's frame may be open. */
			__u32 top;
		};
		__u64 open; /* CTX and TOP in one number, which is CTX if TOP is 0 */
	};
	__u32 flags;
	__u32 skipped; /* number of open calls without a frame, whose returns are expected */
	__u32 pid;
	__u32 stack; /* low half of the kernel stack's lowest address */
	__u64 born; /* time at which following began; makes these members as large as a frame, for frame_close() */
	struct engine_frame frames[ENGINE_DEPTH];
};

#define ENGINE_FRAME    ((__u32)sizeof(struct engine_frame))
#define ENGINE_TOP_MASK ((ENGINE_DEPTH - 1) * ENGINE_FRAME)

/*
 * The calls of a site in a context. An unused cell is all zero. The size is a multiple of a cache line, so that shards of different
 * CPUs share no line.
 */
struct engine_cell {
	__u64 calls; /* for a range: times that control entered the body */
	__u64 wall;
	__u64 excluded; /* part of WALL in which the task was switched out or in other probes */
	__u64 offcpu;
	__u64 child;
	__u64 sq_lo; /* sum of squares of net times below 2^20 ticks */
	__u64 sq_hi; /* sum of squares of the other net times, in units of 2^20: (v >> 10)^2 */
	__u64 max;
	__u64 min_inv; /* ~min; 0: no call yet */
	__u64 errors;
	__u64 negative; /* calls that took less than the calibrated cost of their probes */
	__u64 unreturned; /* calls that ended with their task, which have no cost of a return probe */
	__u64 bodies; /* for a range: calls of the inlined function, which are executions of its entry */
	__u32 hist[HIST_SLOTS];
	/*
	 * For syscalls on a real clock: number and sum of closings. A closing is the time that the program takes after it has read
	 * the clock at the end of a call. One in ENGINE_CLOSINGS calls is measured.
	 */
	__u64 closings, closing_time;
	/* For contexts: calls that enclosed probes or sleep. Closing them costs NESTED more. */
	__u64 enclosing;
	__u64 pad[7]; /* makes the size a multiple of a cache line */
};

#define ENGINE_CLOSINGS 16

/*
 * Events counted with each call, in arrays with the same indexes as those of tasks, frames and cells. A task's count is that of the
 * CPUs on which it ran, less EXCLUDED: events while it was switched out, and events of probes. All counts are in two's complement.
 */
#define ENGINE_COUNTERS 4

struct engine_counted_task {
	__u64 excluded[ENGINE_COUNTERS];
	__u64 left[ENGINE_COUNTERS]; /* count of the CPU when the task was switched out */
};

struct engine_counted_call {
	__u64 start[ENGINE_COUNTERS];
	__u64 child[ENGINE_COUNTERS];
};

struct engine_counted_cell {
	__u64 total[ENGINE_COUNTERS];
	__u64 child[ENGINE_COUNTERS];
};

/* Events that a mechanism's probes cause themselves. INNER and FULL as in struct engine_cost. */
struct engine_counter_costs {
	__u64 inner[ENGINE_COUNTERS], full[ENGINE_COUNTERS];
};

/*
 * Take one of MAX cells, of which *TAKEN are in use. Return its number, from 1 on, or 0 if none is left. A failure increases *TAKEN
 * to at most MAX plus the number of CPUs, so *TAKEN cannot wrap around, and no cell is taken twice.
 */
static inline __u32 engine_cell_take(__u32 *taken, __u32 max)
{
	__u32 cell;

	if (*(volatile __u32 *)taken >= max)
		return 0;
	cell = __sync_fetch_and_add(taken, 1) + 1;
	return cell <= max ? cell : 0;
}

/* Give back CELL, which was not used. It stays taken if it is not the last one taken. */
static inline void engine_cell_give_back(__u32 *taken, __u32 cell)
{
	__sync_val_compare_and_swap(taken, cell, cell - 1);
}

#define ENGINE_SQ_SPLIT 20
#define ENGINE_SMALL    4096 /* times with a table of slots: slots of eight bits */

/*
 * A time later than any other. With this in OVERDUE, a return probe takes the same path as between two samples, so a calibration
 * before the sampler starts is valid while the sampler runs.
 */
#define ENGINE_NEVER (1ull << 63)

#define ENGINE_MAX_CPUS 1024 /* a power of two */

/* The state of a CPU. All members that probes always read are in the first cache line. */
struct engine_cpu {
	__u32 slot; /* slot of the running task; 0: not followed */
	__u32 shard; /* shard of each cell that this CPU updates */
	__u64 due; /* time at which the timer expires next; ENGINE_NEVER: unknown */
	__u64 overdue; /* DUE plus the sampler's PENDING (struct engine_cost) */
	__u32 taken; /* a probe has already taken the sample that is due */
	__u32 resting; /* slot of the running task if it rests (task_rest()), else 0 */
	__u64 samples; /* number of runs of the sampler's program, whatever task ran */
	__u64 hits; /* number of SAMPLES that hit a followed task other than the idle task */
	__u64 started; /* time at which the sampler's program last started */
	__u64 took; /* duration of the sampler's last run */
	__u64 skipped; /* number of periods without a sample while a followed task ran */
	__u64 captured; /* ticks spent on capturing values */
	__u64 late; /* delay of the last sample */
	__u64 closing; /* with counted events: slot of the dying task whose open calls are being closed */
	__u64 pad1[4];
};

enum engine_sample_flag {
	ENGINE_SAMPLE_USER = 1,
	ENGINE_SAMPLE_LATE = 2,
	ENGINE_SAMPLE_AT_RETURN = 4, /* taken by a return probe, whose own frames may come first */
};
#define ENGINE_SAMPLE_EPOCH 8 /* number of the first bit of the code_epoch at the sample */

/*
 * Limits on a clock of instructions. A sample is late if its program starts more than ENGINE_LATE_NS after the calibrated latency,
 * which is more than the latency varies. If the timer expired more than ENGINE_PENDING_NS before a return probe runs, interrupts
 * have been off since, or the sampler would have run. On a real clock latencies vary more, and both limits are at least this
 * variation (struct engine_cost, PENDING).
 */
#define ENGINE_LATE_NS    2000
#define ENGINE_PENDING_NS 200

/* A kernel stack and the number of its samples. KEY 0: the entry is free. */
struct engine_stack {
	__u64 key;
	__u64 count;
	__u32 ctx;
	__u32 flags;
	__u32 n;
	__u32 site; /* of ENGINE_SAMPLE_AT_RETURN: the site whose return probe took the sample */
	__u64 ips[ENGINE_STACK_FRAMES];
};

#define ENGINE_VALUES 16

#define ENGINE_WATCHED 64 /* maximum number of samples watched in calibration; a power of two */

/* Loss counters, in the order in which user space reads them. */
enum engine_loss {
	ENGINE_LOSS_NO_RETURN, /* frames that were still open when an outer one returned */
	ENGINE_LOSS_NO_ENTRY, /* returns without a matching frame */
	ENGINE_LOSS_DEPTH, /* calls not timed, as ENGINE_DEPTH frames were open */
	ENGINE_LOSS_CELLS, /* calls not counted, as no cell was left */
	ENGINE_LOSS_TASKS, /* tasks not followed, as no slot was left or the pid was out of range; with -a, per switch to one */
	ENGINE_LOSS_SWITCHES, /* switches to or from a followed task that the kernel did not report */
	ENGINE_LOSS_STACKS, /* samples whose stack found no entry */
	ENGINE_LOSS_STACK_FETCH, /* samples whose stack could not be walked */
	ENGINE_LOSS_BLOCKS, /* executions of blocks whose function has no open call */
	ENGINE_LOSS_CAPTURES, /* calls whose values found no row of their own */
	ENGINE_LOSS_COUNTERS, /* readings of events that had no counter */
	ENGINE_INFO_OPEN_AT_START, /* returns of calls that began before the task was followed */
	ENGINE_INFO_CLOSED_BY_EXIT, /* calls that ended with their task */
	ENGINE_INFO_ENTERED, /* sum of ENTERED of tasks that have exited */
	ENGINE_N_LOSSES,
};

/* A function under kprobe.multi, in a hash table. ADDR: the low half of its address; 0: the entry is free. */
struct engine_multi {
	__u32 addr;
	__u32 site;
};

/* Maximum number of entries searched for a function. User space leaves out functions that are further away. */
#define ENGINE_MULTI_PROBES 16

/* Maximum number of functions whose calls are counted, not timed, in one recording. */
#define ENGINE_COUNTED 64

/*
 * Return the first slot of ADDR, modulo the table's size, a power of two. FACTOR is an odd number that was chosen for few
 * collisions.
 */
static inline __u32 engine_multi_slot(__u32 addr, __u64 factor)
{
	return (__u32)(addr * factor >> 40);
}

/*
 * Ranges are inlined bodies, which kprobes inside the function around them enter and leave. The probe's cookie says how. Its lower
 * half is an action, but with enum engine_range_kind in place of ENGINE_RANGE_OP, which follows from the program. If there are
 * several actions, it has the index of their list in place of the key.
 */
#define ENGINE_RANGE_KEY    0x07ffffffu /* the site's key */
#define ENGINE_RANGE_CALL   0x08000000u /* at the body's entry: counts a call of it */
#define ENGINE_RANGE_STRICT 0x10000000u /* control comes from one side only: range.bpf.c */
#define ENGINE_RANGE_OP     29 /* first bit of enum engine_range_op, in a list's actions */
#define ENGINE_RANGE_OPS    3u
#define ENGINE_RANGE_KIND   29
/* Upper half of the cookie: distance of the canonical frame address from the stack pointer, or with _FP from RBP, in words. */
#define ENGINE_RANGE_FRAME    32
#define ENGINE_RANGE_FRAME_FP 0x8000u

enum engine_range_op {
	ENGINE_RANGE_ENTER,
	ENGINE_RANGE_LEAVE,
	ENGINE_RANGE_COUNT, /* counts a call at the body's entry, to which no edge from outside leads */
};

/* The list of actions of one probe, in their order. */
#define ENGINE_RANGE_ACTIONS 7

struct engine_range_list {
	__u32 n;
	__u32 actions[ENGINE_RANGE_ACTIONS];
};

/* A probe that counts executions of a block. Its index is its cookie. */
struct engine_block {
	__u32 key; /* the key of the function's site */
	__u32 cost; /* cost of a hit in ticks, rounded down */
	__u32 per_frame; /* additional cost per open frame above the function's, in ticks */
	/*
	 * Fraction of a tick by which a hit costs more than COST, in units of 2^-ENGINE_BLOCK_FRACTION. A call may have a thousand
	 * hits, so some are charged one tick more, which makes the cost right on average.
	 */
	__u32 fraction;
};

#define ENGINE_BLOCK_FRACTION 16

#define ENGINE_NAME 16 /* bytes of a captured name with its NUL: two of VALUES */

/* A call whose values are captured. The program sets NET and KEY, and user space's code in its copy sets the other members. */
struct engine_call {
	__u64 net; /* net time of the call, as in its cell */
	__u32 key; /* ENGINE_KEY() of site and context */
	__u16 slot; /* index of the function among those with captured values */
	__u16 absent; /* a bit for each value that could not be read, as behind an invalid pointer */
	__u64 values[ENGINE_VALUES];
};

#define ENGINE_READ 128 /* maximum number of bytes that a helper reads at once, a multiple of 8 */

/* A call, with room for the bytes that a helper reads. */
struct engine_reading {
	struct engine_call call;
	__u64 read[ENGINE_READ / 8];
};

#define ENGINE_ARGS 6

/* Values of an open call that a kprobe saves for capturing: the arguments in registers, and the return value. */
struct engine_saved {
	__u64 args[ENGINE_ARGS];
	__u64 ret;
	__u64 pad; /* makes the size a power of two */
};

/* A row: calls of a site in a context with the same values, or one sampled call that found no row. */
struct engine_capture {
	__u64 hash; /* 0: free */
	__u64 calls;
	__u64 time; /* sum of net times, in two's complement */
	__u64 sq_lo, sq_hi, max, min_inv; /* as in struct engine_cell */
	__u32 key;
	__u32 absent; /* as in struct engine_call */
	__u64 values[ENGINE_VALUES];
};

/* The rows of all functions come first. Then each function has its sample of the calls that found no row. */
#define ENGINE_CAPTURED        64
#define ENGINE_CAPTURE_ROWS    4096 /* a power of two */
#define ENGINE_CAPTURE_SAMPLES 1024
#define ENGINE_CAPTURE_PROBES \
	64 /* maximum number of rows searched: with 16, calls are refused when a table is two fifths full */
