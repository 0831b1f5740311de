/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Memory shared by the BPF programs and user space. Files that include this define __u8, __u16, __u32, __s32 and __u64. */
#pragma once

#include "kprotperf/cost.h"
#include "kprotperf/hist.h"

/* Numbers of contexts (system calls, interrupts) in the BPF programs. User space turns them into names. */
#define ENGINE_SYSCALLS       512 /* system call numbers, for native and compat each */
#define ENGINE_CTX_COMPAT     ENGINE_SYSCALLS
#define ENGINE_CTX_NONE       (2 * ENGINE_SYSCALLS)
#define ENGINE_CTX_PAGE_FAULT (ENGINE_CTX_NONE + 1)
#define ENGINE_CTX_IRQ        (ENGINE_CTX_NONE + 2)
#define ENGINE_CTX_OTHER      (ENGINE_CTX_NONE + 3) /* number out of range, such as x32's */
#define ENGINE_CONTEXTS       (ENGINE_CTX_NONE + 4)

/* Site 0 is the context itself: a whole system call or page fault. */
#define ENGINE_SITE_CONTEXT 0

/* Maximum number of open frames per task, a power of two. The first frame belongs to the task's context. */
#define ENGINE_DEPTH 32

#define ENGINE_STACK_FRAMES 127

/* Task slots of four consecutive pids: an array entry takes at least 8 bytes, and a machine may have 4 million pids. */
#define ENGINE_PIDS_PER_ENTRY 4
#define ENGINE_MAX_TASKS      65535

struct engine_pids {
	__u16 slot[ENGINE_PIDS_PER_ENTRY];
};

/* The key of a site (timed function) in a context. Programs add the context to the site's first key, for context 0. */
#define ENGINE_KEY(site, ctx) ((site)*ENGINE_CONTEXTS + (ctx))

/* Immediate operands that user space replaces in its copies of programs. No other instruction has these values. */
#define ENGINE_PLACEHOLDER_INNER   0x5173c0d1 /* INNER of the mechanism's cost */
#define ENGINE_PLACEHOLDER_FULL    0x5173c0d2 /* FULL of the mechanism's cost */
#define ENGINE_PLACEHOLDER_CAPTURE 0x5173c0d3 /* replaced by code that records values */
#define ENGINE_PLACEHOLDER_SITE    0x5173c0de /* key of the timed function (site) */

/* An open call. */
struct engine_frame {
	__u64 start;
	__u64 excluded; /* EXCLUDED of the task at the start of the call */
	__u64 offcpu;
	__u64 child; /* net on-CPU time of timed callees, in two's complement */
	__u32 sp; /* identifies the call; see function.bpf.c and range.bpf.c */
	__u32 key; /* ENGINE_KEY() of site and context */
	__u32 none_ctx; /* without a context: ENGINE_CTX_IRQ in interrupts, else ENGINE_CTX_NONE */
	__u32 calls; /* inlined function: number of executions of its entry */
	__u64 pad[2]; /* pads the size to a power of two, for ENGINE_TOP_MASK */
};

enum engine_task_flag {
	ENGINE_TASK_LIVE = 1,
	/* The task has entered no system call since following began. A return without an entry ends an earlier call (fork). */
	ENGINE_TASK_FRESH = 2,
	/* The last return shared its trampoline with the function in the frame below, whose return is next. */
	ENGINE_TASK_TAIL = 4,
	/* The task was found by -p. It may have run already when following began, so no switch to it was seen. */
	ENGINE_TASK_ADOPTED = 8,
};

/* A followed task. Only the CPU that runs the task writes its members. */
struct engine_task {
	__u64 excluded; /* total ns to exclude from calls: OFFCPU and the costs of probes */
	__u64 offcpu; /* total ns in which the task was switched out */
	__u64 switched; /* time of the last switch to or from the task */
	__u64 entered; /* number of calls and contexts that the task entered */
	union {
		struct {
			__u32 ctx; /* the task's context; ENGINE_CTX_NONE: frames[0] is not open */
			/* Offset of the innermost open frame from frames[0], in bytes. 0: no frame but the context's is open. */
			__u32 top;
		};
		__u64 open; /* CTX and TOP as one number, equal to CTX if TOP is 0 */
	};
	__u32 flags;
	__u32 skipped; /* number of open calls without a frame, whose returns are to be ignored */
	__u32 pid;
	__u32 stack; /* low half of the lowest address of the kernel stack */
	__u64 born; /* time at which following began; pads to a frame's size for frame_close() */
	struct engine_frame frames[ENGINE_DEPTH];
};

#define ENGINE_FRAME    ((__u32)sizeof(struct engine_frame))
#define ENGINE_TOP_MASK ((ENGINE_DEPTH - 1) * ENGINE_FRAME)

/*
 * Statistics of the calls of a site in a context. An unused cell is all zero. The size is a multiple of a cache line, so that CPUs
 * with different shards (copies) share no line.
 */
struct engine_cell {
	__u64 calls; /* inlined function: times that control entered its code */
	__u64 wall;
	__u64 excluded; /* part of WALL in which the task was off the CPU or in other probes */
	__u64 offcpu;
	__u64 child;
	__u64 sq_lo; /* sum of squares of net times below 2^20 ticks */
	__u64 sq_hi; /* sum of squares of the other net times, in units of 2^20: (v >> 10)^2 */
	__u64 max;
	__u64 min_inv; /* ~min; 0: no call yet */
	__u64 errors;
	__u64 negative; /* calls shorter than the calibrated cost of their probes */
	__u64 unreturned; /* calls that ended with their task, without a return probe's cost */
	__u64 bodies; /* inlined function: number of calls (executions of its entry) */
	__u32 hist[HIST_SLOTS];
	/*
	 * For system calls, on a clock in ns: number and sum of times that the program took after it read the clock at the end of
	 * a call. One in ENGINE_CLOSINGS calls is measured.
	 */
	__u64 closings, closing_time;
	/* For contexts: calls that contained probes or sleep. Ending such a call costs NESTED more. */
	__u64 enclosing;
	__u64 pad[7]; /* pads the size to a multiple of a cache line */
};

#define ENGINE_CLOSINGS 16

/*
 * Numbers of events in calls. Arrays of these structs are indexed like those of tasks, frames and cells. A task's count is the sum
 * over its CPUs, less EXCLUDED: events while the task was switched out, and events of probes. Counts are in two's complement.
 */
#define ENGINE_COUNTERS 4

struct engine_counted_task {
	__u64 excluded[ENGINE_COUNTERS];
	__u64 left[ENGINE_COUNTERS]; /* CPU's count when the task was switched out */
};

struct engine_counted_call {
	__u64 start[ENGINE_COUNTERS];
	__u64 child[ENGINE_COUNTERS];
};

struct engine_counted_cell {
	__u64 total[ENGINE_COUNTERS];
	__u64 child[ENGINE_COUNTERS];
};

/* Events that a mechanism's probes cause. INNER and FULL are as in struct engine_cost. */
struct engine_counter_costs {
	__u64 inner[ENGINE_COUNTERS], full[ENGINE_COUNTERS];
};

/*
 * Allocate one of MAX cells, of which *TAKEN are in use. Return its number (from 1), or 0 if none is free. Failures raise *TAKEN
 * to at most MAX + the number of CPUs, so it cannot wrap around, and no cell is allocated twice.
 */
static inline __u32 engine_cell_take(__u32 *taken, __u32 max)
{
	__u32 cell;

	if (*(volatile __u32 *)taken >= max)
		return 0;
	cell = __sync_fetch_and_add(taken, 1) + 1;
	return cell <= max ? cell : 0;
}

/* Free the unused CELL. It stays allocated unless it was the last one. */
static inline void engine_cell_give_back(__u32 *taken, __u32 cell)
{
	__sync_val_compare_and_swap(taken, cell, cell - 1);
}

#define ENGINE_SQ_SPLIT 20
#define ENGINE_SMALL    4096 /* number of entries of small_slots[], a histogram slot per short time */

/*
 * A time later than any other. With this value in OVERDUE, a return probe takes the same path as between two samples, so a
 * calibration before the start of the sampler stays valid.
 */
#define ENGINE_NEVER (1ull << 63)

#define ENGINE_MAX_CPUS 1024 /* a power of two */

/* The state of a CPU. All members that every probe reads are in the first cache line. */
struct engine_cpu {
	__u32 slot; /* task slot of the running task; 0: it is not followed */
	__u32 shard; /* number of the shard (copy of each cell) that this CPU updates */
	__u64 due; /* time of the timer's next expiry; ENGINE_NEVER: unknown */
	__u64 overdue; /* DUE + the sampler's PENDING (struct engine_cost) */
	__u32 taken; /* a probe has already taken the due sample */
	__u32 resting; /* slot of the running task if hidden from probes (task_rest()), or 0 */
	__u64 samples; /* number of runs of the sampler's program, in any task */
	__u64 hits; /* number of SAMPLES in a followed task other than the idle task */
	__u64 started; /* last start time of the sampler's program */
	__u64 took; /* duration of the sampler's last run */
	__u64 skipped; /* number of periods without a sample while a followed task ran */
	__u64 captured; /* ticks spent on recording values */
	__u64 late; /* delay of the last sample */
	__u64 closing; /* for events: slot of the dying task whose open calls are being ended */
	__u64 pad1[4];
};

enum engine_sample_flag {
	ENGINE_SAMPLE_USER = 1,
	ENGINE_SAMPLE_LATE = 2,
	ENGINE_SAMPLE_AT_RETURN = 4, /* by a return probe, whose functions may begin the stack */
};
#define ENGINE_SAMPLE_EPOCH 8 /* first bit of code_epoch in the flags */

/*
 * Limits for a clock that counts instructions. A sample is late if its program starts more than ENGINE_LATE_NS after the
 * calibrated latency, whose variation is smaller. If the timer expired more than ENGINE_PENDING_NS before a return probe,
 * interrupts have been off since. With a clock in ns, latencies vary more, and both limits are at least PENDING of struct
 * engine_cost.
 */
#define ENGINE_LATE_NS    2000
#define ENGINE_PENDING_NS 200

/* A kernel stack and the number of its samples. If KEY is 0, the entry is free. */
struct engine_stack {
	__u64 key;
	__u64 count;
	__u32 ctx;
	__u32 flags;
	__u32 n;
	__u32 site; /* with ENGINE_SAMPLE_AT_RETURN: site of the return probe */
	__u64 ips[ENGINE_STACK_FRAMES];
};

#define ENGINE_VALUES 16

#define ENGINE_WATCHED 64 /* maximum number of samples in calibration; a power of two */

/* Counters of lost data, in the order in which user space reads them. */
enum engine_loss {
	ENGINE_LOSS_NO_RETURN, /* frames that were open when an outer frame returned */
	ENGINE_LOSS_NO_ENTRY, /* returns without an open frame */
	ENGINE_LOSS_DEPTH, /* calls not timed because ENGINE_DEPTH frames were open */
	ENGINE_LOSS_CELLS, /* calls not counted because no cell was free */
	ENGINE_LOSS_TASKS, /* tasks without a slot or with a pid too high; -a: switches to them */
	ENGINE_LOSS_SWITCHES, /* switches of a followed task that the kernel did not report */
	ENGINE_LOSS_STACKS, /* samples whose stack did not fit into the table */
	ENGINE_LOSS_STACK_FETCH, /* samples whose stack could not be walked */
	ENGINE_LOSS_BLOCKS, /* executions of blocks in functions without an open call */
	ENGINE_LOSS_CAPTURES, /* calls whose values did not fit into the table */
	ENGINE_LOSS_COUNTERS, /* readings of events that had no hardware counter */
	ENGINE_INFO_OPEN_AT_START, /* returns of calls that began before the task was followed */
	ENGINE_INFO_CLOSED_BY_EXIT, /* calls that ended because their task exited */
	ENGINE_INFO_ENTERED, /* sum of ENTERED of exited tasks */
	ENGINE_N_LOSSES,
};

/* An entry of the hash table of functions under kprobe.multi. ADDR: low half of the address; 0: the entry is free. */
struct engine_multi {
	__u32 addr;
	__u32 site;
};

/* Maximum number of entries to search for a function. User space does not time functions that would need more. */
#define ENGINE_MULTI_PROBES 16

/* Maximum number of functions in a recording whose calls are only counted, not timed. */
#define ENGINE_COUNTED 64

/* Return ADDR's first index, modulo the table's size (a power of two). FACTOR is an odd number with few collisions. */
static inline __u32 engine_multi_slot(__u32 addr, __u64 factor)
{
	return (__u32)(addr * factor >> 40);
}

/*
 * Ranges are inlined functions, timed by kprobes in the containing function. The lower half of a probe's cookie has the key of the
 * inlined function, the flags CALL and STRICT, and enum engine_range_kind. If the probe has several actions, the index of their
 * list replaces the key. An action in a list has enum engine_range_op instead of the kind.
 */
#define ENGINE_RANGE_KEY    0x07ffffffu /* key of the inlined function (site) */
#define ENGINE_RANGE_CALL   0x08000000u /* at the entry address: counts a call */
#define ENGINE_RANGE_STRICT 0x10000000u /* control comes from one side only: range.bpf.c */
#define ENGINE_RANGE_OP     29 /* first bit of enum engine_range_op in the actions of a list */
#define ENGINE_RANGE_OPS    3u
#define ENGINE_RANGE_KIND   29
/* Upper half of the cookie: distance in words of the canonical frame address from the stack pointer, or from RBP (_FP). */
#define ENGINE_RANGE_FRAME    32
#define ENGINE_RANGE_FRAME_FP 0x8000u

enum engine_range_op {
	ENGINE_RANGE_ENTER,
	ENGINE_RANGE_LEAVE,
	ENGINE_RANGE_COUNT, /* count a call: control reached the entry address from inside */
};

/* The actions of a probe, in order. */
#define ENGINE_RANGE_ACTIONS 7

struct engine_range_list {
	__u32 n;
	__u32 actions[ENGINE_RANGE_ACTIONS];
};

/* A probe that counts executions of a basic block. The probe's index is its cookie. */
struct engine_block {
	__u32 key; /* key of the function's site */
	__u32 cost; /* cost of a hit in ticks, rounded down */
	__u32 per_frame; /* additional cost per open frame above the function's frame, in ticks */
	/*
	 * Fraction of a tick by which a hit costs more than COST, in units of 2^-ENGINE_BLOCK_FRACTION. A call may have a thousand
	 * hits, so some hits cost one tick more: then the cost is right on average.
	 */
	__u32 fraction;
};

#define ENGINE_BLOCK_FRACTION 16

#define ENGINE_NAME 16 /* bytes of a recorded name with its NUL; takes two of VALUES */

/* A call whose values are recorded. The program sets NET and KEY; code that user space adds to its copy sets the rest. */
struct engine_call {
	__u64 net; /* net time of the call: without the probes' cost */
	__u32 key; /* ENGINE_KEY() of site and context */
	__u16 slot; /* index of the function among functions with recorded values */
	__u16 absent; /* bit I is set if value I was not readable (invalid pointer) */
	__u64 values[ENGINE_VALUES];
};

#define ENGINE_READ 128 /* maximum number of bytes that a helper reads at once, a multiple of 8 */

/* A call and a buffer for bytes that a helper reads. */
struct engine_reading {
	struct engine_call call;
	__u64 read[ENGINE_READ / 8];
};

#define ENGINE_ARGS 6

/* Values of an open call that a kprobe saves: the arguments in registers, and the return value. */
struct engine_saved {
	__u64 args[ENGINE_ARGS];
	__u64 ret;
	__u64 pad; /* pads the size to a power of two */
};

/* Calls of a site in a context with the same values, or one sampled call whose values did not fit into the table. */
struct engine_capture {
	__u64 hash; /* 0: the entry is free */
	__u64 calls;
	__u64 time; /* sum of net times */
	__u64 sq_lo, sq_hi, max, min_inv; /* like those of struct engine_cell */
	__u32 key;
	__u32 absent; /* like that of struct engine_call */
	__u64 values[ENGINE_VALUES];
};

/* The array has first the tables of all functions, then for each function its sample of calls whose values did not fit. */
#define ENGINE_CAPTURED        64
#define ENGINE_CAPTURE_ROWS    4096 /* a power of two */
#define ENGINE_CAPTURE_SAMPLES 1024
#define ENGINE_CAPTURE_PROBES \
	64 /* maximum number of entries to search; 16 are too few in a table two fifths full */
