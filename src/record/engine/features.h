/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The features of the running kernel, found by trying, never from its version.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "profile/profile.h"

/* The behaviour of this kernel's kprobe.multi, found by trying it on a function that does nothing. */
struct record_multi_behaviour {
	/*
	 * The stack pointer in a return program less the one in the entry's, in bytes. With rethook (up to 6.13) it is
	 * one word, as the return address has been popped. With the function graph tracer it varies between kernels, and
	 * on some of them calls cannot be told apart by it.
	 */
	int64_t sp;
	/*
	 * Address and length of the end of return_to_handler(), where the stack pointer is the caller's again. Linux 7.3's
	 * unwinder takes the memory at that stack pointer for a frame of return_to_handler(), and warns.
	 */
	uint64_t unwalkable;
	uint32_t unwalkable_len;
	/*
	 * A function that is named several times runs the programs once. Up to 6.13 the kernel holds, for each CPU, twice
	 * as many calls in flight for a link as the link has functions. If more tasks sleep in these functions, returns
	 * are missed. Naming functions again makes it hold more.
	 */
	bool repeats;
};

struct kernel_btf;

/* Capabilities that suffice instead of root, found by trying. */
#define RECORD_CAPABILITIES                                                                      \
	"a user other than root needs CAP_BPF, CAP_PERFMON, CAP_SYS_ADMIN, CAP_SYSLOG and, for " \
	"functions, CAP_DAC_READ_SEARCH and CAP_SYS_RAWIO"

/* Each int is 0 if the feature works, else the -errno of trying it. */
struct record_features {
	int modules; /* result of listing modules' BTF: 0 or -EPERM */
	bool btf; /* /sys/kernel/btf/vmlinux is there */
	int bpf; /* loading a tracing program at all */
	/* -ESHUTDOWN: ftrace is switched off, so that no probe on its locations is hit; -ENODEV: it has shut down after a fault. */
	int ftrace;
	int fentry; /* attaching a tracing program to a kernel function */
	int kprobe; /* -ENOENT: the kernel has none; -ESHUTDOWN: they are switched off */
	int multi; /* kprobe.multi: record_features_try_multi() */
	struct record_multi_behaviour multi_is;
	char lockdown[32]; /* "none", "integrity", "confidentiality"; "": unknown */
	bool interpreted; /* BPF programs are interpreted, as the kernel's JIT is off */
	bool rt; /* PREEMPT_RT, whose spinlocks are mutexes */
	bool lockdown_hidden; /* LOCKDOWN is unknown because securityfs is not mounted */
};

/* The command that turns the kernel's JIT on. */
#define RECORD_COMPILE_BPF "sysctl -w net.core.bpf_jit_enable=1"

/* Return whether ftrace (kprobes) is switched off now, so that attached probes are not hit. */
bool record_ftrace_is_off(void);
bool record_kprobes_are_off(void);

void record_features_probe(struct record_features *f);

/*
 * record_features_probe() in steps, so that the caller can work while the kernel waits. begin() finds all but FENTRY and MULTI,
 * and loads the kernel's BTF, which the caller owns (NULL: none). await() finds FENTRY. end() waits until the probe for FENTRY is
 * detached. Do not calibrate before end(): with a second thread, syscalls on descriptors cost more.
 */
void record_features_begin(struct record_features *f, struct kernel_btf **btf);
void record_features_await(struct record_features *f);
void record_features_end(void);

/*
 * Try kprobe.multi, if that has not been done. ADDR is the address of TRY_FUNCTION; 0: unknown, and REPEATS is not
 * tried. This takes 0.2 s (6.1: the kernel waits for each of two links to close). Return F->multi: -EOPNOTSUPP if the
 * kernel has no FPROBE, -ENODATA if calls cannot be told apart.
 */
int record_features_try_multi(struct record_features *f, uint64_t addr);

/* Return why a feature is missing, one phrase for an error message; a static string. */
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
