/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Single calls that were slower than asked for, as many as there is room for. */
#pragma once

#include "engine.h"
#include "user.h"

SHARED_ARRAY(slow, struct engine_slow);

__u64 n_slow __weak = 0; /* calls kept */

/* Describe the running task in S. */
static __always_inline void slow_describe(void *ctx, struct engine_slow *s)
{
	long size = ctx ? bpf_get_stack(ctx, s->stack.ips, sizeof(s->stack.ips), 0) : 0;

	s->stack.n = size > 0 ? size / sizeof(__u64) : 0;
	if (ctx && user_stack_mask)
		s->stack.user = user_stack(ctx, BUFFER_PROBE);
	s->tgid = bpf_get_current_pid_tgid() >> 32;
	bpf_get_current_comm(s->comm, sizeof(s->comm));
}

/*
 * Keeps the call of frame F of T, which took TIME on a CPU and OFFCPU off it. Static, so that it is checked, and its helpers are
 * needed, only where it is called.
 */
static __noinline int slow_keep(void *ctx, struct engine_task *t, struct engine_frame *f,
				__u64 time, __u64 offcpu)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();
	struct engine_clock start = clock_read(t);
	struct engine_slow *s = NULL;
	__u32 at = ENGINE_SLOW;

	if (n_slow < ENGINE_SLOW)
		at = __sync_fetch_and_add(&n_slow, 1);
	if (at < ENGINE_SLOW)
		s = bpf_map_lookup_elem(&slow, &at);
	if (s) {
		s->start = f->start;
		s->time = time;
		s->offcpu = offcpu;
		f->kept = ENGINE_KEPT | at;
		s->pid = t->pid;
		s->stack.ctx = f->key % ENGINE_CONTEXTS;
		s->stack.site = f->key / ENGINE_CONTEXTS;
		s->stack.flags = ENGINE_SAMPLE_AT_RETURN | code_epoch << ENGINE_SAMPLE_EPOCH;
		if (t->stack == (__u32)(unsigned long)task->stack)
			slow_describe(ctx, s);
	} else {
		loss_count(ENGINE_LOSS_SLOW, 1);
	}
	exclude_since(t, &start, 0);
	return 0;
}
