/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel gets from a probed instruction to the kprobe there through ftrace, through a jump
 * that its optimizer has written, or through a breakpoint, at different costs. The optimizer
 * writes the jump some time after the probe was enabled, and not at every place.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "profile/profile.h"

struct record_engine;

/*
 * Return how the kernel reaches the kprobe at the function entry ADDR, judging by the code there: PROFILE_MECH_KPROBE
 * (ftrace), _OPTIMIZED (jump), _INT3 (breakpoint), or PROFILE_UNTIMED if unknown.
 */
enum profile_mechanism record_optimizer_look(const struct record_engine *e, uint64_t addr);

/*
 * Wait, for RECORD_OPTIMIZER_MS at most, until the optimizer has processed the kprobe at ADDR; do not wait if it is turned off. By
 * then it has also processed all kprobes enabled before. Return how the kernel then reaches the probe, as record_optimizer_look().
 */
enum profile_mechanism record_optimizer_await(const struct record_engine *e, uint64_t addr);

#define RECORD_OPTIMIZER_MS 500

/* Return whether the optimizer is turned off, or its setting in /proc/sys cannot be read. */
bool record_optimizer_is_off(void);
