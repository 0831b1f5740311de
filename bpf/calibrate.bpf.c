// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measure the cost of a sample in the kernel, before the workload starts: read the clock repeatedly. If two readings differ much
 * and the sampler ran between them, the difference is the cost of the sample.
 */
#include "frame.h"

#define WATCH_TURNS   16
#define WATCH_ROUNDS  32
#define INTERRUPT_MIN 4 /* a step longer than INTERRUPT_MIN * watch_step is an interrupt */
#define INTERRUPT_MAX 100000 /* ns; in a longer step another task or guest ran */

__u64 watch_step = INTERRUPT_MAX; /* shortest time between two clock readings, ns */
/* Shortest time from a clock reading to the start of the sampler's program, in ns. */
__u64 watch_latency = ~0ull;
__u64 watch_late = 0; /* longest delay of a sample (sample_lateness()) */
/* Times between two clock readings in which a sample was taken, without the time of the sampler's program. */
__u64 watch_full[ENGINE_WATCHED] = {};
__u32 watch_seen = 0;
/*
 * Time from the first interrupt to the last, and the time that all interrupts but the first took. Both times cover whole periods
 * of the interrupt, so their ratio does not depend on the start of the measurement.
 */
__u64 watch_time = 0;
__u64 watch_interrupted = 0;
__u64 watch_since = 0; /* ns since the last interrupt */
/* An interrupt was seen. Not static: clang would shrink a static flag, but not its BTF, and the kernel refuses such programs. */
__u32 watch_any = 0;

__u64 watch_samples_seen = 0;

/*
 * Account the time TOOK between two clock readings without a sample. This is also called for the first reading: a different path
 * would change the time to the next reading.
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
 * so that the verifier checks the function once, not in each iteration of a loop.
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
 * BPF_PROG_TEST_RUN of any fentry program calls the kernel's empty test functions. This program is loaded separately, since some
 * kernels lack these functions (record_calibrate_runner()).
 */
SEC("save")
int call_empty(void *ctx)
{
	return 0;
}

/* Ticks that enclose() adds to the innermost open call, as if the call had a timed callee. */
__u64 enclosed = 0;

/* Act like a timed callee of the function that has this program attached. */
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

/* Act like a timed callee of the bpf() system call, which runs this program. */
SEC("raw_tp")
int enclose_in_syscall(void *ctx)
{
	return enclose(ctx);
}

__u64 trampoline_stamp = 0; /* time of the last stamp_trampoline() */

/* Several copies of this program run at entry and return of an empty function (record_cost_solve_trampoline()). */
SEC("kprobe")
int stamp_trampoline(void *ctx)
{
	trampoline_stamp = bpf_ktime_get_ns();
	return 0;
}
