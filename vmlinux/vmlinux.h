/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel types that our BPF programs touch, and of each only the members used: CO-RE finds
 * where they are in the running kernel. Written by hand, so that a build needs no BTF.
 */
#ifndef __VMLINUX_H__
#define __VMLINUX_H__

typedef unsigned char __u8;
typedef signed char __s8;
typedef unsigned short __u16;
typedef short __s16;
typedef unsigned int __u32;
typedef int __s32;
typedef unsigned long long __u64;
typedef long long __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;
typedef int pid_t;
typedef _Bool bool;

enum {
	false = 0,
	true = 1
};

enum bpf_map_type {
	BPF_MAP_TYPE_ARRAY = 2,
	BPF_MAP_TYPE_PERF_EVENT_ARRAY = 4,
	BPF_MAP_TYPE_PERCPU_ARRAY = 6,
	BPF_MAP_TYPE_QUEUE = 22,
};

enum {
	BPF_ANY = 0,
	BPF_F_MMAPABLE = 1024,
	BPF_F_USER_STACK = 1 << 8,
	BPF_F_USER_BUILD_ID = 1 << 11,
};

/*
 * x86-64's, as are TS_COMPAT and the preemption count. Fixed by the ptrace ABI, therefore whole and not
 * relocated.
 */
struct pt_regs {
	unsigned long r15, r14, r13, r12, bp, bx, r11, r10, r9, r8, ax, cx, dx, si, di;
	unsigned long orig_ax, ip, cs, flags, sp, ss;
};

struct bpf_perf_event_data {
	struct pt_regs regs;
	__u64 sample_period;
	__u64 addr;
};

struct bpf_perf_event_value {
	__u64 counter;
	__u64 enabled;
	__u64 running;
};

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct thread_info {
	__u32 status;
};

/* A task's number in one pid namespace, and in all that it is in, from the first one's. */
struct upid {
	int nr;
};

struct pid {
	unsigned int level;
	struct upid numbers[1];
};

struct kernfs_node {
	__u64 id;
};

struct cgroup_subsys_state {
	struct cgroup_subsys_state *parent;
};

struct cgroup {
	struct cgroup_subsys_state self;
	struct kernfs_node *kn;
};

struct css_set {
	struct cgroup *dfl_cgrp;
};

struct mm_struct {
	unsigned long mmap_base, start_code, start_stack;
};

struct task_struct {
	struct thread_info thread_info;
	void *stack;
	unsigned int __state;
	int exit_state;
	pid_t pid;
	pid_t tgid;
	char comm[16];
	struct task_struct *group_leader;
	struct mm_struct *mm;
	struct pid *thread_pid;
	struct css_set *cgroups;
	unsigned short migration_disabled;
	int rcu_read_lock_nesting;
};

/* Its size is that of a task's stack. */
union thread_union {
	unsigned long stack[1];
};

/* Linux 6.2 to 6.14 keep the preemption count here. */
struct pcpu_hot {
	int preempt_count;
};

struct linux_binprm;

struct bpf_iter_meta {
	struct seq_file *seq;
};

struct bpf_iter__task {
	struct bpf_iter_meta *meta;
	struct task_struct *task;
};

#pragma clang attribute pop

#endif
