// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Function sites. One pair of programs serves every site: a kprobe knows its site by the attach
 * cookie, and user space loads a copy of the fentry pair for each function with the site's number
 * written into it in place of SITE_PLACEHOLDER, which costs nothing at run time and works on
 * kernels without cookies for fentry (before 6.0).
 *
 * A return must find its own call among the open frames, recursion and missed returns
 * notwithstanding. Besides the site it matches an address that only this call has: under kprobe
 * the stack pointer (at return one word above that at entry, the return address being gone), under
 * fentry the context, which both programs of a call find in the one frame of the trampoline.
 */
#include "sample.h"

#define SITE_PLACEHOLDER 0x5173c0de

/*
 * A site is known by the key of its first context. In a copy it is an instruction, which is repeated
 * where it is needed rather than kept.
 */
struct site {
	bool copy;
	__u32 key;
};

static __always_inline __u32 site_key(struct site site)
{
	__u32 key;

	if (!site.copy)
		return site.key;
	asm volatile("%0 = %1" : "=r"(key) : "i"(SITE_PLACEHOLDER));
	return key;
}

/* Calibrated, in ticks: see docs/accounting.md. */
__u64 fentry_nested __weak = 0, fentry_half __weak = 0;
__u64 return_trip __weak = 0, return_rest __weak = 0;
__u64 kprobe_inner __weak = 0, kprobe_full __weak = 0, kprobe_nested __weak = 0;
__u64 kprobe_half __weak = 0, multi_half __weak = 0;
__u64 optimized_inner __weak = 0, optimized_full __weak = 0, optimized_half __weak = 0;
__u64 int3_inner __weak = 0, int3_full __weak = 0, int3_half __weak = 0;

static __always_inline bool frame_is(const struct engine_frame *f, __u32 site, __u32 sp)
{
	return f->sp == sp && f->key - site < ENGINE_CONTEXTS;
}

/* Not inlined: a loop's body is verified at every turn. */
__noinline bool frame_at_is(struct engine_task *t, __u32 top, __u32 site, __u32 sp)
{
	return t && frame_is(frame_at(t, top), site, sp);
}

/* Where the call of SITE with that SP lies, searched downwards from TOP; 0: nowhere. */
static __always_inline __u32 frame_find(struct engine_task *t, __u32 top, __u32 site, __u32 sp)
{
	for (int i = 0; i < ENGINE_DEPTH && top; i++) {
		if (frame_at_is(t, top, site, sp))
			return top;
		top -= ENGINE_FRAME;
	}
	return 0;
}

/*
 * Makes room for a call of SITE. One with its stack pointer cannot be open still: it and those above
 * it were left open by returns that were missed. Not inlined: it runs only where no frame is free.
 */
__noinline bool frames_reclaim(struct engine_task *t, __u32 site, __u32 sp)
{
	__u32 found;

	if (!t)
		return false;
	found = frame_find(t, t->top, site, sp);
	if (!found) {
		__sync_fetch_and_add(&t->entered, 1); /* an interrupt may come in between */
		t->skipped++;
		loss_count(ENGINE_LOSS_DEPTH, 1);
		return false;
	}
	frames_miss(t, found - ENGINE_FRAME);
	return true;
}

static __always_inline void function_enter(struct site site, __u32 sp)
{
	struct engine_task *t = this_task();
	__u32 top, ctx;

	if (!t)
		return;
	top = t->top + ENGINE_FRAME;
	if (top > ENGINE_TOP_MASK) {
		if (!frames_reclaim(t, site_key(site), sp))
			return;
		top = (t->top + ENGINE_FRAME) & ENGINE_TOP_MASK;
	}
	t->top = top;
	barrier();
	ctx = frame_context(t, top, sp);
	frame_open(t, (void *)t->frames + top, site_key(site) + ctx, sp);
}

/*
 * Where interrupts are off, the sampler's comes when they are on again, and the time goes to whoever
 * turned them on. A timed function inside which the sample fell due gets it here, at its return,
 * with the stack it had: what the kernel does with interrupts off shows where it is done.
 */
static __noinline int sample_due(void *ctx, struct engine_cpu *cpu, struct engine_task *t,
				 __u32 site)
{
	__u64 start = bpf_ktime_get_ns();

	if (!cpu || !t)
		return 0;
	cpu->taken = 1;
	sample_stack(ctx, BUFFER_PROBE, t->ctx, ENGINE_SAMPLE_AT_RETURN, site / ENGINE_CONTEXTS);
	set_aside(t, bpf_ktime_get_ns() - start);
	return 0;
}

static __always_inline bool is_sample_due(const struct engine_cpu *cpu,
					  const struct engine_frame *f, __u64 now)
{
	return now > cpu->overdue && cpu->due >= f->start && !cpu->taken;
}

/*
 * The frame of a return that is not the innermost's becomes it; false: it has none. Not inlined, and
 * so with the search in it: it runs only where something was missed.
 */
__noinline bool frame_seek(struct engine_task *t, __u32 site, __u32 sp)
{
	__u32 top, found;

	if (!t)
		return false;
	if (site_state(site) == ENGINE_SITE_DETACHED)
		return false;
	top = t->top;
	found = frame_find(t, top, site, sp);
	if (found) {
		frames_miss(t, found);
		return true;
	}
	if (t->skipped)
		t->skipped--;
	else
		loss_count(t->flags & ENGINE_TASK_FRESH ? ENGINE_INFO_OPEN_AT_START :
							  ENGINE_LOSS_NO_ENTRY,
			   1);
	return false;
}

static __always_inline void function_return(void *ctx, struct site site, __u32 sp,
					    struct probe_cost cost)
{
	struct engine_cpu *cpu = this_cpu();
	struct engine_task *t = cpu_task(cpu);
	struct engine_clock end;
	struct engine_frame *f;

	if (!t)
		return;
	end = clock_read(t);
	/* The context's frame is none of a function's, so that frames[0] never is it. */
	f = frame_at(t, t->top);
	if (!frame_is(f, site_key(site), sp)) {
		if (!frame_seek(t, site_key(site), sp)) {
			if (site_state(site_key(site)) == ENGINE_SITE_DETACHED)
				set_aside(t, *cost.half);
			return;
		}
		f = frame_at(t, t->top);
	}
	barrier_var(f);
	if (is_sample_due(cpu, f, end.now))
		sample_due(ctx, cpu, t, site_key(site));
	frame_close(cpu, t, f, &end, cost);
	if (path_mask && f->calls & 1)
		path_close(t, end.now - f->start, end.aside - f->aside);
	set_aside(t, cost_full(cost.full) + cost.extra);
	/* A function that ends in a jump to another leaves it its return address. */
	if (cost.trip && f[-1].sp == f->sp) {
		set_aside(t, -*cost.trip - return_rest);
		t->flags |= ENGINE_TASK_TAIL;
	} else if (cost.trip && t->flags & ENGINE_TASK_TAIL) {
		/* The other's share of what the kernel does after both is not in this call. */
		set_aside(t, return_rest);
		t->flags &= ~ENGINE_TASK_TAIL;
	}
	barrier();
	t->top -= ENGINE_FRAME;
}

static const struct site of_copy = { .copy = true };

SEC("fentry/bpf_fentry_test1")
int function_fentry(void *ctx)
{
	function_enter(of_copy, stack_address(ctx));
	return 0;
}

SEC("fexit/bpf_fentry_test1")
int function_fexit(void *ctx)
{
	struct probe_cost cost = { .nested = &fentry_nested, .half = &fentry_half };

	function_return(ctx, of_copy, stack_address(ctx), cost);
	return 0;
}

SEC("kprobe")
int function_kprobe(struct pt_regs *ctx)
{
	struct site site = { .key = bpf_get_attach_cookie(ctx) };

	function_enter(site, PT_REGS_SP(ctx));
	return 0;
}

static __always_inline int kretprobe(struct pt_regs *ctx, const volatile __u64 *inner,
				     const volatile __u64 *full, const volatile __u64 *half)
{
	__u64 cookie = bpf_get_attach_cookie(ctx);
	struct site site = { .key = cookie };
	struct probe_cost cost = { inner, full, &kprobe_nested, &return_trip, half, cookie >> 32 };

	function_return(ctx, site, PT_REGS_SP(ctx) - sizeof(long), cost);
	return 0;
}

/* By how the kernel reaches the entry's probe: ftrace, a jump, or a breakpoint. */
SEC("kretprobe")
int function_kretprobe(struct pt_regs *ctx)
{
	return kretprobe(ctx, &kprobe_inner, &kprobe_full, &kprobe_half);
}

SEC("kretprobe")
int function_kretprobe_optimized(struct pt_regs *ctx)
{
	return kretprobe(ctx, &optimized_inner, &optimized_full, &optimized_half);
}

SEC("kretprobe")
int function_kretprobe_int3(struct pt_regs *ctx)
{
	return kretprobe(ctx, &int3_inner, &int3_full, &int3_half);
}

/*
 * kprobe.multi: one pair for all functions of a link. The kernel finds a function's cookie by a
 * binary search in the link, so that a probe would cost the more the more functions there are; ours
 * is a hash table by the low half of the function's address, which its neighbours do not share.
 */
__u64 multi_inner __weak = 0, multi_full __weak = 0, multi_nested __weak = 0;
const volatile __u64 multi_sp __weak = 0; /* see record/multi.h */
const volatile __u32 multi_mask __weak = 0;
__u64 multi_factor __weak = 0;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct engine_multi);
} multi_sites SEC(".maps");

/* The site of the function that is hit; NULL: none of ours. */
static __always_inline const struct engine_multi *multi_site(void *ctx)
{
	__u32 addr = bpf_get_func_ip(ctx), slot = engine_multi_slot(addr, multi_factor);

	for (int i = 0; i < ENGINE_MULTI_PROBES; i++, slot++) {
		__u32 key = slot & multi_mask;
		struct engine_multi *m = bpf_map_lookup_elem(&multi_sites, &key);

		if (!m)
			break;
		if (m->addr == addr)
			return m;
	}
	return NULL;
}

SEC("kprobe.multi")
int function_multi(struct pt_regs *ctx)
{
	const struct engine_multi *m = multi_site(ctx);

	if (m)
		function_enter((struct site){ .key = ENGINE_KEY(m->site, 0) }, PT_REGS_SP(ctx));
	return 0;
}

SEC("kretprobe.multi")
int function_ret_multi(struct pt_regs *ctx)
{
	const struct engine_multi *m = multi_site(ctx);
	struct probe_cost cost = { &multi_inner, &multi_full, &multi_nested,
				   &return_trip, &multi_half, 0 };
	struct site site = {};

	if (!m)
		return 0;
	site.key = ENGINE_KEY(m->site, 0);
	cost.extra = m->extra;
	function_return(ctx, site, PT_REGS_SP(ctx) - multi_sp, cost);
	return 0;
}
