/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Count samples by stack, in a hash table keyed by 64-bit hashes of addresses. This takes no lock, so it works in an NMI. */
#pragma once

#include "engine.h"

#define STACK_TRIES 16

/* Two buffers: the sampler may interrupt a probe that takes a stack, but not itself. */
enum {
	BUFFER_SAMPLER,
	BUFFER_PROBE,
	N_BUFFERS
};

struct stack_buffer {
	__u64 ips[ENGINE_STACK_FRAMES];
};

SHARED_ARRAY(stacks, struct engine_stack);

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, N_BUFFERS);
	__type(key, __u32);
	__type(value, struct stack_buffer);
} stack_buffers __weak SEC(".maps");

/* Number of table entries for stacks (a power of two) - 1. */
const volatile __u32 stack_mask __weak = 0;
const volatile __u64 sample_period __weak = 0;

#define GOLDEN 0x9e3779b97f4a7c15ULL

static __always_inline __u64 hash_mix(__u64 hash, __u64 v)
{
	hash = (hash ^ v) * GOLDEN;
	return hash ^ (hash >> 29);
}

/* Return the table entry of the stack with KEY, or NULL if the table is full. *WAS is 0 for a new entry. */
static __always_inline struct engine_stack *stack_entry(__u64 key, __u64 *was)
{
	for (__u32 i = 0; i < STACK_TRIES; i++) {
		__u32 at = ((__u32)key + i) & stack_mask;
		struct engine_stack *s = bpf_map_lookup_elem(&stacks, &at);

		if (!s)
			break;
		*was = __sync_val_compare_and_swap(&s->key, 0, key);
		if (!*was || *was == key)
			return s;
	}
	return NULL;
}

/* Mix the N addresses of BUF into KEY. Not static, so that the verifier checks the loop and the code after the call once. */
__weak __noinline __u64 stack_hash(const struct stack_buffer *buf, __u32 n, __u64 key)
{
	if (!buf)
		return key;
	for (__u32 i = 0; i < ENGINE_STACK_FRAMES && i < n; i++)
		key = hash_mix(key, buf->ips[i]);
	return key;
}

/*
 * Count the stack of SIZE bytes in BUF. A helper copies the stack, since the verifier takes a second per program to check a loop.
 * Not inlined, so that the verifier checks this function once per program.
 */
__weak __noinline int stack_count(struct stack_buffer *buf, __u32 size, __u32 ctx, __u32 flags,
				  __u32 site)
{
	__u64 key = hash_mix(hash_mix(GOLDEN, (__u64)ctx << 32 | flags), site);
	struct engine_stack *s;
	__u64 was = 0;

	/* Up to Linux 6.7, the verifier also checks functions that are never called. */
	if (!sample_period || !buf)
		return 0;
	key = stack_hash(buf, size / sizeof(__u64), key);
	key |= !key;
	s = stack_entry(key, &was);
	if (!s) {
		loss_count(ENGINE_LOSS_STACKS, 1);
		return 0;
	}
	if (!was) {
		s->ctx = ctx;
		s->flags = flags;
		s->site = site;
		s->n = size / sizeof(__u64);
		barrier_var(size); /* else the compiler may use an unchecked copy of SIZE */
		if (size <= sizeof(s->ips))
			bpf_probe_read_kernel(s->ips, size, buf->ips);
	}
	__sync_fetch_and_add(&s->count, 1);
	return 0;
}

/* Count a sample of the kernel stack at CTX. If ONLY_ADDR is not 0, count this address alone: its stack cannot be walked. */
static __always_inline void sample_stack(void *ctx, __u32 buffer, __u32 context, __u32 flags,
					 __u32 site, __u64 only_addr)
{
	struct stack_buffer *buf = bpf_map_lookup_elem(&stack_buffers, &buffer);
	long size = 0;

	if (!buf)
		return;
	if (only_addr) {
		buf->ips[0] = only_addr;
		size = sizeof(buf->ips[0]);
	} else if (!(flags & ENGINE_SAMPLE_USER)) {
		size = bpf_get_stack(ctx, buf->ips, sizeof(buf->ips), 0);
		if (size <= 0 || size > (long)sizeof(buf->ips)) {
			loss_count(ENGINE_LOSS_STACK_FETCH, 1);
			size = 0;
		}
	}
	stack_count(buf, size, context, flags | code_epoch << ENGINE_SAMPLE_EPOCH, site);
}
