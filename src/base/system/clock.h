/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The clock that BPF programs read too (bpf_ktime_get_ns()).
 */
#pragma once

#include <stdint.h>

uint64_t clock_ns(void); /* CLOCK_MONOTONIC */

/*
 * Waits for a time when readings take equally long: in the first tick of each second the C library's take 6 instructions more,
 * to carry.
 */
void clock_settle(void);

/* The least by which NOW, such as clock_ns(), was seen to advance at once, in its unit. Waits for three such steps. */
uint64_t clock_step_ns(uint64_t (*now)(void));

/* A recording has these open besides probes: programs, maps, links, the samplers of a few CPUs. */
#define OPEN_FILES_LEAST 128

/* Raises this process's limit, to N more files than any recording needs if that is allowed. -EMFILE if not even to the least. */
int open_files_allow(uint32_t n);

/* Sets the limit as it was before: for the command. */
void open_files_restore(void);
