/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The features of the running kernel. They are found by trying, never by the version. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "profile/profile.h"

/* The behaviour of this kernel's kprobe.multi, found by trying it on a function that does nothing. */
struct record_multi_behaviour {
	/*
	 * Stack pointer in the return program minus that in the entry program, in bytes. With rethook (up to 6.13) this is one
	 * word, since the return address has been popped. With the function graph tracer (later) the difference varies between
	 * kernels; some have no constant difference at all.
	 */
	int64_t sp;
	/*
	 * Address and length of the end of return_to_handler(), where the stack pointer is the caller's again. Linux 7.3's
	 * unwinder takes the memory at that stack pointer for a frame of return_to_handler(), and warns.
	 */
	uint64_t unwalkable;
	uint32_t unwalkable_len;
	/*
	 * If a link names a function several times, a call of the function still runs the programs once. Up to 6.13 a link can
	 * hold twice as many open calls per CPU as the link has functions. It misses the returns of further calls, for example in
	 * sleeping tasks. Naming a function several times raises that limit.
	 */
	bool repeats;
};

struct kernel_btf;

/* Capabilities with which a user other than root can record, found by experiments. */
#define RECORD_CAPABILITIES                                                                      \
	"a user other than root needs CAP_BPF, CAP_PERFMON, CAP_SYS_ADMIN, CAP_SYSLOG and, for " \
	"functions, CAP_DAC_READ_SEARCH and CAP_SYS_RAWIO"

/* In this struct, an int is 0 if the feature works, and -errno of the trial otherwise. */
struct record_features {
	int modules; /* 0: modules' BTF can be listed; else -EPERM */
	bool btf; /* /sys/kernel/btf/vmlinux is readable */
	int bpf; /* 0 or -errno of loading a BPF tracing program */
	/* -ESHUTDOWN: ftrace is switched off, so its probes are not hit; -ENODEV: a fault has shut down ftrace. */
	int ftrace;
	int fentry; /* 0 or -errno of attaching a tracing program to a kernel function */
	int kprobe; /* -ENOENT: the kernel has no kprobes; -ESHUTDOWN: kprobes are switched off */
	int multi; /* result of record_features_try_multi() */
	struct record_multi_behaviour multi_is;
	char lockdown[32]; /* "none", "integrity", "confidentiality"; "": unknown */
	bool interpreted; /* the kernel's JIT is off, so the kernel interprets BPF programs */
	bool rt; /* PREEMPT_RT, whose spinlocks are mutexes */
	bool lockdown_hidden; /* LOCKDOWN is unknown because securityfs is not mounted */
};

#define RECORD_COMPILE_BPF "sysctl -w net.core.bpf_jit_enable=1"

/* Return whether ftrace (or kprobes) are switched off now. If so, attached probes are never hit. */
bool record_ftrace_is_off(void);
bool record_kprobes_are_off(void);

void record_features_probe(struct record_features *f);

/*
 * The three steps of record_features_probe(), for callers that work while the kernel waits. begin() finds all features but FENTRY
 * and MULTI, and loads the kernel's BTF, which the caller owns (NULL: no BTF). await() finds FENTRY. end() waits until the probe
 * that await() tried is detached. Calibrate only after end(): while that probe's thread exists, syscalls on descriptors cost more.
 */
void record_features_begin(struct record_features *f, struct kernel_btf **btf);
void record_features_await(struct record_features *f);
void record_features_end(void);

/*
 * Try kprobe.multi, unless it was tried before. ADDR is the address of TRY_FUNCTION; 0: unknown, and REPEATS is not tried. This
 * takes 0.2 s, because the kernel (6.1) waits for each of two links to close. Return F->multi: -EOPNOTSUPP if the kernel has no
 * FPROBE, -ENODATA if stack pointers do not show which return belongs to which call.
 */
int record_features_try_multi(struct record_features *f, uint64_t addr);

/* Return a static phrase for an error message that says why the feature is missing; NULL: the feature works. */
const char *record_features_why_not_bpf(const struct record_features *f);
const char *record_features_why_not_ftrace(const struct record_features *f);
const char *record_features_why_not_fentry(const struct record_features *f);
const char *record_features_why_not_kprobe(const struct record_features *f);
const char *record_features_why_not_multi(const struct record_features *f);

/*
 * If recording is impossible (not root, no BTF, no BPF), report in one line why and what to do, and return
 * -errno. Return 0 if at least syscalls can be recorded.
 */
int record_features_check(const struct record_features *f);
