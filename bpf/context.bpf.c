// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Contexts: the syscall a task is in, or the page fault it took in user space. Each is the bottom frame
 * of the task's stack of frames, timed like a function.
 */
#include "engine.h"

#define TS_COMPAT   0x0002
#define X32_SYSCALL 0x40000000
#define MAX_ERRNO   4095
#define HASH_FACTOR 0x9e3779b1u /* 2^32 / golden ratio, of Knuth's multiplicative hashing */

static __always_inline __u32 syscall_context(long nr)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();

	if ((unsigned long)nr >= ENGINE_SYSCALLS)
		return ENGINE_CTX_OTHER;
	if (task->thread_info.status & TS_COMPAT)
		return ENGINE_CTX_COMPAT + nr;
	return nr;
}

static __always_inline int sys_enter(long nr, bool some)
{
	struct engine_cpu *cpu = this_cpu();
	struct engine_task *t;

	if (some && cpu->resting) {
		if (is_left_out(syscall_context(nr)))
			return 0;
		cpu->slot = cpu->resting;
		cpu->resting = 0;
	}
	t = cpu_task(cpu);
	if (!t) {
		if (!(root_pid && task_follow_root()) && !task_follow_again())
			return 0;
		t = cpu_task(cpu);
		if (!t)
			return 0;
	}
	/* Entered from user space: frames still open have missed their returns. */
	frames_drop(t);
	if (t->ctx != ENGINE_CTX_NONE)
		loss_count(ENGINE_LOSS_NO_RETURN, 1);
	t->flags = ENGINE_TASK_LIVE;
	t->skipped = 0;
	t->ctx = syscall_context(nr);
	/* One that is followed since now. */
	if (some && is_left_out(t->ctx)) {
		t->ctx = ENGINE_CTX_NONE;
		task_rest(cpu, ENGINE_CTX_NONE);
		return 0;
	}
	frame_open(t, &t->frames[0], ENGINE_KEY(ENGINE_SITE_CONTEXT, t->ctx), 0, 0);
	return 0;
}

SEC("tp_btf/sys_enter")
int BPF_PROG(on_sys_enter, struct pt_regs *regs, long nr)
{
	return sys_enter(nr, false);
}

/* The same where some syscalls are left out. */
SEC("tp_btf/sys_enter")
int BPF_PROG(on_sys_enter_some, struct pt_regs *regs, long nr)
{
	return sys_enter(nr, true);
}

__u32 closings_below = 0; /* calls whose hash is below this are read */
__u64 closing_max = 0; /* longer ones were interrupted */

/* What has been done since END, in which C counted a call. */
static __always_inline void closing_add(struct engine_cell *c, __u64 end)
{
	__u64 time;

	if ((__u32)end * HASH_FACTOR >= closings_below)
		return;
	time = bpf_ktime_get_ns() - end;
	if (time > closing_max)
		return;
	__sync_fetch_and_add(&c->closings, 1);
	__sync_fetch_and_add(&c->closing_time, time);
}

/* Ends the context's frame; RET is its result, for syscalls. */
static __always_inline struct engine_cell *context_close(const struct engine_cpu *cpu,
							 struct engine_task *t,
							 const struct engine_clock *end,
							 enum profile_mechanism mech, long ret)
{
	struct engine_cell *c = frame_close(cpu, t, &t->frames[0], end, mech, false);

	if (c && ret < 0 && ret >= -MAX_ERRNO)
		__sync_fetch_and_add(&c->errors, 1);
	t->ctx = ENGINE_CTX_NONE;
	return c;
}

static __always_inline int sys_exit(long ret, bool reads_closings, bool some)
{
	struct engine_cpu *cpu = this_cpu();
	struct engine_task *t = cpu_task(cpu);
	struct engine_clock end;
	struct engine_cell *c;

	if (!t) {
		if ((some && cpu->resting) || !task_follow_again())
			return 0;
		t = cpu_task(cpu);
		if (!t)
			return 0;
	}
	end = clock_read(t);
	/*
	 * Entered before the task was followed, such as the fork that created it, or refused by a seccomp
	 * filter before the sys_enter tracepoint.
	 */
	if (t->ctx >= ENGINE_CTX_NONE && t->ctx != ENGINE_CTX_OTHER) {
		loss_count(ENGINE_INFO_OPEN_AT_START, 1);
		t->flags = ENGINE_TASK_LIVE;
		if (some)
			task_rest(cpu, ENGINE_CTX_NONE);
		return 0;
	}
	frames_drop(t);
	if (some)
		task_rest(cpu, ENGINE_CTX_NONE);
	c = context_close(cpu, t, &end, PROFILE_MECH_TRACEPOINT, ret);
	if (reads_closings && c)
		closing_add(c, end.now);
	return 0;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(on_sys_exit, struct pt_regs *regs, long ret)
{
	return sys_exit(ret, false, false);
}

/* The same on a real clock. */
SEC("tp_btf/sys_exit")
int BPF_PROG(on_sys_exit_real, struct pt_regs *regs, long ret)
{
	return sys_exit(ret, true, false);
}

const volatile bool is_clock_real = false;

/* Either where some syscalls are left out. */
SEC("tp_btf/sys_exit")
int BPF_PROG(on_sys_exit_some, struct pt_regs *regs, long ret)
{
	return sys_exit(ret, is_clock_real, true);
}

/*
 * [page_fault] is handle_mm_fault() outside syscalls and interrupts: the exception tracepoints mark the
 * beginning of a fault, but not its end.
 */
static __always_inline void fault_enter(__u32 sp)
{
	struct engine_task *t = this_task();

	if (!t || t->ctx != ENGINE_CTX_NONE || in_interrupt(t, ENGINE_CTX_NONE, sp))
		return;
	t->ctx = ENGINE_CTX_PAGE_FAULT;
	frame_open(t, &t->frames[0], ENGINE_KEY(ENGINE_SITE_CONTEXT, ENGINE_CTX_PAGE_FAULT), 0, 0);
}

static __always_inline void fault_exit(__u32 sp)
{
	struct engine_cpu *cpu = this_cpu();
	struct engine_task *t = cpu_task(cpu);
	struct engine_clock end;

	if (!t)
		return;
	end = clock_read(t);
	if (t->ctx != ENGINE_CTX_PAGE_FAULT || in_interrupt(t, ENGINE_CTX_NONE, sp))
		return;
	context_close(cpu, t, &end, PROFILE_MECH_FAULT, 0);
}

SEC("fentry/handle_mm_fault")
int fault_fentry(void *ctx)
{
	fault_enter(stack_address(ctx));
	return 0;
}

SEC("fexit/handle_mm_fault")
int fault_fexit(void *ctx)
{
	fault_exit(stack_address(ctx));
	return 0;
}

SEC("kprobe")
int fault_kprobe(struct pt_regs *ctx)
{
	fault_enter(PT_REGS_SP(ctx));
	return 0;
}

SEC("kretprobe")
int fault_kretprobe(struct pt_regs *ctx)
{
	fault_exit(PT_REGS_SP(ctx));
	return 0;
}
