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

/*
 * ADDR is that of bpf_fentry_test1; 0: not known, and "repeats" is not tried. Takes the kernel 0.2 s (6.1:
 * two links are taken down, and it waits for each). 0, or -errno: -EOPNOTSUPP where the kernel has no FPROBE, -ENODATA
 * where calls cannot be told apart.
 */
int record_multi_try(uint64_t addr, struct record_multi *m);

#endif
