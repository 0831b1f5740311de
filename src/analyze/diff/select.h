/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The choice and the order of a diff's rows. */
#pragma once

#include "analyze/diff/diff.h"

/* Globs, as fnmatch() has them; NULL: any. */
struct analyze_filter {
	const char *syscall; /* syscalls and the contexts of functions */
	const char *function;
};

/*
 * Takes out of DIFF's lists what FILTER does not match; returns how many rows are left. For after everything
 * else: p stays adjusted for all rows. With a syscall, sums over all contexts go too.
 */
uint32_t analyze_diff_filter(struct analyze_diff *diff, const struct analyze_filter *filter);

/* The keys of analyze_diff_sort(), as the columns have them, ended by NULL. */
extern const char *const analyze_sort_keys[];

/* Orders syscalls and functions by KEY, the largest size first; "p" and "name" the least first. */
void analyze_diff_sort(struct analyze_diff *diff, const char *key);
