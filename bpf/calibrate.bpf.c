// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Watching the sampler from inside the kernel, before the workload starts: read the clock again and
 * again. If it jumps and the sampler's program ran meanwhile, the jump is the cost of a sample.
 */
#include "frame.h"

#define WATCH_TURNS   16
#define WATCH_ROUNDS  32
#define INTERRUPT_MIN 4 /* steps */
#define INTERRUPT_MAX 100000 /* ns: a longer jump is another task's turn, or another guest's */

__u64 watch_step = INTERRUPT_MAX; /* the least time between two readings */
__u64 watch_latency = ~0ull; /* the least time from a reading to the sampler's beginning */
__u64 watch_late = 0; /* the most by which a sample was later than the earliest */
__u64 watch_full[ENGINE_WATCHED] = {}; /* jumps less the sampler's own time, steps included */
__u32 watch_seen = 0;
/*
 * Time watched from the first interrupt to the last, and the part of it that interrupts after the first took. These are
 * whole periods: otherwise the result would depend on when watching began.
 */
__u64 watch_time = 0;
__u64 watch_interrupted = 0;
__u64 watch_since = 0; /* ns watched after the last interrupt; a duration, not a time of day */
/* There was an interrupt. Not static: clang makes such a flag one byte, and the kernel refuses BTF that says four. */
__u32 watch_any = 0;

__u64 watch_samples_seen = 0;

/*
 * Between two readings, TOOK apart, no sample came. A reading without one before it must come here, too: on another
 * path, the time to the next reading would differ from all other steps.
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
 * Read the clock, and note what came between this reading and the one at BEFORE (0: none). Neither this nor a round is
 * inlined, so that the verifier checks each once: it checks a loop's body in each iteration.
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
 * BPF_PROG_TEST_RUN of any fentry program calls the kernel's empty functions. Loaded separately, as kernels may lack these
 * functions (record_calibrate_runner()).
 */
SEC("save")
int call_empty(void *ctx)
{
	return 0;
}

/* Ticks that enclose() adds to the innermost open call, as a timed callee would. */
__u64 enclosed = 0;

/* Runs inside a function. */
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

/* Runs in the system call that tests this program. */
SEC("raw_tp")
int enclose_in_syscall(void *ctx)
{
	return enclose(ctx);
}

__u64 trampoline_stamp = 0; /* time at which the last of the probes below ran */

/* Runs, several times, on the entry and the return of an empty function: see record_cost_solve_trampoline(). */
SEC("kprobe")
int stamp_trampoline(void *ctx)
{
	trampoline_stamp = bpf_ktime_get_ns();
	return 0;
}
