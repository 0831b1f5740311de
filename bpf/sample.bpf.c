// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The sampler: a perf event per CPU on a fixed period. Stacks are kept under a hash of their frames
 * in a table of our own: no lock is taken, so it works in an NMI, and two stacks share an entry only
 * if 64 bits collide.
 */
#include "engine.h"

#define STACK_TRIES 16
/* Above what getting to the handler varies by, below what anybody would look for. */
#define LATE_NS	    2000

struct stack_buffer {
	__u64 ips[ENGINE_STACK_FRAMES];
};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct engine_stack);
} stacks SEC(".maps");

/* The sampler cannot interrupt itself: one buffer a CPU is enough. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct stack_buffer);
} stack_buffer SEC(".maps");

const volatile __u32 stack_mask = 0; /* entries of stacks, a power of two, less one */
const volatile __u64 sample_period = 0;

__u64 sample_full __weak = 0;

#define GOLDEN 0x9e3779b97f4a7c15ULL

static __always_inline __u64 hash_mix(__u64 hash, __u64 v)
{
	hash = (hash ^ v) * GOLDEN;
	return hash ^ (hash >> 29);
}

static __always_inline void stack_count(struct stack_buffer *buf, __u32 n, __u32 ctx, __u32 flags)
{
	__u64 key = hash_mix(GOLDEN, (__u64)ctx << 32 | flags);
	struct engine_stack *s;
	__u32 at;

	for (__u32 i = 0; i < ENGINE_STACK_FRAMES && i < n; i++)
		key = hash_mix(key, buf->ips[i]);
	key |= !key;

	for (__u32 i = 0; i < STACK_TRIES; i++) {
		__u64 was;

		at = ((__u32)key + i) & stack_mask;
		s = bpf_map_lookup_elem(&stacks, &at);
		if (!s)
			break;
		was = s->key;
		if (!was)
			was = __sync_val_compare_and_swap(&s->key, 0, key);
		if (!was) {
			s->ctx = ctx;
			s->flags = flags;
			s->n = n;
			for (__u32 k = 0; k < ENGINE_STACK_FRAMES && k < n; k++)
				s->ips[k] = buf->ips[k];
			was = key;
		}
		if (was == key) {
			__sync_fetch_and_add(&s->count, 1);
			return;
		}
	}
	loss_count(ENGINE_LOSS_STACKS, 1);
}

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
	return late > LATE_NS;
}

SEC("perf_event")
int on_sample(struct bpf_perf_event_data *ctx)
{
	struct engine_cpu *cpu = this_cpu();
	struct stack_buffer *buf;
	struct engine_task *t;
	__u32 flags = 0, n = 0, zero = 0, slot, context;
	__u64 now;
	long size;

	if (!cpu)
		return 0;
	cpu->samples++;
	now = bpf_ktime_get_ns();
	if (sample_is_late(cpu, now))
		flags |= ENGINE_SAMPLE_LATE;
	slot = cpu->slot;
	if (!slot)
		return 0;
	t = bpf_map_lookup_elem(&tasks, &slot);
	buf = bpf_map_lookup_elem(&stack_buffer, &zero);
	if (!t || !buf)
		return 0;
	context = t->ctx;
	if (ctx->regs.cs & 3) {
		flags |= ENGINE_SAMPLE_USER;
	} else {
		/* Where the sampler's own interrupt came from, that is. */
		if (!on_task_stack(ctx->regs.sp))
			context = ENGINE_CTX_IRQ;
		size = bpf_get_stack(ctx, buf->ips, sizeof(buf->ips), 0);
		if (size > 0)
			n = (__u32)size / sizeof(__u64);
		else
			loss_count(ENGINE_LOSS_STACK_FETCH, 1);
	}
	stack_count(buf, n, context, flags);
	t->cost += sample_full;
	return 0;
}
