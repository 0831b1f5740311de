/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by user space and bpf/try.bpf.c, which tests features of the kernel. Files that include this define __u64. */
#pragma once

/* A test function of the kernel that does almost nothing. */
#define TRY_FUNCTION "bpf_fentry_test1"

enum try_half {
	TRY_ENTRY,
	TRY_RETURN,
	TRY_HALVES
};

/* Data that a program at the entry or return of TRY_FUNCTION saves. */
struct try_seen {
	__u64 sp; /* stack pointer at the last hit */
	__u64 hits;
};
