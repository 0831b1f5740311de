/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How this kernel's kprobe.multi behaves, found out by trying it on a function that does nothing.
 */
#ifndef KPROTPERF_RECORD_MULTI_H
#define KPROTPERF_RECORD_MULTI_H

#include <stdbool.h>
#include <stdint.h>

struct record_multi {
	/*
	 * The stack pointer that a return program sees, less the one at the entry. A word where returns
	 * come through rethook (up to 6.13), since the return address is gone; kernels whose returns
	 * come through the function graph tracer gave different ones, and some nothing to go by.
	 */
	int64_t sp;
	/*
	 * Naming a function several times runs programs once. Up to 6.13 the kernel keeps twice as many
	 * returns for a link as it has functions, for each CPU: more tasks asleep in them, and returns
	 * are missed. Naming functions again makes it keep more.
	 */
	bool repeats;
};

/* 0, or -errno: -EOPNOTSUPP where the kernel has no FPROBE, -ENODATA where calls cannot be told apart. */
int record_multi_try(struct record_multi *m);

#endif
