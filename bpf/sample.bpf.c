// SPDX-License-Identifier: GPL-2.0-or-later
/* The sampler: one perf event per CPU, with a fixed period. */
#include "rest.h"
#include "sample.h"

static __always_inline void timer_set(struct engine_cpu *cpu, __u64 due)
{
	cpu->due = due;
	cpu->overdue = due + costs[PROFILE_COSTS_SAMPLE].pending;
}

/*
 * Return the delay of a sample. The timer expires once per period; the earliest samples show when. A delayed sample waited until
 * interrupts were turned on.
 */
static __always_inline __u64 sample_lateness(struct engine_cpu *cpu, __u64 start)
{
	__u64 expired = start - costs[PROFILE_COSTS_SAMPLE].latency, due = cpu->due, late;

	if (expired <= due || !sample_period) {
		timer_set(cpu, expired + sample_period);
		return 0;
	}
	late = expired - due;
	timer_set(cpu, due + (late / sample_period + 1) * sample_period);
	return late;
}

/* Count the skipped periods in which T ran. If the timer of an idle CPU skips periods, no sample is lost. */
static __always_inline void note_skipped(struct engine_cpu *cpu, const struct engine_task *t,
					 __u64 start, __u64 late)
{
	__u64 ran = start - t->switched;

	if (sample_period)
		cpu->skipped += (late < ran ? late : ran) / sample_period;
}

#define POPF 0x9d
#define STI  0xfb

/*
 * Return whether the instruction before IP may have turned interrupts on and so released the sample: popf, or sti and the next
 * instruction (still with interrupts off). Few other instructions end in popf's byte, but many contain sti's: search sti only for
 * LATE samples.
 */
static __always_inline bool is_behind_irq_enable(__u64 ip, bool late)
{
	__u8 code[8];

	if (bpf_probe_read_kernel(code, sizeof(code), (void *)(ip - sizeof(code))))
		return false;
	if (code[7] == POPF)
		return true;
	return late && (code[0] == STI || code[1] == STI || code[2] == STI || code[3] == STI ||
			code[4] == STI || code[5] == STI || code[6] == STI);
}

#define DELAY_MAX   2048
#define DELAY_TURNS 64
/* A delay is at most sample_period / DELAY_PART iterations of five instructions: 1 % of the period, on average half of that. */
#define DELAY_PART 600

/* Iterate N times, at most DELAY_TURNS. Not static, since the verifier checks each iteration of the loop. */
__noinline int delay(__u32 n)
{
	for (__u32 i = 0; i < DELAY_TURNS && i < n; i++)
		asm volatile("" : "+r"(i));
	return 0;
}

/*
 * Delay the task by a random time. With a fixed period, samples of a workload that repeats itself (with icount even exactly) would
 * hit the same few instructions. The sum of the delays moves the samples at random through the workload's loops.
 */
static __always_inline void lose_step(void)
{
	__u32 part = sample_period / DELAY_PART, n;

	if (!part)
		return;
	n = bpf_get_prandom_u32() % (part < DELAY_MAX ? part : DELAY_MAX);
	for (__u32 i = 0; i < DELAY_MAX && i < n; i += DELAY_TURNS)
		delay(n - i);
}

/* Code in which the kernel cannot walk stacks (member unwalkable of struct record_multi_behaviour). */
const volatile __u64 unwalkable __weak = 0;
const volatile __u64 unwalkable_len __weak = 0;

static __always_inline bool is_unwalkable(__u64 ip)
{
	return ip - unwalkable < unwalkable_len;
}

SEC("perf_event")
int on_sample(struct bpf_perf_event_data *ctx)
{
	struct engine_cpu *cpu = this_cpu();
	struct engine_task *t;
	__u32 flags = 0, slot, context, taken;
	__u64 start = bpf_ktime_get_ns(), late;

	cpu->samples++;
	cpu->started = start;
	taken = cpu->taken;
	cpu->taken = 0;
	cpu->late = late = sample_lateness(cpu, start);
	slot = cpu->slot ?: cpu->resting;
	if (slot && slot < max_tasks)
		cpu->hits++;
	t = cpu_task(cpu);
	if (!t)
		return 0;
	if (slot < max_tasks)
		note_skipped(cpu, t, start, late);
	/* At the start of a measured system call, t->ctx may still be an excluded context. */
	if (!taken && !is_left_out(t->ctx)) {
		context = t->ctx;
		if (ctx->regs.cs & 3)
			/* Interrupts are on in user space, even if the sample is late. */
			flags |= ENGINE_SAMPLE_USER;
		else if (is_behind_irq_enable(ctx->regs.ip,
					      late > ENGINE_LATE_NS &&
						      late > costs[PROFILE_COSTS_SAMPLE].pending))
			flags |= ENGINE_SAMPLE_LATE;
		if (!(ctx->regs.cs & 3) && !on_task_stack(t, ctx->regs.sp))
			context = ENGINE_CTX_IRQ;
		sample_stack(ctx, BUFFER_SAMPLER, context, flags, 0,
			     is_unwalkable(ctx->regs.ip) ? ctx->regs.ip : 0);
	}
	lose_step();
	/* The time of a stack walk varies, so measure it each time. */
	cpu->took = bpf_ktime_get_ns() - start;
	exclude(t, cpu->took + costs[PROFILE_COSTS_SAMPLE].full);
	return 0;
}
