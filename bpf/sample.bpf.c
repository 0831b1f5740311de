// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The sampler: a perf event per CPU on a fixed period.
 */
#include "sample.h"

/* Calibrated, in ticks: from the timer's expiry to this program, and the interrupt around it. */
__u64 sample_latency __weak = 0, sample_full __weak = 0;

static __always_inline void timer_set(struct engine_cpu *cpu, __u64 due)
{
	cpu->due = due;
	cpu->overdue = due + ENGINE_PENDING_NS;
}

/*
 * The timer's expiries lie on a grid of periods, which the earliest samples show. A sample well
 * after its own was held up until interrupts came on.
 */
static __always_inline bool sample_is_late(struct engine_cpu *cpu, __u64 start)
{
	__u64 expired = start - sample_latency, due = cpu->due, late;

	if (expired <= due || !sample_period) {
		timer_set(cpu, expired + sample_period);
		return false;
	}
	late = expired - due;
	/* An idle CPU's timer may skip periods too, but there is nothing to be seen then. */
	if (cpu->slot)
		cpu->skipped += late / sample_period;
	timer_set(cpu, due + (late / sample_period + 1) * sample_period);
	return late > ENGINE_LATE_NS;
}

#define POPF 0x9d
#define STI  0xfb

/*
 * Whether the instruction before the interrupted one may have turned interrupts on, so that the sample
 * was held up by it: popf, or sti and one more, which it lets pass first. A byte like popf's ends
 * few instructions; one like sti's is in many, so that is looked for only in what came LATE.
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

#define TURNS_MAX 2048
/* At five instructions a turn, a percent of the period at most, and half of that in the mean. */
#define TURN_PART 600

/*
 * Lets a random time pass. The period is fixed, and a workload that repeats itself would else be hit
 * in the same few places again and again: under icount it repeats itself to the instruction. What
 * the task is behind by, sample after sample, is a random walk through its loops.
 */
static __always_inline void lose_step(void)
{
	__u32 part = sample_period / TURN_PART, turns;

	if (!part)
		return;
	turns = bpf_get_prandom_u32() % (part < TURNS_MAX ? part : TURNS_MAX);
	for (__u32 i = 0; i < TURNS_MAX && i < turns; i++)
		asm volatile("" : "+r"(i));
}

SEC("perf_event")
int on_sample(struct bpf_perf_event_data *ctx)
{
	struct engine_cpu *cpu = this_cpu();
	struct engine_task *t;
	__u32 flags = 0, slot, context, taken;
	bool late;
	__u64 start = bpf_ktime_get_ns();

	cpu->samples++;
	cpu->started = start;
	taken = cpu->taken;
	cpu->taken = 0;
	late = sample_is_late(cpu, start);
	slot = cpu->slot;
	if (!slot)
		return 0;
	t = bpf_map_lookup_elem(&tasks, &slot);
	if (!t)
		return 0;
	if (!taken) {
		context = t->ctx;
		if (ctx->regs.cs & 3)
			flags |= ENGINE_SAMPLE_USER | (late ? ENGINE_SAMPLE_LATE : 0);
		else if (is_behind_irq_enable(ctx->regs.ip, late))
			flags |= ENGINE_SAMPLE_LATE;
		if (!(ctx->regs.cs & 3) && !on_task_stack(t, ctx->regs.sp))
			context = ENGINE_CTX_IRQ;
		sample_stack(ctx, BUFFER_SAMPLER, context, flags, 0);
	}
	lose_step();
	/* What a stack's walk costs differs from one to the next, so it is measured each time. */
	cpu->took = bpf_ktime_get_ns() - start;
	set_aside(t, cpu->took + sample_full);
	return 0;
}
