// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Follow tasks, and record which task each CPU runs: at fork, exec, task switch and exit.
 *
 * A task's slot is released when the scheduler switches away from the dead task, not at sched_process_exit. So the calls that
 * do_exit() makes after this tracepoint count, too.
 */
#include "frame.h"
#include "rest.h"

#define TASK_DEAD 0x80

/* Released task slots. Unused slots come from next_slot. */
struct {
	__uint(type, BPF_MAP_TYPE_QUEUE);
	__uint(max_entries, 1);
	__uint(value_size, sizeof(__u32));
} free_slots SEC(".maps");

const volatile __u32 idle_base = 0; /* with -a: slot of CPU 0's idle task; others follow */
const volatile bool follow_all = false;
/* If not 0, follow_all follows only tasks of this cgroup and its children. */
const volatile __u64 cgroup_id = 0;

__u32 next_slot = 1;
__u32 live_tasks = 0;
__u64 oncpu_gone = 0; /* on-CPU ns of followed tasks that have ended */
__u32 self_tgid = 0;
/* With -a, the recorder's helper process is not followed. */
__u32 forks_helper = 0; /* the recorder's next fork creates the helper */
__u32 helper_tgid = 0; /* the helper process; 0: none */
/* adopt_tasks follows the tasks of this process, numbered in the caller's pid namespace. */
__u32 adopt_tgid = 0;
bool paused = false; /* follow neither new tasks nor tasks that are switched in */

/*
 * Follow the process that runs this program (BPF_PROG_TEST_RUN) from its next system call, the execve() that starts the command.
 * The execve() counts as the command's.
 */
SEC("raw_tp")
int adopt_caller(void *ctx)
{
	root_pid = bpf_get_current_pid_tgid();
	return 0;
}

/* With -a, do not follow the process that runs this program: the profiler. */
SEC("raw_tp")
int note_self(void *ctx)
{
	self_tgid = bpf_get_current_pid_tgid() >> 32;
	return 0;
}

/* Return the address of PID's slot number, or NULL if PID exceeds the pid_max at the start, or following is paused. */
static __always_inline __u16 *slot_of(__u32 pid)
{
	__u32 key = pid / ENGINE_PIDS_PER_ENTRY;
	struct engine_pids *pids = paused ? NULL : bpf_map_lookup_elem(&slots, &key);

	return pids ? &pids->slot[pid % ENGINE_PIDS_PER_ENTRY] : NULL;
}

/* Allocate a slot for TASK, with FLAGS besides the flags of all new tasks. Return the slot, or 0 if none is free. */
static __always_inline __u32 task_follow(struct task_struct *task, __u32 flags)
{
	__u32 pid = task->pid;
	struct engine_task *t;
	__u32 slot = 0;
	__u16 *entry;

	entry = slot_of(pid);
	if (!entry) {
		loss_count(ENGINE_LOSS_TASKS, 1);
		return 0;
	}
	if (bpf_map_pop_elem(&free_slots, &slot)) {
		slot = __sync_fetch_and_add(&next_slot, 1);
		if (slot >= max_tasks) {
			/* Prevent an overflow of NEXT_SLOT. */
			next_slot = max_tasks;
			loss_count(ENGINE_LOSS_TASKS, 1);
			return 0;
		}
	}
	t = bpf_map_lookup_elem(&tasks, &slot);
	if (!t)
		return 0;
	t->offcpu = 0;
	t->excluded = 0;
	t->entered = 0;
	t->stack = (unsigned long)task->stack;
	t->born = bpf_ktime_get_ns();
	t->switched = t->born;
	t->top = 0;
	t->ctx = ENGINE_CTX_NONE;
	t->skipped = 0;
	t->pid = pid;
	t->frames[0] = (struct engine_frame){};
	t->flags = ENGINE_TASK_LIVE | ENGINE_TASK_FRESH | flags;
	__sync_fetch_and_add(&live_tasks, 1);
	*entry = slot;
	return slot;
}

static __always_inline void task_release(struct engine_task *t, __u32 slot)
{
	__u16 *entry = slot_of(t->pid);

	t->flags = 0;
	loss_count(ENGINE_INFO_ENTERED, t->entered);
	__sync_fetch_and_add(&oncpu_gone, t->switched - t->born - t->offcpu);
	/* A new task may already have the pid. */
	if (entry && *entry == slot)
		*entry = 0;
	__sync_fetch_and_add(&live_tasks, -1);
	bpf_map_push_elem(&free_slots, &slot, BPF_ANY);
}

/* Follow the process from its follow_caller() to its leave_caller() (BPF_PROG_TEST_RUN): calibration measures its system calls. */
SEC("raw_tp")
int follow_caller(void *ctx)
{
	struct engine_cpu *cpu = this_cpu();

	if (!cpu->slot)
		cpu->slot = task_follow((void *)bpf_get_current_task_btf(), 0);
	return 0;
}

SEC("raw_tp")
int leave_caller(void *ctx)
{
	struct engine_cpu *cpu = this_cpu();
	struct engine_task *t = cpu_task(cpu);
	__u32 slot;

	if (!t)
		return 0;
	slot = cpu->slot;
	cpu->slot = 0;
	task_release(t, slot);
	return 0;
}

/* Follow the running task if it is the command's first task. Return its slot, or 0. */
__noinline int task_follow_root(void)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();
	struct engine_cpu *cpu = this_cpu();

	if ((__u32)task->pid != root_pid)
		return 0;
	root_pid = 0;
	cpu->slot = task_follow(task, 0);
	return cpu->slot;
}

/* A switch away from the task in the CPU's slot was not reported. Assume that the task ran until now. */
__noinline int task_lose(void)
{
	struct engine_cpu *cpu = this_cpu();
	struct engine_task *t = cpu_task(cpu);

	loss_count(ENGINE_LOSS_SWITCHES, 1);
	if (t)
		t->switched = bpf_ktime_get_ns();
	cpu->slot = 0;
	return 0;
}

/* For each event: number of events that counters_leave() and counters_return() add to a task's count. */
__u64 counter_pause[ENGINE_COUNTERS] = {};
__u32 pauses = 0; /* calibration sets this to make pause_counters() pause */

/* Stop counting events for the task in SLOT. */
static __noinline int counters_leave(__u32 slot)
{
	struct engine_counted_task *task = bpf_map_lookup_elem(&counted_tasks, &slot);

	if (!task)
		return 0;
	for (__u32 i = 0; i < ENGINE_COUNTERS && i < n_counters; i++)
		task->left[i] = counter_read(i);
	return 0;
}

/* Resume counting events for the task in SLOT, on the CPU that runs it. */
static __noinline int counters_return(__u32 slot)
{
	struct engine_counted_task *task = bpf_map_lookup_elem(&counted_tasks, &slot);

	if (!task)
		return 0;
	for (__u32 i = 0; i < ENGINE_COUNTERS && i < n_counters; i++)
		__sync_fetch_and_add(&task->excluded[i],
				     counter_read(i) - task->left[i] + counter_pause[i]);
	return 0;
}

SEC("raw_tp")
int pause_counters(void *ctx)
{
	__u32 slot = this_cpu()->slot;

	if (!pauses || !slot)
		return 0;
	counters_leave(slot);
	counters_return(slot);
	return 0;
}

/*
 * Follow the running task again if it has a slot, but its switch to this CPU was not reported (docs/ARCHITECTURE.md, "Unreported
 * switches"). Return its slot, or 0.
 */
__noinline int task_follow_again(void)
{
	struct task_struct *task = (void *)bpf_get_current_task_btf();
	struct engine_cpu *cpu = this_cpu();
	__u16 *entry = slot_of(task->pid);
	__u32 slot = entry ? *entry : 0;
	struct engine_task *t;
	__u64 away;

	if (!slot)
		return 0;
	t = bpf_map_lookup_elem(&tasks, &slot);
	if (!t)
		return 0;
	cpu->slot = slot;
	/* No switch was missed: the task has not been switched since it was adopted (-p) while running. */
	if (t->flags & ENGINE_TASK_ADOPTED && t->switched == t->born)
		return slot;
	/* The time of the switch to the task is unknown. Count all time since it was switched out as off-CPU. */
	loss_count(ENGINE_LOSS_SWITCHES, 1);
	if (n_counters)
		counters_return(slot);
	away = bpf_ktime_get_ns() - t->switched;
	t->offcpu += away;
	t->excluded += away;
	return slot;
}

static __always_inline int newtask(struct task_struct *task, bool some)
{
	struct engine_cpu *cpu = this_cpu();
	__u32 slot, pid = task->pid;
	struct engine_task *parent;
	__u16 *entry;
	__u64 start;

	slot = cpu->slot;
	if (paused)
		return 0;
	if (some && cpu->resting) {
		task_follow(task, 0);
		return 0;
	}
	if (!slot) {
		if (follow_all && forks_helper && bpf_get_current_pid_tgid() >> 32 == self_tgid)
			helper_tgid = pid;
		else if (follow_all && helper_tgid == pid)
			helper_tgid = 0; /* the helper has ended; a new task has its pid */
		/* A followed task that has ended may have left its slot for PID. */
		entry = slot_of(pid);
		if (entry && *entry)
			*entry = 0;
		return 0;
	}
	/* The following functions work for this program, not for the task: hide the task from probes. */
	start = bpf_ktime_get_ns();
	cpu->slot = 0;
	if (n_counters)
		counters_leave(slot);
	task_follow(task, 0);
	if (n_counters)
		counters_return(slot);
	cpu->slot = slot;
	parent = cpu_task(cpu);
	if (parent)
		exclude(parent, bpf_ktime_get_ns() - start);
	return 0;
}

SEC("tp_btf/task_newtask")
int BPF_PROG(on_newtask, struct task_struct *task, unsigned long clone_flags)
{
	return newtask(task, false);
}

/* Use this program if --syscall excludes some system calls. */
SEC("tp_btf/task_newtask")
int BPF_PROG(on_newtask_some, struct task_struct *task, unsigned long clone_flags)
{
	return newtask(task, true);
}

SEC("tp_btf/sched_process_exec")
int BPF_PROG(on_exec, struct task_struct *task, pid_t old_pid, struct linux_binprm *bprm)
{
	struct engine_cpu *cpu = this_cpu();
	__u32 pid = task->pid, old = old_pid, slot;
	struct engine_task *t;
	__u16 *from, *to;

	/* If another thread than the leader calls exec, it takes over the leader's pid. */
	if (old == pid)
		return 0;
	from = slot_of(old);
	to = slot_of(pid);
	if (!from || !to || !*from)
		return 0;
	/* Do not read cpu->slot: if the task was switched out and in after the change of pid, that slot is not the task's. */
	slot = *from;
	*to = slot;
	*from = 0;
	t = bpf_map_lookup_elem(&tasks, &slot);
	if (t)
		t->pid = pid;
	if (!cpu->resting)
		cpu->slot = slot;
	return 0;
}

static __always_inline void frame_end(struct engine_cell *c, const struct engine_frame *f)
{
	if (!c)
		return;
	__sync_fetch_and_add(&c->unreturned, 1);
	__sync_fetch_and_add(&c->bodies, f->calls);
	loss_count(ENGINE_INFO_CLOSED_BY_EXIT, 1);
}

/*
 * End the innermost open call of the task in SLOT. Return 0 if none is left. Not static, so that the verifier checks the function
 * once, not in each iteration of the loop below.
 */
__noinline int task_close_frame(__u32 slot, __u64 now)
{
	struct engine_task *t = bpf_map_lookup_elem(&tasks, &slot);
	const struct engine_cpu *cpu = this_cpu();
	struct engine_frame *f;
	struct engine_clock end;
	__u32 top;

	if (!t)
		return 0;
	end = (struct engine_clock){ .now = now, .excluded = t->excluded };
	top = t->top;
	if (!top) {
		if (t->ctx == ENGINE_CTX_NONE)
			return 0;
		frame_end(frame_close(cpu, t, &t->frames[0], &end, PROFILE_UNTIMED, false,
				      n_counters),
			  &t->frames[0]);
		t->ctx = ENGINE_CTX_NONE;
		return 1;
	}
	f = frame_at(t, top);
	frame_end(frame_close(cpu, t, f, &end, PROFILE_UNTIMED, true, n_counters), f);
	t->top = top - ENGINE_FRAME;
	return 1;
}

/* End the open calls of a dying task: do_exit() and its callers never return. */
static __always_inline void task_close_frames(__u32 slot, __u64 now)
{
	if (n_counters)
		this_cpu()->closing = slot;
	for (int i = 0; i < ENGINE_DEPTH && task_close_frame(slot, now); i++)
		;
}

static __always_inline void task_bury(struct engine_task *t, __u32 slot, __u64 now)
{
	task_close_frames(slot, now);
	task_release(t, slot);
}

#define CGROUP_LEVELS 32

/* This function is static, so only programs that call it need its kernel types, and the verifier checks it only with these. */
static __noinline bool is_in_cgroup(__u64 at)
{
	for (int i = 0; i < CGROUP_LEVELS && at; i++) {
		struct cgroup *group = (void *)at;

		if (BPF_CORE_READ(group, kn, id) == cgroup_id)
			return true;
		at = (__u64)BPF_CORE_READ(group, self.parent);
		if (at)
			at -= bpf_core_field_offset(struct cgroup, self);
	}
	return false;
}

/* Stop following a task that has left the cgroup. Its open calls end now. */
static __always_inline void task_leave(__u32 slot, __u64 now)
{
	struct engine_task *t = bpf_map_lookup_elem(&tasks, &slot);

	if (!t)
		return;
	t->offcpu += now - t->switched;
	t->excluded += now - t->switched;
	t->switched = now;
	if (n_counters)
		counters_return(slot);
	task_bury(t, slot, now);
}

/*
 * Return the slot of TASK, which is switched in, or 0 if it is not followed. Its slot up to now is SLOT (0: none). In calibration,
 * the recorder keeps its slot in any cgroup. Check for idle tasks, whose tgid is 0, before HELPER_TGID, which is 0 without helper.
 */
static __always_inline __u32 slot_of_any(struct task_struct *task, __u32 slot, __u64 now)
{
	if (cgroup_id && (__u32)task->tgid != self_tgid &&
	    !is_in_cgroup((__u64)task->cgroups->dfl_cgrp)) {
		if (slot)
			task_leave(slot, now);
		return 0;
	}
	if (!task->pid)
		return idle_base + bpf_get_smp_processor_id();
	if (slot || (__u32)task->tgid == self_tgid || (__u32)task->tgid == helper_tgid)
		return slot;
	return task_follow(task, 0);
}

static __always_inline int switch_tasks(struct task_struct *prev, struct task_struct *next,
					bool some)
{
	struct engine_cpu *cpu = this_cpu();
	__u32 pid = next->pid, slot;
	__u16 *entry;
	struct engine_task *t;
	__u64 now;

	slot = cpu->slot;
	if (some && cpu->resting) {
		slot = cpu->resting;
		cpu->resting = 0;
	}
	entry = slot_of(pid);
	if (!slot && !(entry && *entry) && !follow_all)
		return 0;

	now = bpf_ktime_get_ns();
	if (slot) {
		t = bpf_map_lookup_elem(&tasks, &slot);
		cpu->slot = 0;
		if (t) {
			t->switched = now;
			if (n_counters)
				counters_leave(slot);
			/* Compare the stacks of the tasks, since exec may change their pids. */
			if (t->stack != (__u32)(unsigned long)prev->stack)
				loss_count(ENGINE_LOSS_SWITCHES, 1);
			else if (prev->__state & TASK_DEAD)
				task_bury(t, slot, now);
		}
	}
	slot = entry ? *entry : 0;
	if (follow_all && entry)
		slot = slot_of_any(next, slot, now);
	if (slot) {
		t = bpf_map_lookup_elem(&tasks, &slot);
		if (t) {
			if (n_counters)
				counters_return(slot);
			/* The time until now is this program's, not the task's. */
			now = bpf_ktime_get_ns();
			t->offcpu += now - t->switched;
			t->excluded += now - t->switched;
			t->switched = now;
			if (pid == 0) /* task_newtask does not run for idle tasks */
				t->stack = (unsigned long)next->stack;
		}
	}
	cpu->slot = slot;
	if (some && (t = cpu_task(cpu)))
		task_rest(cpu, t->ctx);
	return 0;
}

SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	return switch_tasks(prev, next, false);
}

/* Use this program if --syscall excludes some system calls. */
SEC("tp_btf/sched_switch")
int BPF_PROG(on_switch_some, bool preempt, struct task_struct *prev, struct task_struct *next)
{
	return switch_tasks(prev, next, true);
}

/* Return the number of TASK's process in the running task's pid namespace. */
static __always_inline __u32 tgid_here(struct task_struct *task)
{
	struct task_struct *here = (void *)bpf_get_current_task_btf();
	__u32 level = BPF_CORE_READ(here, thread_pid, level);
	void *numbers = &BPF_CORE_READ(task, group_leader, thread_pid)->numbers;
	struct upid number = {};

	bpf_probe_read_kernel(&number, sizeof(number),
			      numbers + level * bpf_core_type_size(struct upid));
	return number.nr;
}

/* For -p: follow the tasks of a process, each from its next system call or task switch. */
SEC("iter/task")
int adopt_tasks(struct bpf_iter__task *ctx)
{
	struct task_struct *task = ctx->task;
	__u16 *entry;

	/* Skip a task that has exited. It would never release its slot, since it is never switched in again. */
	if (!task || task->exit_state || tgid_here(task) != adopt_tgid)
		return 0;
	entry = slot_of(task->pid);
	if (entry && !*entry)
		task_follow(task, ENGINE_TASK_ADOPTED);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
