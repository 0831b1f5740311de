// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Watching the sampler from inside the kernel, before the workload starts: the clock is read again
 * and again, and where it jumps and the sampler's program ran meanwhile, the jump is a sample's cost.
 */
#include "engine.h"

#define WATCH_TURNS 512

__u64 watch_step = ~0ull; /* the least time between two readings */
__u64 watch_latency = ~0ull; /* the least time from a reading to the sampler's beginning */
__u64 watch_full[ENGINE_WATCHED] = {}; /* jumps less the sampler's own time, steps included */
__u32 watch_seen = 0;

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
			if (now - before < watch_step)
				watch_step = now - before;
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
