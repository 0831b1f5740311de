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

/* Calibrated, in ticks: see docs/accounting.md. */
__u64 fentry_inner __weak = 0, fentry_full __weak = 0;
__u64 kprobe_inner __weak = 0, kprobe_full __weak = 0;

static __always_inline void function_enter(void *ctx, __u32 site, __u64 sp)
{
	struct engine_task *t = this_task();
	__u32 depth;

	if (!t)
		return;
	depth = t->depth;
	if (depth >= ENGINE_DEPTH) {
		t->skipped++;
		loss_count(ENGINE_LOSS_DEPTH, 1);
		return;
	}
	t->depth = depth + 1;
	barrier();
	frame_open(t, &t->frames[depth & (ENGINE_DEPTH - 1)], site,
		   in_interrupt(ctx) ? ENGINE_CTX_IRQ : t->ctx, sp);
}

static __always_inline bool frame_is(const struct engine_frame *f, __u32 site, __u64 sp)
{
	return f->sp == sp && f->site == site;
}

/*
 * The depth at which the call of SITE with that SP lies, searched downwards from TOP; 0: nowhere.
 * Not inlined: it runs only where something was missed.
 */
static __noinline __u32 frame_find(struct engine_task *t, __u32 top, __u32 site, __u64 sp)
{
	if (!t)
		return 0;
	for (__u32 i = 0; i < ENGINE_DEPTH; i++) {
		__u32 depth = top - i;

		if (i >= top)
			return 0;
		barrier_var(depth); /* or the mask is optimized away, and the verifier lost */
		depth &= ENGINE_DEPTH - 1;
		if (frame_is(&t->frames[depth], site, sp))
			return depth;
	}
	return 0;
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
	sample_stack(ctx, BUFFER_PROBE, t->ctx, ENGINE_SAMPLE_AT_RETURN, site);
	t->cost += bpf_ktime_get_ns() - start;
	return 0;
}

static __always_inline bool is_sample_due(const struct engine_cpu *cpu,
					  const struct engine_frame *f, __u64 now)
{
	__u64 due = cpu->due;

	return now > due + ENGINE_PENDING_NS && due >= f->start && !cpu->taken;
}

static __always_inline void function_return(void *ctx, __u32 site, __u64 sp, __u64 inner,
					    __u64 full)
{
	struct engine_cpu *cpu = this_cpu();
	struct engine_task *t = cpu_task(cpu);
	struct engine_clock end;
	struct engine_frame *f;
	__u32 depth;

	if (!t || !cpu)
		return;
	end = clock_read(t);
	depth = (t->depth - 1) & (ENGINE_DEPTH - 1);
	f = &t->frames[depth];
	if (depth == 0 || !frame_is(f, site, sp)) {
		__u32 found = depth ? frame_find(t, depth, site, sp) : 0;

		if (!found) {
			if (t->skipped)
				t->skipped--;
			else
				loss_count(t->flags & ENGINE_TASK_FRESH ?
						   ENGINE_INFO_OPEN_AT_START :
						   ENGINE_LOSS_NO_ENTRY,
					   1);
			return;
		}
		loss_count(ENGINE_LOSS_NO_RETURN, depth - found);
		depth = found & (ENGINE_DEPTH - 1);
		f = &t->frames[depth];
	}
	frame_close(f, &t->frames[(depth - 1) & (ENGINE_DEPTH - 1)], &end, inner);
	t->cost += full;
	if (is_sample_due(cpu, f, end.now))
		sample_due(ctx, cpu, t, site);
	barrier();
	t->depth = depth;
}

static __always_inline __u32 site_of_copy(void)
{
	__u32 site;

	asm volatile("%0 = %1" : "=r"(site) : "i"(SITE_PLACEHOLDER));
	return site;
}

SEC("fentry/bpf_fentry_test1")
int function_fentry(void *ctx)
{
	function_enter(ctx, site_of_copy(), stack_address(ctx));
	return 0;
}

SEC("fexit/bpf_fentry_test1")
int function_fexit(void *ctx)
{
	function_return(ctx, site_of_copy(), stack_address(ctx), fentry_inner, fentry_full);
	return 0;
}

SEC("kprobe")
int function_kprobe(struct pt_regs *ctx)
{
	function_enter(ctx, bpf_get_attach_cookie(ctx), PT_REGS_SP(ctx));
	return 0;
}

SEC("kretprobe")
int function_kretprobe(struct pt_regs *ctx)
{
	function_return(ctx, bpf_get_attach_cookie(ctx), PT_REGS_SP(ctx) - sizeof(long),
			kprobe_inner, kprobe_full);
	return 0;
}

/*
 * kprobe.multi: one pair for all functions of a link. The kernel finds a function's cookie by a
 * binary search in the link, so that a probe would cost the more the more functions there are; ours
 * is a hash table by the low half of the function's address, which its neighbours do not share.
 */
__u64 multi_inner __weak = 0, multi_full __weak = 0;
const volatile __u64 multi_sp __weak = 0; /* see record/multi.h */
const volatile __u32 multi_mask __weak = 0;
__u64 multi_factor __weak = 0;

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct engine_multi);
} multi_sites SEC(".maps");

static __always_inline __u32 multi_site(void *ctx)
{
	__u32 addr = bpf_get_func_ip(ctx), slot = engine_multi_slot(addr, multi_factor);

	for (int i = 0; i < ENGINE_MULTI_PROBES; i++, slot++) {
		__u32 key = slot & multi_mask;
		struct engine_multi *m = bpf_map_lookup_elem(&multi_sites, &key);

		if (!m)
			break;
		if (m->addr == addr)
			return m->site;
	}
	return 0;
}

SEC("kprobe.multi")
int function_multi(struct pt_regs *ctx)
{
	__u32 site = multi_site(ctx);

	if (site)
		function_enter(ctx, site, PT_REGS_SP(ctx));
	return 0;
}

SEC("kretprobe.multi")
int function_ret_multi(struct pt_regs *ctx)
{
	__u32 site = multi_site(ctx);

	if (site)
		function_return(ctx, site, PT_REGS_SP(ctx) - multi_sp, multi_inner, multi_full);
	return 0;
}
