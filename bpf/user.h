/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * User space's part of a stack, as far as frame pointers lead, each once. An address says nothing without the process, which may be
 * gone when it is read: the kernel gives the file's build-id and the offset in it, but not while the memory of the process is locked
 * for a change, as in fork() and mmap(). So both are kept, and what the layouts tell by which other stacks of the process show where
 * its files are.
 */
#pragma once

#include "engine.h"

#define USER_TRIES 16

SHARED_ARRAY(user_stacks, struct engine_user_stack);

const volatile __u32 user_stack_mask __weak =
	0; /* number of entries, a power of two, minus one; 0: none are taken */

/* The sampler can interrupt a probe that is taking a stack, but not itself: one buffer each. */
enum {
	BUFFER_SAMPLER,
	BUFFER_PROBE,
	N_BUFFERS
};

struct user_buffer {
	__u64 ips[ENGINE_USER_FRAMES];
};

struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, N_BUFFERS);
	__type(key, __u32);
	__type(value, struct user_buffer);
} user_buffers __weak SEC(".maps");

#define GOLDEN 0x9e3779b97f4a7c15ULL

static __always_inline __u64 hash_mix(__u64 hash, __u64 v)
{
	hash = (hash ^ v) * GOLDEN;
	return hash ^ (hash >> 29);
}

static __always_inline void user_stack_place(void *ctx, struct engine_user_stack *s)
{
	if (s->placed)
		return;
	bpf_get_stack(ctx, s->places, sizeof(s->places), BPF_F_USER_STACK | BPF_F_USER_BUILD_ID);
	s->placed = s->places[0].status == ENGINE_PLACE_KNOWN;
}

/* The entry of KEY, claimed and filled in if it is new; 0: table full. */
static __always_inline __u32 user_stack_find(void *ctx, const struct user_buffer *buf, __u64 key,
					     __u64 layout, __u32 n)
{
	for (__u32 i = 0; i < USER_TRIES; i++) {
		__u32 at = ((__u32)key + i) & user_stack_mask;
		struct engine_user_stack *s = bpf_map_lookup_elem(&user_stacks, &at);
		__u64 was;

		if (!s)
			break;
		was = __sync_val_compare_and_swap(&s->key, 0, key);
		if (was && was != key)
			continue;
		if (!was) {
			s->layout = layout;
			s->tgid = bpf_get_current_pid_tgid() >> 32;
			bpf_probe_read_kernel(s->ips, sizeof(s->ips), buf->ips);
			s->n = n;
		}
		user_stack_place(ctx, s);
		return at + 1;
	}
	loss_count(ENGINE_LOSS_USER_STACKS, 1);
	return 0;
}

/*
 * The number of the user stack of the task that runs, plus 1; 0: it has none. Static, so that it is checked, and its helpers are
 * needed, only where it is called.
 */
static __noinline __u32 user_stack(void *ctx, __u32 buffer)
{
	struct user_buffer *buf = bpf_map_lookup_elem(&user_buffers, &buffer);
	struct task_struct *task = (void *)bpf_get_current_task_btf();
	struct mm_struct *mm = task->mm;
	__u64 layout, key;
	long size;

	if (!buf || !mm)
		return 0;
	size = bpf_get_stack(ctx, buf->ips, sizeof(buf->ips), BPF_F_USER_STACK);
	if (size <= 0)
		return 0;
	layout = hash_mix(hash_mix(hash_mix(GOLDEN, mm->mmap_base), mm->start_code),
			  mm->start_stack);
	key = layout;
#pragma unroll
	for (int i = 0; i < ENGINE_USER_FRAMES; i++)
		key = hash_mix(key, buf->ips[i]);
	return user_stack_find(ctx, buf, key ?: 1, layout, size / sizeof(__u64));
}
