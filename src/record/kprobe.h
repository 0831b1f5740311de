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
 * it marks them when they are queued. 0 or -errno, not reported, where there is no such list. For kernels
 * whose own table cannot be read: record/kprobe_table.h.
 */
int record_kprobe_queued(const uint64_t *addrs, uint32_t n, bool *queued);

#endif
