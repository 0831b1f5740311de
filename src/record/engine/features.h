/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The features of the running kernel, found by trying them, never from the kernel's version. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "profile/profile.h"

/* The behaviour of this kernel's kprobe.multi, found by trying it on a function that does nothing. */
struct record_multi_behaviour {
	/*
	 * Stack pointer in the return program minus that in the entry program, in bytes. With rethook (up to 6.13) this is one
	 * word, since the return address has been popped. With the function graph tracer the difference varies between kernels,
	 * and on some kernels does not tell calls apart.
	 */
	int64_t sp;
	/*
	 * Address and length of the end of return_to_handler(), where the stack pointer is the caller's again. Linux 7.3's
	 * unwinder takes the memory at that stack pointer for a frame of return_to_handler(), and warns.
	 */
	uint64_t unwalkable;
	uint32_t unwalkable_len;
	/*
	 * A function that is named several times in a link still runs the programs once. Up to 6.13 a link holds, for each CPU,
	 * twice as many open calls as the link has functions, and misses returns of further calls, such as those of sleeping
	 * tasks. Naming a function several times raises that limit.
	 */
	bool repeats;
};

struct kernel_btf;

/* Capabilities that suffice instead of root, found by trying. */
#define RECORD_CAPABILITIES                                                                      \
	"a user other than root needs CAP_BPF, CAP_PERFMON, CAP_SYS_ADMIN, CAP_SYSLOG and, for " \
	"functions, CAP_DAC_READ_SEARCH and CAP_SYS_RAWIO"

/* Each int is 0 if the feature works, else the -errno of trying the feature. */
struct record_features {
	int modules; /* result of listing modules' BTF: 0 or -EPERM */
	bool btf; /* /sys/kernel/btf/vmlinux is readable */
	int bpf; /* result of loading a BPF tracing program */
	/* -ESHUTDOWN: ftrace is off, so probes on its locations are not hit; -ENODEV: ftrace has shut down after a fault. */
	int ftrace;
	int fentry; /* result of attaching a tracing program to a kernel function */
	int kprobe; /* -ENOENT: the kernel has no kprobes; -ESHUTDOWN: kprobes are switched off */
	int multi; /* result of record_features_try_multi() */
	struct record_multi_behaviour multi_is;
	char lockdown[32]; /* "none", "integrity", "confidentiality"; "": unknown */
	bool interpreted; /* BPF programs are interpreted, since the kernel's JIT is off */
	bool rt; /* PREEMPT_RT, whose spinlocks are mutexes */
	bool lockdown_hidden; /* LOCKDOWN is unknown because securityfs is not mounted */
};

#define RECORD_COMPILE_BPF "sysctl -w net.core.bpf_jit_enable=1"

/* Return whether ftrace, or kprobes, are switched off at this moment, so that attached probes are not hit. */
bool record_ftrace_is_off(void);
bool record_kprobes_are_off(void);

void record_features_probe(struct record_features *f);

/*
 * The three steps of record_features_probe(), for callers that work while the kernel waits. begin() finds all features but FENTRY
 * and MULTI, and loads the kernel's BTF, which the caller owns (NULL: no BTF). await() finds FENTRY. end() waits until the probe
 * for FENTRY is detached. Calibrate after end(): while a second thread exists, syscalls on descriptors cost more.
 */
void record_features_begin(struct record_features *f, struct kernel_btf **btf);
void record_features_await(struct record_features *f);
void record_features_end(void);

/*
 * Try kprobe.multi, unless it was tried before. ADDR is the address of TRY_FUNCTION; 0: unknown, and REPEATS is not tried. This
 * takes 0.2 s, because the kernel (6.1) waits for each of two links to close. Return F->multi: -EOPNOTSUPP if the kernel has no
 * FPROBE, -ENODATA if the stack pointer does not tell calls apart.
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
