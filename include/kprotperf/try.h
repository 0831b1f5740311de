/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Shared by user space and the programs that try the kernel's features; the includer brings __u64. */
#pragma once

/* The kernel's own test function, which does next to nothing. */
#define TRY_FUNCTION "bpf_fentry_test1"

enum try_half {
	TRY_ENTRY,
	TRY_RETURN,
	TRY_HALVES
};

/* Observations of the programs on that function's entry and return. */
struct try_seen {
	__u64 sp; /* the stack pointer, last */
	__u64 hits;
};
