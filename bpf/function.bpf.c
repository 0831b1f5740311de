// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Time functions. The same two programs, at entry and return, serve every site (timed function). A kprobe gets the site from the
 * attach cookie. For fentry, user space loads a copy of the programs per function, with the site's key in place of
 * ENGINE_PLACEHOLDER_SITE. This takes no time in a call and works without fentry cookies (before Linux 6.0).
 *
 * A return must find its own call among the open frames, despite recursion and missed returns. It compares the site and an address
 * that is unique to the call: for a kprobe, the stack pointer at entry, one word below that at return; for fentry, the context
 * pointer, which is in the trampoline's frame and the same in both programs.
 */
#include "capture.h"
#include "sample.h"

/*
 * KEY is the site's key for the first context. In a copy for fentry, KEY is an immediate operand, which the compiler loads again
 * instead of storing it on the stack.
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
	asm volatile("%0 = %1" : "=r"(key) : "i"(ENGINE_PLACEHOLDER_SITE));
	return key;
}

static __always_inline bool frame_is(const struct engine_frame *f, __u32 site, __u32 sp)
{
	return f->sp == sp && f->key - site < ENGINE_CONTEXTS;
}

/* Not inlined, so that the verifier checks the function once, not in each iteration of a loop. */
__noinline bool frame_at_is(struct engine_task *t, __u32 top, __u32 site, __u32 sp)
{
	return t && frame_is(frame_at(t, top), site, sp);
}

/* Return the top of the frame of SITE's call with stack pointer SP, searching down from TOP. Return 0 if there is none. */
static __always_inline __u32 frame_find(struct engine_task *t, __u32 top, __u32 site, __u32 sp)
{
	for (int i = 0; i < ENGINE_DEPTH && top; i++) {
		if (frame_at_is(t, top, site, sp))
			return top;
		top -= ENGINE_FRAME;
	}
	return 0;
}

static __always_inline bool same_stack(const struct engine_task *t, __u32 a, __u32 b)
{
	return on_task_stack(t, a) == on_task_stack(t, b);
}

/*
 * Return whether the call of frame F may be open while SITE is called at stack pointer SP. Stacks grow down, so a call at a lower
 * address has ended. A call on an interrupt's stack has ended if T runs on its own stack. A call at SP itself is open only if its
 * function jumped to SITE. The frame of an inlined function is one word above its function's.
 */
static __always_inline bool may_be_open(const struct engine_task *t, const struct engine_frame *f,
					__u32 site, __u32 sp)
{
	if (!same_stack(t, f->sp, sp))
		return on_task_stack(t, f->sp);
	return f->sp + sizeof(long) >= sp && !frame_is(f, site, sp);
}

/*
 * Mark frame I as dead if it cannot be open together with frame ABOVE (if ABOVE is 0: with a call of SITE at SP). Return the outer
 * of the two frames. Like frame_move(), this function is not inlined: the verifier does not know the value that it returns, and so
 * checks the surrounding loop once.
 */
__noinline __u32 frame_judge(struct engine_task *t, __u32 i, __u32 above, __u32 site, __u32 sp)
{
	const struct engine_frame *a;
	struct engine_frame *f;

	if (!t)
		return 0;
	f = &t->frames[i & (ENGINE_DEPTH - 1)];
	a = &t->frames[above & (ENGINE_DEPTH - 1)];
	if (above) {
		sp = a->sp;
		site = a->key - a->key % ENGINE_CONTEXTS;
	}
	if (!may_be_open(t, f, site, sp)) {
		frame_miss(f->key);
		f->sp = 0;
		return above;
	}
	return f->sp < sp && same_stack(t, f->sp, sp) ? above : i;
}

const volatile bool saves = false; /* save the arguments of calls that kprobes time */

SIZED_ARRAY(saved, struct engine_saved);

/* Return the saved arguments of the call at frame TOP of the running task, whose slot is SLOT. */
static __always_inline struct engine_saved *saved_at(__u32 slot, __u32 top)
{
	__u32 at = slot * ENGINE_DEPTH + top / ENGINE_FRAME;

	return bpf_map_lookup_elem(&saved, &at);
}

static __always_inline void saved_move(__u32 from, __u32 to)
{
	__u32 slot = this_cpu()->slot;
	struct engine_saved *a = saved_at(slot, from * ENGINE_FRAME),
			    *b = saved_at(slot, to * ENGINE_FRAME);

	if (a && b)
		*b = *a;
}

/* Move frame I behind frame TO, unless frame I is dead. Return the index of the last frame in use. */
__noinline __u32 frame_move(struct engine_task *t, __u32 i, __u32 to)
{
	struct engine_frame *f;

	if (!t)
		return 0;
	f = &t->frames[i & (ENGINE_DEPTH - 1)];
	if (!f->sp)
		return to;
	to = (to + 1) & (ENGINE_DEPTH - 1);
	t->frames[to] = *f;
	if (saves)
		saved_move(i & (ENGINE_DEPTH - 1), to);
	return to;
}

/*
 * Drop the frames that cannot be open while SITE is called at SP: their returns were missed. Kernel threads drop frames only here,
 * other tasks also when they return to user space. Not inlined, since it runs only if no frame is free.
 */
__noinline int frames_drop_dead(struct engine_task *t, __u32 site, __u32 sp)
{
	__u32 above = 0, to = 0;

	if (!t)
		return 0;
	for (__u32 i = ENGINE_DEPTH - 1; i > 0; i--)
		above = frame_judge(t, i, above, site, sp);
	for (__u32 i = 1; i < ENGINE_DEPTH; i++)
		to = frame_move(t, i, to);
	t->top = to * ENGINE_FRAME;
	return 0;
}

/* Free a frame for a call of SITE at SP. Return false if none can be freed. Not inlined, since it runs rarely. */
__noinline bool frames_reclaim(struct engine_task *t, __u32 site, __u32 sp)
{
	if (!t)
		return false;
	frames_drop_dead(t, site, sp);
	if (t->top < ENGINE_TOP_MASK)
		return true;
	__sync_fetch_and_add(&t->entered, 1); /* atomic: a probe in an interrupt may add, too */
	t->skipped++;
	loss_count(ENGINE_LOSS_DEPTH, 1);
	return false;
}

static __always_inline void arguments_save(__u32 slot, __u32 top, struct pt_regs *regs)
{
	struct engine_saved *s = saved_at(slot, top);

	if (!s)
		return;
	s->args[0] = PT_REGS_PARM1(regs);
	s->args[1] = PT_REGS_PARM2(regs);
	s->args[2] = PT_REGS_PARM3(regs);
	s->args[3] = PT_REGS_PARM4(regs);
	s->args[4] = PT_REGS_PARM5(regs);
	s->args[5] = regs->r9;
}

/* Open a frame for a call of SITE. Save the arguments in REGS, unless REGS is NULL. */
static __always_inline void function_enter(struct site site, __u32 sp, struct pt_regs *regs,
					   bool counted)
{
	struct engine_cpu *cpu = this_cpu();
	struct engine_task *t = cpu_task(cpu);
	struct engine_frame *f;
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
	if (regs)
		arguments_save(cpu->slot, top, regs);
	ctx = frame_context(t, top, sp);
	f = (void *)t->frames + top;
	f->sp = sp;
	frame_open(t, f, site_key(site) + ctx, counted);
}

/*
 * While interrupts are off, the sampler's interrupt waits, and later samples the code that turns interrupts on. If the sample was
 * due in a timed function, take it at the function's return, so that it shows where interrupts were off.
 */
static __noinline int sample_due(void *ctx, struct engine_cpu *cpu, struct engine_task *t,
				 __u32 site)
{
	struct engine_clock start;

	if (!cpu || !t)
		return 0;
	start = clock_read(t);
	cpu->taken = 1;
	sample_stack(ctx, BUFFER_PROBE, t->ctx, ENGINE_SAMPLE_AT_RETURN, site / ENGINE_CONTEXTS, 0);
	exclude_since(t, &start, 0);
	return 0;
}

static __always_inline bool is_sample_due(const struct engine_cpu *cpu,
					  const struct engine_frame *f, __u64 now)
{
	return now > cpu->overdue && cpu->due >= f->start && !cpu->taken;
}

/*
 * Find the frame of a return that does not match the innermost frame, and drop the frames above it. Return whether a frame was
 * found. Not inlined, since it runs only after a missed return.
 */
__noinline bool frame_seek(struct engine_task *t, __u32 site, __u32 sp)
{
	__u32 top, found;

	if (!t)
		return false;
	top = t->top;
	found = frame_find(t, top, site, sp);
	if (found) {
		frames_miss(t, found);
		return true;
	}
	frame_unmatched(t);
	return false;
}

/*
 * Record the values of the call of frame F, which ended at END. FULL is the probes' cost. The values come from the arguments, in
 * fentry's context or saved by a kprobe. In each copy of the program, user space replaces the placeholder by code that fills
 * CALL and hashes it (record/probe/capture_code.h). Recording takes a varying time: exclude the time until its end as measured,
 * and the time after its end as a constant from COSTS.
 */
static __always_inline void capture_close(void *ctx, struct engine_cpu *cpu, struct engine_task *t,
					  const struct engine_frame *f,
					  const struct engine_clock *end,
					  enum profile_mechanism mech, __u64 full)
{
	struct engine_reading reading;
	struct engine_call *call = &reading.call;
	register void *from asm("r6") = ctx;
	register struct engine_reading *to asm("r7") = &reading;
	register __u64 hash asm("r8");

	if (mech != PROFILE_MECH_FENTRY) {
		struct engine_saved *s = saved_at(cpu->slot, t->top);

		if (!s)
			return;
		s->ret = PT_REGS_RC((struct pt_regs *)ctx);
		from = s;
	}
	call->net = cost_less(end->now - f->start - (end->excluded - f->excluded), mech);
	call->key = f->key;
	asm volatile("%0 = %3"
		     : "=r"(hash), "+r"(from), "+r"(to)
		     : "i"(ENGINE_PLACEHOLDER_CAPTURE)
		     : "r0", "r1", "r2", "r3", "r4", "r5", "r9", "memory");
	capture(t, call, hash);
	mech = mech == PROFILE_MECH_FENTRY ? PROFILE_COSTS_CAPTURE : PROFILE_COSTS_CAPTURE_KPROBE;
	__sync_fetch_and_add(&cpu->captured,
			     exclude_since(t, end, full + costs[mech].after_handlers) - full);
}

static __always_inline void function_return(void *ctx, struct site site, __u32 sp,
					    enum profile_mechanism mech, bool capture, bool counted)
{
	struct engine_cpu *cpu = this_cpu();
	struct engine_task *t = cpu_task(cpu);
	struct engine_clock end;
	struct engine_frame *f;

	if (!t)
		return;
	end = clock_read(t);
	/* frames[0] is the context's frame, not a function's. */
	f = frame_at(t, t->top);
	if (!frame_is(f, site_key(site), sp)) {
		if (!frame_seek(t, site_key(site), sp))
			return;
		f = frame_at(t, t->top);
	}
	barrier_var(f);
	if (is_sample_due(cpu, f, end.now))
		sample_due(ctx, cpu, t, site_key(site));
	frame_close(cpu, t, f, &end, mech, true, counted);
	if (capture)
		capture_close(ctx, cpu, t, f, &end, mech, cost_full(mech));
	else
		exclude(t, cost_full(mech));
	/* Another function jumped to this function. Both share a return trampoline, and the other's return is next. */
	if (mech != PROFILE_MECH_FENTRY && f[-1].sp == f->sp) {
		exclude(t, -costs[mech].trampoline - costs[mech].after_handlers);
		t->flags |= ENGINE_TASK_TAIL;
	} else if (mech != PROFILE_MECH_FENTRY && t->flags & ENGINE_TASK_TAIL) {
		/* After this handler, the kernel also does the previous return's work. */
		exclude(t, costs[mech].after_handlers);
		t->flags &= ~ENGINE_TASK_TAIL;
	}
	barrier();
	t->top -= ENGINE_FRAME;
}

static const struct site of_copy = { .copy = true };

static __always_inline void kretprobe(struct pt_regs *ctx, enum profile_mechanism mech,
				      bool capture)
{
	struct site site = { .key = bpf_get_attach_cookie(ctx) };

	function_return(ctx, site, PT_REGS_SP(ctx) - sizeof(long), mech, capture, false);
}

/* Programs of section "save" are loaded when needed (record/engine/saved_programs.h), unlike those of kprobe.multi below. */
#define SAVED(name, type, does) PROGRAM("save", name, type, does)
#define FENTRY(name, counted) \
	SAVED(name, void, function_enter(of_copy, stack_address(ctx), NULL, counted))
#define FEXIT(name, capture, counted)                                                         \
	SAVED(name, void,                                                                     \
	      function_return(ctx, of_copy, stack_address(ctx), PROFILE_MECH_FENTRY, capture, \
			      counted))
#define KPROBE(name, capture)                                                                     \
	SAVED(name, struct pt_regs,                                                               \
	      function_enter((struct site){ .key = bpf_get_attach_cookie(ctx) }, PT_REGS_SP(ctx), \
			     capture, false))
#define KRETPROBE(name, mech, capture) SAVED(name, struct pt_regs, kretprobe(ctx, mech, capture))

/* Variants: _capture records values of each call, _counted counts events. */
FENTRY(function_fentry, false)
FEXIT(function_fexit, false, false)
FEXIT(function_fexit_capture, true, false)
FENTRY(function_fentry_counted, true)
FEXIT(function_fexit_counted, false, true)

/* The kernel calls the entry probe by ftrace; in variants by a jump (_optimized) or a breakpoint (_int3). */
KPROBE(function_kprobe, NULL)
KRETPROBE(function_kretprobe, PROFILE_MECH_KPROBE, false)
KRETPROBE(function_kretprobe_optimized, PROFILE_MECH_KPROBE_OPTIMIZED, false)
KRETPROBE(function_kretprobe_int3, PROFILE_MECH_KPROBE_INT3, false)
KPROBE(function_kprobe_capture, ctx)
KRETPROBE(function_kretprobe_capture, PROFILE_MECH_KPROBE, true)
KRETPROBE(function_kretprobe_capture_optimized, PROFILE_MECH_KPROBE_OPTIMIZED, true)
KRETPROBE(function_kretprobe_capture_int3, PROFILE_MECH_KPROBE_INT3, true)

/*
 * kprobe.multi: two programs serve all functions of a link. The kernel would find a function's cookie by a binary search, slower
 * for more functions. So use a hash table keyed by the low half of the function's address, which is unique.
 */
const volatile __u64 multi_sp __weak = 0; /* member sp of struct record_multi_behaviour */
const volatile __u32 multi_mask __weak = 0;
__u64 multi_factor __weak = 0;

SIZED_ARRAY(multi_sites, struct engine_multi);

/* Return the table entry of the function whose probe fired, or NULL. */
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
		function_enter((struct site){ .key = ENGINE_KEY(m->site, 0) }, PT_REGS_SP(ctx),
			       NULL, false);
	return 0;
}

/* For each cookie: number of calls by followed tasks (record/cost/measure.c). */
__u64 counted[ENGINE_COUNTED] = {};

SEC("kprobe")
int function_count(struct pt_regs *ctx)
{
	__u64 i = bpf_get_attach_cookie(ctx);

	if (i < ENGINE_COUNTED && this_cpu()->slot)
		__sync_fetch_and_add(&counted[i], 1);
	return 0;
}

SEC("kretprobe.multi")
int function_ret_multi(struct pt_regs *ctx)
{
	const struct engine_multi *m = multi_site(ctx);
	struct site site = {};

	if (!m)
		return 0;
	site.key = ENGINE_KEY(m->site, 0);
	function_return(ctx, site, PT_REGS_SP(ctx) - multi_sp, PROFILE_MECH_MULTI, false, false);
	return 0;
}
