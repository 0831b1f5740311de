/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the running kernel lets us do, found out by trying, never from its version.
 */
#ifndef KPROTPERF_RECORD_FEATURES_H
#define KPROTPERF_RECORD_FEATURES_H

#include <linux/bpf.h>
#include <stdbool.h>

#include "profile/profile.h"
#include "record/multi.h"

/* Each error is 0 where the feature works, else the negative errno of the attempt. */
struct record_features {
	bool btf; /* /sys/kernel/btf/vmlinux is there */
	int bpf; /* loading a tracing program at all */
	int fentry; /* attaching one to a kernel function */
	int kprobe; /* -ENOENT: the kernel has none */
	int multi; /* kprobe.multi, which behaves as MULTI_IS; record_features_try_multi() */
	struct record_multi multi_is;
	char lockdown
		[32]; /* the mode in force: "none", "integrity", "confidentiality"; "" unknown */
};

void record_features_probe(struct record_features *f);

/* Tries kprobe.multi, if that has not been done: see record_multi_try(). Returns F->multi. */
int record_features_try_multi(struct record_features *f, uint64_t addr);

bool record_features_has(const struct record_features *f, enum profile_mechanism mech);

/* Loads "return 0" as a tracing program of TYPE on the kernel function NAME: a descriptor, or -errno. */
int record_features_load_empty(const char *name, enum bpf_attach_type type);

/* One phrase why one of them cannot be had, for an error message; a static string. */
const char *record_features_why_not_fentry(const struct record_features *f);
const char *record_features_why_not_kprobe(const struct record_features *f);
const char *record_features_why_not_multi(const struct record_features *f);

/*
 * Reports what prevents recording altogether (not root, no BTF, no BPF), one line that says what to
 * do, and returns -errno; 0 where recording syscalls at least will work.
 */
int record_features_check(const struct record_features *f);

#endif
