/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The monotonic clock, which BPF programs read by bpf_ktime_get_ns(), and the limit of open files. */
#pragma once

#include <stdint.h>

uint64_t clock_ns(void);

/*
 * Wait until every reading of the clock takes the same time: in the first tick of each second the C library needs 6 instructions
 * more to carry nanoseconds into seconds.
 */
void clock_settle(void);

/* Return the smallest observed step of the clock function NOW, in its unit. This waits for at least three steps. */
uint64_t clock_step_ns(uint64_t (*now)(void));

/* Number of files that a recording opens besides probes: BPF programs, maps, links, samplers of a few CPUs. */
#define OPEN_FILES_LEAST 128

/* Raise this process's limit of open files for N probes. Return -EMFILE if the limit stays below N + OPEN_FILES_LEAST. */
int open_files_allow(uint32_t n);

void open_files_restore(void);
