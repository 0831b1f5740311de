// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Time ranges, which are inlined functions. A probe at the target of each jump or step into the inlined code opens a frame, unless
 * one is open. A probe at the target of each way out closes the frame. Most targets are also reached by control that was already
 * inside or outside, for example in a loop: then the probe changes nothing.
 *
 * A frame belongs to a call of the containing function. The call is identified, despite recursion, by its canonical frame address
 * (CFA): the stack pointer before the call, the same at every instruction of the function. The probe's cookie has the distance
 * from a register to the CFA. Control is in the inlined code if and only if there is a frame of the site with this CFA.
 *
 * If the flow graph proves that control comes from one side only (STRICT), a frame in the wrong state shows a missed probe.
 */
#include "frame.h"

struct engine_range_cost range_costs[ENGINE_RANGE_KINDS] __weak = {};

SHARED_ARRAY(range_lists, struct engine_range_list);

static __always_inline struct engine_range_cost *hit_cost(__u64 cookie)
{
	return &range_costs[cookie >> ENGINE_RANGE_KIND & (ENGINE_RANGE_KINDS - 1)];
}

/* Return the low 32 bits of the canonical frame address (CFA) of the function whose probe fired. */
static __always_inline __u32 hit_frame(struct pt_regs *ctx, __u64 cookie)
{
	__u32 words = cookie >> ENGINE_RANGE_FRAME & 0xffff;

	if (words & ENGINE_RANGE_FRAME_FP)
		return PT_REGS_FP(ctx) + (words & ~ENGINE_RANGE_FRAME_FP) * sizeof(long);
	return PT_REGS_SP(ctx) + words * sizeof(long);
}

/*
 * Drop the frames of calls that have ended, as their stack pointers show: their ends were missed. The frame of the function itself
 * may be one word below CFA. Not inlined, since it runs only after a missed probe.
 */
__noinline int range_drop_dead(struct engine_task *t, __u32 cfa)
{
	__u32 top;

	if (!t || !on_task_stack(t, cfa))
		return 0;
	top = t->top;
	for (int i = 0; i < ENGINE_DEPTH && top; i++) {
		const struct engine_frame *f = frame_at(t, top);

		if (!on_task_stack(t, f->sp) || f->sp + sizeof(long) >= cfa)
			break;
		top -= ENGINE_FRAME;
	}
	frames_miss(t, top);
	return 0;
}

/*
 * Return the top of the frame of KEY at CFA, or 0. Set *PASSED to the number of frames above it, which are of other inlined
 * functions of the same call. Frames of one call are adjacent. The function's frame (if timed) or a caller's is below them. The
 * context's frame, at 0, has no stack pointer.
 */
static __always_inline __u32 range_find(struct engine_task *t, __u32 key, __u32 cfa, __u32 *passed)
{
	const struct engine_frame *f;
	__u32 top = t->top, i;

	f = frame_at(t, top);
	if (f->sp + sizeof(long) < cfa && top) {
		range_drop_dead(t, cfa);
		top = t->top;
		f = frame_at(t, top);
	}
	for (i = 0; i < ENGINE_DEPTH; i++) {
		if (f->sp != cfa) {
			top = 0;
			break;
		}
		if (f->key - key < ENGINE_CONTEXTS)
			break;
		top -= ENGINE_FRAME;
		f = frame_at(t, top);
	}
	*passed = i;
	return top;
}

/* Reserve a frame for the site KEY, and fill it except for the start time. Return NULL if no frame is free. */
static __always_inline struct engine_frame *range_reserve(struct engine_task *t, __u32 key,
							  __u32 sp, __u32 cfa)
{
	struct engine_frame *f;
	__u32 top = t->top;

	top += ENGINE_FRAME;
	__sync_fetch_and_add(&t->entered, 1); /* atomic: a probe in an interrupt may add, too */
	if (top > ENGINE_TOP_MASK) {
		t->skipped++;
		loss_count(ENGINE_LOSS_DEPTH, 1);
		return NULL;
	}
	t->top = top;
	barrier();
	f = (void *)t->frames + top;
	f->sp = cfa;
	frame_fill(t, f, key + frame_context(t, top, sp));
	return f;
}

/*
 * Open a frame, without start time, for the inlined function that WHAT (an action or a cookie) enters. If FOUND is not 0, drop
 * this open frame of the same function: its end was missed. Return NULL if no frame is free.
 */
static __always_inline struct engine_frame *range_open(struct engine_task *t, __u32 what,
						       __u32 found, __u32 sp, __u32 cfa)
{
	struct engine_frame *f;

	if (found)
		frames_miss(t, found - ENGINE_FRAME);
	f = range_reserve(t, what & ENGINE_RANGE_KEY, sp, cfa);
	if (f)
		f->calls = what & ENGINE_RANGE_CALL ? 1 : 0;
	return f;
}

/* Close the frame FOUND of an inlined function that control left at END. Drop the frames above it first. */
static __always_inline void range_close(const struct engine_cpu *cpu, struct engine_task *t,
					__u32 found, const struct engine_clock *end)
{
	struct engine_frame *f;
	struct engine_cell *c;

	if (found != t->top)
		frames_miss(t, found);
	f = frame_at(t, found);
	barrier_var(f);
	c = frame_close(cpu, t, f, end, PROFILE_UNTIMED, true, false);
	if (c && f->calls)
		__sync_fetch_and_add(&c->bodies, f->calls);
	barrier();
	t->top -= ENGINE_FRAME;
}

SEC("kprobe")
int range_enter(struct pt_regs *ctx)
{
	struct engine_task *t = this_task();
	__u32 key, cfa, found, passed;
	struct engine_range_cost *cost;
	struct engine_frame *f;
	struct engine_clock c;
	__u64 cookie, extra;

	if (!t)
		return 0;
	cookie = bpf_get_attach_cookie(ctx);
	cost = hit_cost(cookie);
	key = cookie & ENGINE_RANGE_KEY;
	cfa = hit_frame(ctx, cookie);
	found = range_find(t, key, cfa, &passed);
	if (found && !(cookie & ENGINE_RANGE_STRICT)) {
		exclude(t, cost->idle_enter + cost->per_frame * passed);
		return 0;
	}
	f = range_open(t, cookie, found, PT_REGS_SP(ctx), cfa);
	if (!f)
		return 0;
	extra = cost->per_frame * passed;
	c = clock_read(t);
	f->excluded = c.excluded + cost->open_head + extra;
	f->start = c.now;
	exclude(t, cost->open + extra);
	return 0;
}

SEC("kprobe")
int range_leave(struct pt_regs *ctx)
{
	struct engine_cpu *cpu = this_cpu();
	struct engine_task *t = cpu_task(cpu);
	struct engine_range_cost *cost;
	__u32 key, cfa, found, passed;
	struct engine_clock end;
	__u64 cookie, extra;

	if (!t)
		return 0;
	cookie = bpf_get_attach_cookie(ctx);
	cost = hit_cost(cookie);
	key = cookie & ENGINE_RANGE_KEY;
	cfa = hit_frame(ctx, cookie);
	found = range_find(t, key, cfa, &passed);
	if (!found) {
		if (cookie & ENGINE_RANGE_STRICT)
			frame_unmatched(t);
		exclude(t, cost->idle_leave + cost->per_frame * passed);
		return 0;
	}
	extra = cost->per_frame * passed;
	end = clock_read(t);
	end.excluded += cost->close_head + extra;
	range_close(cpu, t, found, &end);
	exclude(t, cost->close + extra);
	return 0;
}

SEC("kprobe")
int range_count(struct pt_regs *ctx)
{
	struct engine_task *t = this_task();
	struct engine_range_cost *cost;
	__u32 found, passed;
	__u64 cookie;

	if (!t)
		return 0;
	cookie = bpf_get_attach_cookie(ctx);
	cost = hit_cost(cookie);
	found = range_find(t, cookie & ENGINE_RANGE_KEY, hit_frame(ctx, cookie), &passed);
	if (found)
		frame_at(t, found)->calls++;
	exclude(t, cost->idle_enter + cost->per_frame * passed);
	return 0;
}

/* A hit of a probe with several actions. All actions use one reading of the clock. */
struct list_hit {
	struct engine_clock clock;
	__u64 head;
	__u32 sp, cfa;
};

static __always_inline void list_enter(struct engine_task *t, const struct list_hit *s,
				       __u32 action)
{
	__u32 key = action & ENGINE_RANGE_KEY, passed;
	__u32 found = range_find(t, key, s->cfa, &passed);
	struct engine_frame *f;

	if (found && !(action & ENGINE_RANGE_STRICT))
		return;
	f = range_open(t, action, found, s->sp, s->cfa);
	if (!f)
		return;
	f->excluded = s->clock.excluded + s->head;
	f->start = s->clock.now;
}

static __always_inline void list_leave(const struct engine_cpu *cpu, struct engine_task *t,
				       const struct list_hit *s, __u32 action)
{
	__u32 passed, found = range_find(t, action & ENGINE_RANGE_KEY, s->cfa, &passed);
	struct engine_clock end = s->clock;

	if (!found) {
		if (action & ENGINE_RANGE_STRICT)
			frame_unmatched(t);
		return;
	}
	end.excluded += s->head;
	range_close(cpu, t, found, &end);
}

static __always_inline void list_count(struct engine_task *t, const struct list_hit *s,
				       __u32 action)
{
	__u32 passed, found = range_find(t, action & ENGINE_RANGE_KEY, s->cfa, &passed);

	if (found)
		frame_at(t, found)->calls++;
}

/* Not static, so that the verifier checks the function once, not in each iteration of the loop below. */
__noinline int list_act(const struct list_hit *s, __u32 action)
{
	struct engine_cpu *cpu = this_cpu();
	struct engine_task *t = cpu_task(cpu);

	if (!s || !t)
		return 0;
	switch (action >> ENGINE_RANGE_OP & ENGINE_RANGE_OPS) {
	case ENGINE_RANGE_ENTER:
		list_enter(t, s, action);
		break;
	case ENGINE_RANGE_LEAVE:
		list_leave(cpu, t, s, action);
		break;
	case ENGINE_RANGE_COUNT:
		list_count(t, s, action);
		break;
	}
	return 0;
}

/* The time of a list of actions varies, so measure each hit. Inner functions are left first and entered last. */
SEC("kprobe")
int range_list(struct pt_regs *ctx)
{
	struct engine_cpu *cpu = this_cpu();
	struct engine_task *t = cpu_task(cpu);
	struct engine_range_list *list;
	struct engine_range_cost *cost;
	struct list_hit s;
	__u64 cookie;
	__u32 key;

	if (!t)
		return 0;
	s.clock = clock_read(t);
	cookie = bpf_get_attach_cookie(ctx);
	cost = hit_cost(cookie);
	s.head = cost->list_head;
	s.sp = PT_REGS_SP(ctx);
	s.cfa = hit_frame(ctx, cookie);
	key = cookie & ENGINE_RANGE_KEY;
	list = bpf_map_lookup_elem(&range_lists, &key);
	if (!list)
		return 0;
	for (__u32 i = 0; i < ENGINE_RANGE_ACTIONS && i < list->n; i++)
		list_act(&s, list->actions[i]);
	exclude_since(t, &s.clock, cost->list);
	return 0;
}

/* Return the four bytes at address CTX[0]. User space learns from them how the kernel reaches a probe. */
SEC("raw_tp")
int read_text(__u64 *ctx)
{
	__u32 text = 0;

	bpf_probe_read_kernel(&text, sizeof(text), (void *)ctx[0]);
	return text;
}
