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
	/* What a hop costs, in ticks: see record_multi_hops(). 0: nothing, or it is not known. */
	uint32_t hop;
};

/*
 * ADDR is that of bpf_fentry_test1; 0: not known, and "repeats" is not tried. Takes the kernel 0.2 s (6.1:
 * two links are taken down, and it waits for each). 0, or -errno: -EOPNOTSUPP where the kernel has no FPROBE, -ENODATA
 * where calls cannot be told apart.
 */
int record_multi_try(uint64_t addr, struct record_multi *m);

/*
 * The kernel (6.1) finds the function that is hit in a hash table that each link has: HOPS becomes how
 * many others of the N at ADDRS, linked in this order, it passes before each. They are the same in the
 * entry's link and in the return's, and their cost is in what encloses a call, not in the call.
 */
void record_multi_hops(const uint64_t *addrs, uint32_t n, uint32_t *hops);

/* What a hop costs in both: a comparison, a load and a test, and their branches. */
#define RECORD_MULTI_HOP_INSNS 10

#endif
