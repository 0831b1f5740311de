/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The clock that BPF programs read too (bpf_ktime_get_ns()).
 */
#pragma once

#include <stdint.h>

uint64_t clock_ns(void); /* CLOCK_MONOTONIC */

/*
 * Wait until all readings of the clock take equally long: in the first tick of each second the C library needs 6 instructions more
 * to carry nanoseconds into seconds.
 */
void clock_settle(void);

/* Return the smallest observed step of the clock NOW, in its unit. This waits for at least three steps. */
uint64_t clock_step_ns(uint64_t (*now)(void));

/* A recording has these open besides probes: programs, maps, links, the samplers of a few CPUs. */
#define OPEN_FILES_LEAST 128

/* Raise this process's limit of open files for N probes and the rest. Return -EMFILE if it is below N + OPEN_FILES_LEAST. */
int open_files_allow(uint32_t n);

/* Restore the limit of open files for the command. */
void open_files_restore(void);
