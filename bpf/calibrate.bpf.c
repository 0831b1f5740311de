// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measure the cost of a sample from inside the kernel, before the workload starts: read the clock repeatedly. If it jumps and the
 * sampler's program ran meanwhile, the jump is the cost of a sample.
 */
#include "frame.h"

#define WATCH_TURNS   16
#define WATCH_ROUNDS  32
#define INTERRUPT_MIN 4 /* in units of watch_step: a longer step is an interrupt */
#define INTERRUPT_MAX 100000 /* ns: a longer jump is another task's turn, or another guest's */

__u64 watch_step = INTERRUPT_MAX; /* ns: the least time between two readings of the clock */
/* ns: the least time from a reading of the clock to the start of the sampler's program */
__u64 watch_latency = ~0ull;
__u64 watch_late = 0; /* the maximum delay of a sample (sample_lateness()) */
/* jumps less the duration of the sampler's program, with one step */
__u64 watch_full[ENGINE_WATCHED] = {};
__u32 watch_seen = 0;
/*
 * Time watched from the first interrupt to the last, and the part of it that all interrupts but the first took. These are whole
 * periods of the interrupt, so the result does not depend on when watching began.
 */
__u64 watch_time = 0;
__u64 watch_interrupted = 0;
__u64 watch_since = 0; /* ns watched after the last interrupt */
/* An interrupt was seen. Not static: clang would shrink the flag to one byte, but not its BTF, which the kernel then refuses. */
__u32 watch_any = 0;

__u64 watch_samples_seen = 0;

/*
 * Account the step of TOOK between two readings, in which no sample was taken. This is also called for a reading without an earlier
 * one, although it has no step: on another path, the time to the next reading would differ from all other steps.
 */
static __always_inline void watch_uninterrupted(__u64 took)
{
	if (took >= INTERRUPT_MAX)
		took = watch_step;
	if (took < watch_step)
		watch_step = took;
	watch_since += took;
	if (took <= INTERRUPT_MIN * watch_step)
		return;
	if (watch_any) {
		watch_time += watch_since;
		watch_interrupted += took - watch_step;
	}
	watch_any = 1;
	watch_since = 0;
}

/*
 * Read the clock, and account the time since the reading BEFORE (0: none). Return the reading, or 0 after a sample. Not inlined,
 * like watch_round(): the verifier checks a function once, but a loop's body in each iteration.
 */
__noinline __u64 watch_turn(struct engine_cpu *watched, __u64 before)
{
	volatile struct engine_cpu *cpu = watched;
	__u64 now = bpf_ktime_get_ns(), started;

	if (!cpu)
		return 0;
	started = cpu->started;
	if (cpu->samples == watch_samples_seen) {
		watch_uninterrupted(now - before);
		return now;
	}
	watch_samples_seen = cpu->samples;
	if (before && started >= before && started < now) {
		if (started - before < watch_latency)
			watch_latency = started - before;
		if (cpu->late > watch_late)
			watch_late = cpu->late;
		watch_full[watch_seen++ & (ENGINE_WATCHED - 1)] = now - before - cpu->took;
	}
	return 0;
}

__noinline __u64 watch_round(struct engine_cpu *cpu, __u64 before)
{
	for (int i = 0; i < WATCH_TURNS; i++)
		before = watch_turn(cpu, before);
	return before;
}

SEC("raw_tp")
int watch_samples(void *ctx)
{
	struct engine_cpu *cpu = this_cpu();
	__u64 before = 0;

	watch_samples_seen = *(volatile __u64 *)&cpu->samples;
	for (int i = 0; i < WATCH_ROUNDS; i++)
		before = watch_round(cpu, before);
	return 0;
}

/*
 * BPF_PROG_TEST_RUN of any fentry program calls the kernel's empty test functions. This program is loaded separately, as some
 * kernels lack these functions (record_calibrate_runner()).
 */
SEC("save")
int call_empty(void *ctx)
{
	return 0;
}

/* Ticks that enclose() adds to the innermost open call, as a timed callee would. */
__u64 enclosed = 0;

/* Act like a timed callee of the function that this program is attached to. */
SEC("save")
int enclose(void *ctx)
{
	struct engine_task *t = this_task();

	if (!t)
		return 0;
	exclude(t, enclosed);
	frame_at(t, t->top)->child += enclosed;
	return 0;
}

/* Act like a timed callee of the bpf() system call that runs this program. */
SEC("raw_tp")
int enclose_in_syscall(void *ctx)
{
	return enclose(ctx);
}

__u64 trampoline_stamp = 0; /* time at which stamp_trampoline() last ran */

/* Attached several times to the entry and the return of an empty function: record_cost_solve_trampoline() compares the times. */
SEC("kprobe")
int stamp_trampoline(void *ctx)
{
	trampoline_stamp = bpf_ktime_get_ns();
	return 0;
}
