// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Watching the sampler from inside the kernel, before the workload starts: the clock is read again
 * and again, and where it jumps and the sampler's program ran meanwhile, the jump is a sample's cost.
 */
#include "engine.h"

#define WATCH_TURNS   512
#define INTERRUPT_MIN 4 /* steps */
#define INTERRUPT_MAX 100000 /* ns: what takes longer is another task's turn, or another guest's */

__u64 watch_step = ~0ull; /* the least time between two readings */
__u64 watch_latency = ~0ull; /* the least time from a reading to the sampler's beginning */
__u64 watch_full[ENGINE_WATCHED] = {}; /* jumps less the sampler's own time, steps included */
__u32 watch_seen = 0;
__u64 watch_time = 0; /* looked at, */
__u64 watch_interrupted = 0; /* of which that much went into other interrupts */

/* Between two readings no sample came. */
static __always_inline void watch_quiet(__u64 took)
{
	if (took < watch_step)
		watch_step = took;
	if (took >= INTERRUPT_MAX)
		return;
	watch_time += took;
	if (took > INTERRUPT_MIN * watch_step)
		watch_interrupted += took - watch_step;
}

SEC("raw_tp")
int watch_samples(void *ctx)
{
	volatile struct engine_cpu *cpu = this_cpu();
	__u64 seen, before;

	seen = cpu->samples;
	before = bpf_ktime_get_ns();
	for (int i = 0; i < WATCH_TURNS; i++) {
		__u64 now = bpf_ktime_get_ns(), started = cpu->started;

		if (cpu->samples == seen) {
			watch_quiet(now - before);
		} else {
			seen = cpu->samples;
			if (started >= before && started < now) {
				if (started - before < watch_latency)
					watch_latency = started - before;
				watch_full[watch_seen++ & (ENGINE_WATCHED - 1)] =
					now - before - cpu->took;
			}
			now = bpf_ktime_get_ns();
		}
		before = now;
	}
	return 0;
}
