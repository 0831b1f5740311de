// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Contexts: the system call that a task executes, or the page fault that user space caused. A context has the lowest frame in the
 * task's array of frames, and is timed like a function.
 */
#include "frame.h"
#include "rest.h"

#define TS_COMPAT   0x0002
#define MAX_ERRNO   4095
#define HASH_FACTOR 0x9e3779b1u /* 2^32 / golden ratio: Knuth's multiplicative hash */

static __always_inline __u32 syscall_context(long nr)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();

	if ((unsigned long)nr >= ENGINE_SYSCALLS)
		return ENGINE_CTX_OTHER;
	if (task->thread_info.status & TS_COMPAT)
		return ENGINE_CTX_COMPAT + nr;
	return nr;
}

/*
 * Return the running task at the entry of a system call, or NULL if it is not followed. After a task switch that was not reported,
 * the CPU's slot is 0 or another task's. CTX, on the running task's stack, is then not on the stack of the slot's task.
 */
static __always_inline struct engine_task *entering_task(void *ctx)
{
	struct engine_task *t = this_task();

	if (t && on_task_stack(t, stack_address(ctx)))
		return t;
	if (t)
		task_lose();
	if (!(root_pid && task_follow_root()) && !task_follow_again())
		return NULL;
	return this_task();
}

/* Drop the calls that are open when T enters a system call: their returns were missed. */
__noinline int drop_before_entry(struct engine_task *t)
{
	if (!t)
		return 0;
	frames_drop(t);
	if (t->ctx != ENGINE_CTX_NONE)
		loss_count(ENGINE_LOSS_NO_RETURN, 1);
	return 0;
}

/* Return whether the running task rests (hidden from probes, rest.h) and goes on resting in system call NR. Else end its rest. */
static __always_inline bool goes_on_resting(__u64 nr)
{
	struct engine_cpu *cpu = this_cpu();

	if (!cpu->resting)
		return false;
	if (is_left_out(syscall_context(nr)))
		return true;
	cpu->slot = cpu->resting;
	cpu->resting = 0;
	return false;
}

/* CTX is the tracepoint's raw context. BPF_PROG() would read all arguments first, and keep them while functions are called. */
static __always_inline void sys_enter(__u64 *ctx, bool some, bool counted)
{
	struct engine_task *t;

	if (some && goes_on_resting(ctx[1]))
		return;
	t = entering_task(ctx);
	if (!t)
		return;
	if (t->open != ENGINE_CTX_NONE)
		drop_before_entry(t);
	t->flags = ENGINE_TASK_LIVE;
	t->skipped = 0;
	t->ctx = syscall_context(ctx[1]);
	/* A task that was followed before is already hidden from probes here. This task is newly followed: hide it. */
	if (some && is_left_out(t->ctx)) {
		t->ctx = ENGINE_CTX_NONE;
		task_rest(this_cpu(), ENGINE_CTX_NONE);
		return;
	}
	frame_open(t, &t->frames[0], ENGINE_KEY(ENGINE_SITE_CONTEXT, t->ctx), counted);
}

const volatile bool is_clock_real = false;
const volatile bool leaves_out = false; /* --syscall excludes some system calls */

PROGRAM("tp_btf/sys_enter", on_sys_enter, __u64, sys_enter(ctx, false, false))
PROGRAM("tp_btf/sys_enter", on_sys_enter_some, __u64, sys_enter(ctx, true, false))
PROGRAM("tp_btf/sys_enter", on_sys_enter_counted, __u64, sys_enter(ctx, leaves_out, true))

/* closing_add() measures only calls whose end time has a hash below this. */
__u32 closings_below = 0;
__u64 closing_max = 0; /* ns; a longer time includes an interrupt and is ignored */

/* Add the time since END, when this program read the clock at the end of a call, to C's closing_time. */
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

/* End the context's call. RET is the result of the system call, or 0 in other contexts. */
static __always_inline struct engine_cell *
context_close(const struct engine_cpu *cpu, struct engine_task *t, const struct engine_clock *end,
	      enum profile_mechanism mech, long ret, bool counted)
{
	struct engine_cell *c = frame_close(cpu, t, &t->frames[0], end, mech, false, counted);

	if (c && ret < 0 && ret >= -MAX_ERRNO)
		__sync_fetch_and_add(&c->errors, 1);
	t->ctx = ENGINE_CTX_NONE;
	return c;
}

/* Drop the calls that are open when T leaves a system call. Return 0 if the system call itself is not open. */
__noinline int drop_before_exit(struct engine_task *t)
{
	if (!t)
		return 0;
	/* The task was not followed at the entry (a new child of fork), or seccomp refused the system call before sys_enter. */
	if (t->ctx >= ENGINE_CTX_NONE && t->ctx != ENGINE_CTX_OTHER) {
		loss_count(ENGINE_INFO_OPEN_AT_START, 1);
		t->flags = ENGINE_TASK_LIVE;
		return 0;
	}
	frames_drop(t);
	return 1;
}

static __always_inline int sys_exit(long ret, bool reads_closings, bool some, bool counted)
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
	if (some)
		task_rest(cpu, ENGINE_CTX_NONE);
	if (t->open >= ENGINE_CTX_NONE && !drop_before_exit(t))
		return 0;
	c = context_close(cpu, t, &end, PROFILE_MECH_TRACEPOINT, ret, counted);
	if (reads_closings && c)
		closing_add(c, end.now);
	return 0;
}

SEC("tp_btf/sys_exit")
int BPF_PROG(on_sys_exit, struct pt_regs *regs, long ret)
{
	return sys_exit(ret, false, false, false);
}

/* Use this program if the clock counts ns. */
SEC("tp_btf/sys_exit")
int BPF_PROG(on_sys_exit_real, struct pt_regs *regs, long ret)
{
	return sys_exit(ret, true, false, false);
}

/* Use this program if --syscall excludes some system calls, with any clock. */
SEC("tp_btf/sys_exit")
int BPF_PROG(on_sys_exit_some, struct pt_regs *regs, long ret)
{
	return sys_exit(ret, is_clock_real, true, false);
}

/* Use this program if events are counted, with any clock, with or without excluded system calls. */
SEC("tp_btf/sys_exit")
int BPF_PROG(on_sys_exit_counted, struct pt_regs *regs, long ret)
{
	return sys_exit(ret, is_clock_real, leaves_out, true);
}

/* [page_fault] is handle_mm_fault() outside of system calls and interrupts. Exception tracepoints mark only a fault's start. */
static __always_inline void fault_enter(__u32 sp, bool counted)
{
	struct engine_task *t = this_task();

	if (!t || t->ctx != ENGINE_CTX_NONE || in_interrupt(t, ENGINE_CTX_NONE, sp))
		return;
	t->ctx = ENGINE_CTX_PAGE_FAULT;
	frame_open(t, &t->frames[0], ENGINE_KEY(ENGINE_SITE_CONTEXT, ENGINE_CTX_PAGE_FAULT),
		   counted);
}

static __always_inline void fault_exit(__u32 sp, bool counted)
{
	struct engine_cpu *cpu = this_cpu();
	struct engine_task *t = cpu_task(cpu);
	struct engine_clock end;

	if (!t)
		return;
	end = clock_read(t);
	if (t->ctx != ENGINE_CTX_PAGE_FAULT || in_interrupt(t, ENGINE_CTX_NONE, sp))
		return;
	context_close(cpu, t, &end, PROFILE_COSTS_FAULT, 0, counted);
}

PROGRAM("fentry/handle_mm_fault", fault_fentry, void, fault_enter(stack_address(ctx), false))
PROGRAM("fexit/handle_mm_fault", fault_fexit, void, fault_exit(stack_address(ctx), false))
PROGRAM("fentry/handle_mm_fault", fault_fentry_counted, void, fault_enter(stack_address(ctx), true))
PROGRAM("fexit/handle_mm_fault", fault_fexit_counted, void, fault_exit(stack_address(ctx), true))
PROGRAM("kprobe", fault_kprobe, struct pt_regs, fault_enter(PT_REGS_SP(ctx), false))
PROGRAM("kretprobe", fault_kretprobe, struct pt_regs, fault_exit(PT_REGS_SP(ctx), false))
