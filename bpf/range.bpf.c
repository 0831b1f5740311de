// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Range sites: inlined bodies. A probe on the target of each edge that leads into the body opens a
 * frame, if none is open; one on each that leads out of it closes it. Most targets are reached from
 * the other side too, by a loop say, and then there is nothing to do.
 *
 * A frame belongs to a call of the function around the body. Which one, recursion notwithstanding,
 * tells its canonical frame address: the stack pointer before the call, which is the same at every
 * instruction of the function. How far it lies from the registers is known of each address, and is in
 * the probe's cookie. So a body is entered exactly if there is a frame of this site with this address.
 *
 * Where control comes from one side only, as an exact flow graph may tell (STRICT), finding the frame
 * open or not as it must not be shows that a probe was missed.
 */
#include "engine.h"

struct engine_range_cost range_costs[ENGINE_RANGE_KINDS] __weak = {};

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(map_flags, BPF_F_MMAPABLE);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct engine_range_list);
} range_lists SEC(".maps");

static const __u64 nothing = 0;

static __always_inline struct engine_range_cost *hit_cost(__u64 cookie)
{
	return &range_costs[cookie >> ENGINE_RANGE_KIND & (ENGINE_RANGE_KINDS - 1)];
}

/* What the hit cost here beyond what is calibrated: until the program ran, and in all. */
static __always_inline __u64 hit_extra_head(__u64 cookie)
{
	return cookie >> ENGINE_RANGE_EXTRA & ENGINE_RANGE_EXTRA_MAX;
}

static __always_inline __u64 hit_extra(__u64 cookie)
{
	return hit_extra_head(cookie) + (cookie >> ENGINE_RANGE_TAIL);
}

/* The canonical frame address of the function that was hit, the low half of it. */
static __always_inline __u32 hit_frame(struct pt_regs *ctx, __u64 cookie)
{
	__u32 words = cookie >> ENGINE_RANGE_FRAME & 0xffff;

	if (words & ENGINE_RANGE_FRAME_FP)
		return PT_REGS_FP(ctx) + (words & ~ENGINE_RANGE_FRAME_FP) * sizeof(long);
	return PT_REGS_SP(ctx) + words * sizeof(long);
}

/*
 * Drops frames of calls that are over, as the stack pointer tells: their ends were missed. The frame of
 * the function itself may lie a word below CFA. Not inlined: it runs only where something was missed.
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
 * Where the frame of KEY at CFA lies; 0: nowhere. *HOPS: how many of other bodies in the same call were
 * looked at before. Those of one call lie together; below them is the function's own, if it is timed, or
 * a caller's. The context's, at 0, is at no address.
 */
static __always_inline __u32 range_find(struct engine_task *t, __u32 key, __u32 cfa, __u32 *hops)
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
	*hops = i;
	return top;
}

/* Reserves a frame for the site KEY, and fills it but for its start; NULL: none is free. */
static __always_inline struct engine_frame *range_reserve(struct engine_task *t, __u32 key,
							  __u32 sp, __u32 cfa)
{
	struct engine_frame *f;
	__u32 top = t->top;

	top += ENGINE_FRAME;
	__sync_fetch_and_add(&t->entered, 1); /* an interrupt may come in between */
	if (top > ENGINE_TOP_MASK) {
		t->skipped++;
		loss_count(ENGINE_LOSS_DEPTH, 1);
		return NULL;
	}
	t->top = top;
	barrier();
	f = (void *)t->frames + top;
	frame_fill(t, f, key + frame_context(t, top, sp), cfa);
	return f;
}

/*
 * Opens what WHAT (an action, or a cookie) enters, but for its start; FOUND: its frame, which is open only if
 * its end was missed. NULL: no frame is free.
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

/* The frame of an excursion that is over is the innermost, or becomes it. */
static __always_inline void range_close(const struct engine_cpu *cpu, struct engine_task *t,
					__u32 found, const struct engine_clock *end)
{
	struct probe_cost cost = { .inner = &nothing, .nested = &nothing };
	struct engine_frame *f;
	struct engine_cell *c;

	if (found != t->top)
		frames_miss(t, found);
	f = frame_at(t, found);
	barrier_var(f);
	c = frame_close(cpu, t, f, end, cost);
	if (c && f->calls)
		__sync_fetch_and_add(&c->bodies, f->calls);
	barrier();
	t->top -= ENGINE_FRAME;
}

/* Left without having been entered. Not inlined: it runs only where something was missed. */
__noinline int range_unentered(struct engine_task *t)
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

SEC("kprobe")
int range_enter(struct pt_regs *ctx)
{
	struct engine_task *t = this_task();
	__u32 key, cfa, found, hops;
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
	found = range_find(t, key, cfa, &hops);
	if (found && !(cookie & ENGINE_RANGE_STRICT)) {
		set_aside(t, cost->idle_enter + cost->hop * hops + hit_extra(cookie));
		return 0;
	}
	f = range_open(t, cookie, found, PT_REGS_SP(ctx), cfa);
	if (!f)
		return 0;
	extra = cost->hop * hops;
	c = clock_read(t);
	f->aside = c.aside + cost->open_head + extra + hit_extra_head(cookie);
	f->start = c.now;
	set_aside(t, cost->open + extra + hit_extra(cookie));
	return 0;
}

SEC("kprobe")
int range_leave(struct pt_regs *ctx)
{
	struct engine_cpu *cpu = this_cpu();
	struct engine_task *t = cpu_task(cpu);
	struct engine_range_cost *cost;
	__u32 key, cfa, found, hops;
	struct engine_clock end;
	__u64 cookie, extra;

	if (!t)
		return 0;
	cookie = bpf_get_attach_cookie(ctx);
	cost = hit_cost(cookie);
	key = cookie & ENGINE_RANGE_KEY;
	cfa = hit_frame(ctx, cookie);
	found = range_find(t, key, cfa, &hops);
	if (!found) {
		if (cookie & ENGINE_RANGE_STRICT)
			range_unentered(t);
		set_aside(t, cost->idle_leave + cost->hop * hops + hit_extra(cookie));
		return 0;
	}
	extra = cost->hop * hops;
	end = clock_read(t);
	end.aside += cost->close_head + extra + hit_extra_head(cookie);
	range_close(cpu, t, found, &end);
	set_aside(t, cost->close + extra + hit_extra(cookie));
	return 0;
}

SEC("kprobe")
int range_count(struct pt_regs *ctx)
{
	struct engine_task *t = this_task();
	struct engine_range_cost *cost;
	__u32 found, hops;
	__u64 cookie;

	if (!t)
		return 0;
	cookie = bpf_get_attach_cookie(ctx);
	cost = hit_cost(cookie);
	found = range_find(t, cookie & ENGINE_RANGE_KEY, hit_frame(ctx, cookie), &hops);
	if (found)
		frame_at(t, found)->calls++;
	set_aside(t, cost->idle_enter + cost->hop * hops + hit_extra(cookie));
	return 0;
}

/* What all actions of a list have in common: one reading of the clock, and the place. */
struct several {
	struct engine_clock clock;
	__u64 head;
	__u32 sp, cfa;
};

static __always_inline void several_enter(struct engine_task *t, const struct several *s,
					  __u32 action)
{
	__u32 key = action & ENGINE_RANGE_KEY, hops;
	__u32 found = range_find(t, key, s->cfa, &hops);
	struct engine_frame *f;

	if (found && !(action & ENGINE_RANGE_STRICT))
		return;
	f = range_open(t, action, found, s->sp, s->cfa);
	if (!f)
		return;
	f->aside = s->clock.aside + s->head;
	f->start = s->clock.now;
}

static __always_inline void several_leave(const struct engine_cpu *cpu, struct engine_task *t,
					  const struct several *s, __u32 action)
{
	__u32 hops, found = range_find(t, action & ENGINE_RANGE_KEY, s->cfa, &hops);
	struct engine_clock end = s->clock;

	if (!found) {
		if (action & ENGINE_RANGE_STRICT)
			range_unentered(t);
		return;
	}
	end.aside += s->head;
	range_close(cpu, t, found, &end);
}

static __always_inline void several_count(struct engine_task *t, const struct several *s,
					  __u32 action)
{
	__u32 hops, found = range_find(t, action & ENGINE_RANGE_KEY, s->cfa, &hops);

	if (found)
		frame_at(t, found)->calls++;
}

/* Not static, so that the verifier goes through it once and not once for each turn of the loop below. */
__noinline int several_act(const struct several *s, __u32 action)
{
	struct engine_cpu *cpu = this_cpu();
	struct engine_task *t = cpu_task(cpu);

	if (!s || !t)
		return 0;
	switch (action >> ENGINE_RANGE_OP) {
	case ENGINE_RANGE_ENTER:
		several_enter(t, s, action);
		break;
	case ENGINE_RANGE_LEAVE:
		several_leave(cpu, t, s, action);
		break;
	case ENGINE_RANGE_COUNT:
		several_count(t, s, action);
		break;
	}
	return 0;
}

/*
 * What this does differs from hit to hit, so it times itself. The actions' order is that of the bodies: the
 * inner ones are left first and entered last.
 */
SEC("kprobe")
int range_several(struct pt_regs *ctx)
{
	struct engine_task *t = this_task();
	struct engine_range_list *list;
	struct engine_range_cost *cost;
	struct several s;
	__u64 cookie;
	__u32 key;

	if (!t)
		return 0;
	s.clock = clock_read(t);
	cookie = bpf_get_attach_cookie(ctx);
	cost = hit_cost(cookie);
	s.head = cost->several_head + hit_extra_head(cookie);
	s.sp = PT_REGS_SP(ctx);
	s.cfa = hit_frame(ctx, cookie);
	key = cookie & ENGINE_RANGE_KEY;
	list = bpf_map_lookup_elem(&range_lists, &key);
	if (!list)
		return 0;
	for (__u32 i = 0; i < ENGINE_RANGE_ACTIONS && i < list->n; i++)
		several_act(&s, list->actions[i]);
	set_aside(t, cost->several + hit_extra(cookie) + (bpf_ktime_get_ns() - s.clock.now));
	return 0;
}
