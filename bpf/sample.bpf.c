// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The sampler: a perf event per CPU on a fixed period.
 */
#include "sample.h"

/*
 * The timer's expiries lie on a grid of periods, of which each sample shows a time a little after;
 * the earliest show the grid. A sample well after its own was held up until interrupts came on.
 */
static __always_inline bool sample_is_late(struct engine_cpu *cpu, __u64 now)
{
	__u64 due = cpu->due, late;

	if (!due || now <= due || !sample_period) {
		cpu->due = now + sample_period;
		return false;
	}
	late = now - due;
	cpu->due = due + (late / sample_period + 1) * sample_period;
	return late > ENGINE_LATE_NS;
}

SEC("perf_event")
int on_sample(struct bpf_perf_event_data *ctx)
{
	struct engine_cpu *cpu = this_cpu();
	struct engine_task *t;
	__u32 flags = 0, slot, context, taken;
	__u64 start = bpf_ktime_get_ns();

	if (!cpu)
		return 0;
	cpu->samples++;
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
		else if (!on_task_stack(ctx->regs.sp))
			context = ENGINE_CTX_IRQ;
		sample_stack(ctx, BUFFER_SAMPLER, context, flags);
	}
	/* Of what a sample costs, most is walking the stack, which differs: this much is known. */
	t->cost += bpf_ktime_get_ns() - start;
	return 0;
}
