/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * kprobes as perf events: they leave nothing behind when their process dies.
 */
#ifndef KPROTPERF_RECORD_KPROBE_H
#define KPROTPERF_RECORD_KPROBE_H

#include <stdbool.h>
#include <stdint.h>

/*
 * A probe on the function at ADDR, without a program yet; the descriptor, or -errno, not reported. By
 * address, not by name: names can be those of several functions.
 */
int record_kprobe_open(uint64_t addr, bool on_return);

/* Does the kernel take kprobes at ADDR? 0 or -errno of an attempt. */
int record_kprobe_try(uint64_t addr);

/*
 * Which of the N probes at ADDRS the kernel's optimizer has replaced or is going to, as its list of probes says:
 * it marks them when they are queued. 0 or -errno, not reported, where there is no such list.
 */
int record_kprobe_queued(const uint64_t *addrs, uint32_t n, bool *queued);

/*
 * The kernel keeps probes in 64 lists by a hash of their address, the latest first, and looks through one
 * whenever one is hit. HOPS becomes how many others of the N at ADDRS, probed in this order, come before
 * each.
 */
void record_kprobe_hops(const uint64_t *addrs, uint32_t n, uint32_t *hops);

/* What one such step costs, in instructions: a load, a comparison, and their branches. */
#define RECORD_KPROBE_HOP_INSNS 5

/* All kprobes that there are, by those lists, as the kernel shows them where debugfs is mounted. */
struct record_kprobe_lists {
	uint64_t *addrs;
	uint32_t n_addrs, cap_addrs;
};

/* -errno where it does not. */
int record_kprobe_lists_read(struct record_kprobe_lists *lists);
void record_kprobe_lists_clear(struct record_kprobe_lists *lists);

/* How many come before the one at ADDR in its list; where there is none, all of that list. */
uint32_t record_kprobe_lists_before(const struct record_kprobe_lists *lists, uint64_t addr);

#endif
