/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by user space and bpf/try.bpf.c, which tries features of the kernel. The includer provides __u64. */
#pragma once

/* The kernel's own test function, which does next to nothing. */
#define TRY_FUNCTION "bpf_fentry_test1"

enum try_half {
	TRY_ENTRY,
	TRY_RETURN,
	TRY_HALVES
};

/* Observations of the programs on the entry and the return of TRY_FUNCTION. */
struct try_seen {
	__u64 sp; /* the stack pointer at the last hit */
	__u64 hits;
};
