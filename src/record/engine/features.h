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
	 * The stack pointer that a return program sees, less the one at the entry. A word where returns
	 * come through rethook (up to 6.13), since the return address is gone; kernels whose returns
	 * come through the function graph tracer gave different ones, and some nothing to go by.
	 */
	int64_t sp;
	/*
	 * The end of what returns go through that the function graph tracer handles, where the stack pointer is the caller's
	 * again: Linux 7.3's unwinder still takes what it points to for a frame, and warns.
	 */
	uint64_t unwalkable;
	uint32_t unwalkable_len;
	/*
	 * Naming a function several times runs programs once. Up to 6.13 the kernel keeps twice as many
	 * returns for a link as it has functions, for each CPU: more tasks asleep in them, and returns
	 * are missed. Naming functions again makes it keep more.
	 */
	bool repeats;
};

struct kernel_btf;

/* Each error is 0 where the feature works, else the negative errno of the attempt. */
/* Capabilities that suffice instead of root, found by trying. */
#define RECORD_CAPABILITIES                                                                      \
	"a user other than root needs CAP_BPF, CAP_PERFMON, CAP_SYS_ADMIN, CAP_SYSLOG and, for " \
	"functions, CAP_DAC_READ_SEARCH and CAP_SYS_RAWIO"

struct record_features {
	int modules; /* result of listing modules' BTF: 0 or -EPERM */
	bool btf; /* /sys/kernel/btf/vmlinux is there */
	int bpf; /* loading a tracing program at all */
	int ftrace; /* -ESHUTDOWN: switched off, so that no probe on its locations is hit; -ENODEV: shut down */
	int fentry; /* attaching one to a kernel function */
	int kprobe; /* -ENOENT: the kernel has none; -ESHUTDOWN: they are switched off */
	int multi; /* kprobe.multi, which behaves as MULTI_IS; record_features_try_multi() */
	struct record_multi_behaviour multi_is;
	char lockdown[32]; /* "none", "integrity", "confidentiality"; "": unknown */
	bool interpreted; /* BPF programs are, since the kernel's compiler of them is off */
	bool rt; /* PREEMPT_RT, whose spinlocks are mutexes */
	bool lockdown_hidden; /* unknown because nobody has mounted securityfs */
};

/* The command that turns the compiler on. */
#define RECORD_COMPILE_BPF "sysctl -w net.core.bpf_jit_enable=1"

/* Return whether somebody has switched them off by now, so that attached probes are not hit. */
bool record_ftrace_is_off(void);
bool record_kprobes_are_off(void);

void record_features_probe(struct record_features *f);

/*
 * The same in steps, so that others work while the kernel waits: all but "fentry", by the kernel's types, which are the
 * caller's then (NULL: none); that; and until its probe is gone
 * again. While a thread does that, descriptors cost more: no calibration.
 */
void record_features_begin(struct record_features *f, struct kernel_btf **btf);
void record_features_await(struct record_features *f);
void record_features_end(void);

/*
 * Tries kprobe.multi, if that has not been done. ADDR is that of TRY_FUNCTION; 0: not known, and "repeats" is not
 * tried. Takes the kernel 0.2 s (6.1: two links are taken down, and it waits for each). Returns F->multi:
 * -EOPNOTSUPP where the kernel has no FPROBE, -ENODATA where calls cannot be told apart.
 */
int record_features_try_multi(struct record_features *f, uint64_t addr);

/* One phrase why one of them cannot be had, for an error message; a static string. */
const char *record_features_why_not_bpf(const struct record_features *f);
const char *record_features_why_not_ftrace(const struct record_features *f);
const char *record_features_why_not_fentry(const struct record_features *f);
const char *record_features_why_not_kprobe(const struct record_features *f);
const char *record_features_why_not_multi(const struct record_features *f);

/*
 * Reports what prevents recording altogether (not root, no BTF, no BPF), one line that says what to
 * do, and returns -errno; 0 where recording syscalls at least will work.
 */
int record_features_check(const struct record_features *f);
