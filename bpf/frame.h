/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Open and close the frames of calls: a task has an array of frames, one per open call. */
#pragma once

#include "counter.h"

/* Raise *MAX to V in three attempts. If four CPUs do this at once, a value may be lost. */
static __always_inline void raise(__u64 *max, __u64 v)
{
	__u64 seen = *max;

	for (int i = 0; i < 3 && v > seen; i++) {
		__u64 was = __sync_val_compare_and_swap(max, seen, v);

		if (was == seen)
			break;
		seen = was;
	}
}

/* hist_slot() of small values, filled by user space: a lookup takes the same time for each value. */
const volatile __u8 small_slots[ENGINE_SMALL] __weak = {};

/* Shift larger values right by SMALL_SHIFT for a lookup; their slots are SMALL_SHIFT * HIST_SUB higher. */
#define SMALL_SHIFT 8

/* Not inlined: its many branches would be a third of the verifier's work. */
__weak __noinline __u32 slot_of_long_time(__u64 v)
{
	return hist_slot(v);
}

static __always_inline __u32 slot_of_time(__u64 v)
{
	if (v < ENGINE_SMALL)
		return small_slots[v];
	if (v < ENGINE_SMALL << SMALL_SHIFT)
		return small_slots[v >> SMALL_SHIFT] + SMALL_SHIFT * HIST_SUB;
	return slot_of_long_time(v);
}

/* Add NET ticks to a sum of squares and a minimum. M points to sq_lo of a struct; sq_hi, max (unchanged) and min_inv follow. */
static __always_inline void moments_add(__u64 *m, __u64 net)
{
	if (net < (1 << ENGINE_SQ_SPLIT)) {
		__sync_fetch_and_add(&m[0], net * net);
	} else {
		__u64 scaled = net >> (ENGINE_SQ_SPLIT / 2);

		__sync_fetch_and_add(&m[1], scaled * scaled);
	}
	if (~net > m[3])
		raise(&m[3], ~net);
}

static __always_inline void cell_add(struct engine_cell *c, __u64 net)
{
	__u32 slot = slot_of_time(net);

	moments_add(&c->sq_lo, net);
	if (slot < HIST_SLOTS)
		__sync_fetch_and_add(&c->hist[slot], 1);
}

/* Fill frame F of T, except for its start time, its counts and its stack pointer (contexts have none). */
static __always_inline void frame_fill(const struct engine_task *t, struct engine_frame *f,
				       __u32 key)
{
	f->child = 0;
	f->key = key;
	f->offcpu = t->offcpu;
}

/* Open frame F of T. Read the clock last, so that little of this function's time counts as the call's. */
static __always_inline void frame_open(struct engine_task *t, struct engine_frame *f, __u32 key,
				       bool counted)
{
	struct engine_clock c;

	__sync_fetch_and_add(&t->entered, 1); /* atomic: a probe in an interrupt may add, too */
	frame_fill(t, f, key);
	if (counted)
		counters_open(t, f);
	c = clock_read(t);
	f->excluded = c.excluded;
	f->start = c.now;
}

/*
 * Return the off-CPU part of EXCLUDED for frame F of T. T's offcpu is read later than EXCLUDED: if the program is preempted in
 * between, the difference includes later time and must be limited.
 */
static __always_inline __u64 frame_offcpu(const struct engine_task *t, const struct engine_frame *f,
					  __u64 excluded)
{
	__u64 offcpu = t->offcpu - f->offcpu;

	return offcpu < excluded ? offcpu : excluded;
}

/*
 * Account the call of frame F of T, which ended at END on CPU. If ENCLOSED, update its caller's frame below. MECH is
 * PROFILE_UNTIMED if there is no return probe's cost to subtract. COUNTED: also account events. Return the cell, or NULL if no
 * cell is free. F may be T's first frame: T's fields before it are as large as a frame, so that the verifier accepts f[-1].
 */
static __always_inline struct engine_cell *
frame_close(const struct engine_cpu *cpu, struct engine_task *t, struct engine_frame *f,
	    const struct engine_clock *end, enum profile_mechanism mech, bool enclosed,
	    bool counted)
{
	__u64 wall = end->now - f->start;
	__u64 excluded = end->excluded - f->excluded;
	__u64 net = cost_less(wall - excluded, mech);
	struct engine_cell *c;

	if (counted)
		counters_close(cpu, t, f, mech, enclosed);
	if (enclosed)
		f[-1].child += net;
	c = cell_get(cpu, &f->key);
	if (!c) {
		loss_count(ENGINE_LOSS_CELLS, 1);
		return NULL;
	}
	__sync_fetch_and_add(&c->calls, 1);
	__sync_fetch_and_add(&c->wall, wall);
	/* Avoid atomic additions of 0, which are expensive on a real CPU. */
	if (excluded | f->child) {
		__sync_fetch_and_add(&c->excluded, excluded);
		__sync_fetch_and_add(&c->child, f->child);
		__sync_fetch_and_add(&c->offcpu, frame_offcpu(t, f, excluded));
		if (!enclosed)
			/* A context has no caller. */
			__sync_fetch_and_add(&c->enclosing, 1);
		else if (mech != PROFILE_UNTIMED)
			exclude(t, costs[mech].nested);
	}
	if ((__s64)net < 0) {
		__sync_fetch_and_add(&c->negative, 1);
		net = 0;
	}
	if (net > c->max)
		raise(&c->max, net);
	cell_add(c, net);
	return c;
}

static __always_inline struct engine_frame *frame_at(struct engine_task *t, __u32 top)
{
	return (void *)t->frames + (top & ENGINE_TOP_MASK);
}

/*
 * Return the context of the call at frame TOP if T has no context. An interrupt that hits user space finds no open call, so only
 * the outermost call checks for an interrupt.
 */
static __always_inline __u32 none_context(struct engine_task *t, __u32 top)
{
	struct engine_frame *f = frame_at(t, top);

	if (top > ENGINE_FRAME)
		f->none_ctx = f[-1].none_ctx;
	else
		f->none_ctx = in_user_interrupt() ? ENGINE_CTX_IRQ : ENGINE_CTX_NONE;
	return f->none_ctx;
}

/* Return the context of the call at frame TOP. SP is the stack pointer. */
static __always_inline __u32 frame_context(struct engine_task *t, __u32 top, __u32 sp)
{
	__u32 ctx = t->ctx;

	if (!on_task_stack(t, sp))
		return ENGINE_CTX_IRQ;
	return ctx == ENGINE_CTX_NONE ? none_context(t, top) : ctx;
}

/* Count a missed return. Not inlined, so that the verifier checks the function once, not in each iteration of a loop. */
__weak __noinline int frame_miss(__u32 key)
{
	__u32 site = key / ENGINE_CONTEXTS;
	__u64 *n = bpf_map_lookup_elem(&missed, &site);

	if (n)
		__sync_fetch_and_add(n, 1);
	loss_count(ENGINE_LOSS_NO_RETURN, 1);
	return 0;
}

/* Drop the frames above UNTIL, whose returns were missed. Not inlined, since it runs only after a missed return. */
__weak __noinline int frames_miss(struct engine_task *t, __u32 until)
{
	__u32 top;

	if (!t)
		return 0;
	top = t->top;
	for (int i = 0; i < ENGINE_DEPTH && top > until; i++) {
		frame_miss(frame_at(t, top)->key);
		top -= ENGINE_FRAME;
	}
	t->top = until;
	return 0;
}

/* Count a return without an open frame. Not inlined, since it runs only after a missed probe. */
__weak __noinline int frame_unmatched(struct engine_task *t)
{
	if (!t)
		return 0;
	if (t->skipped)
		t->skipped--;
	else
		loss_count(t->flags & ENGINE_TASK_FRESH ? ENGINE_INFO_OPEN_AT_START :
							  ENGINE_LOSS_NO_ENTRY,
			   1);
	return 0;
}

/* Drop the frames that are open when T is in user space: their returns were missed. */
static __always_inline void frames_drop(struct engine_task *t)
{
	if (t->top)
		frames_miss(t, 0);
}
