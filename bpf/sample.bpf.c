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

SEC("perf_event")
int on_sample(struct bpf_perf_event_data *ctx)
{
	struct engine_cpu *cpu = this_cpu();
	struct engine_task *t;
	__u32 flags = 0, slot, context, taken;
	__u64 start = bpf_ktime_get_ns();

	cpu->samples++;
	cpu->started = start;
	taken = cpu->taken;
	cpu->taken = 0;
	if (sample_is_late(cpu, start))
		flags |= ENGINE_SAMPLE_LATE;
	slot = cpu->slot;
	if (!slot)
		return 0;
	t = bpf_map_lookup_elem(&tasks, &slot);
	if (!t)
		return 0;
	if (!taken) {
		context = t->ctx;
		if (ctx->regs.cs & 3)
			flags |= ENGINE_SAMPLE_USER;
		else if (!on_task_stack(t, ctx->regs.sp))
			context = ENGINE_CTX_IRQ;
		sample_stack(ctx, BUFFER_SAMPLER, context, flags, 0);
	}
	/* What a stack's walk costs differs from one to the next, so it is measured each time. */
	cpu->took = bpf_ktime_get_ns() - start;
	set_aside(t, cpu->took + sample_full);
	return 0;
}
