/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The kernel reaches the kprobe of a probed instruction by ftrace, by a jump that the kernel's optimizer has written, or by a
 * breakpoint, at different costs. The optimizer writes the jump some time after the probe was enabled, and not for all
 * instructions.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "profile/profile.h"

struct record_engine;

/*
 * Return how the kernel reaches the kprobe at the function entry ADDR, as the code there shows: PROFILE_MECH_KPROBE (ftrace),
 * _OPTIMIZED (jump) or _INT3 (breakpoint). PROFILE_UNTIMED: unknown.
 */
enum profile_mechanism record_optimizer_look(const struct record_engine *e, uint64_t addr);

/*
 * Wait until the optimizer has processed the kprobe at ADDR, and so all kprobes enabled before. Wait for RECORD_OPTIMIZER_MS at
 * most, and not if the optimizer is off. Return how the kernel then reaches the probe, like record_optimizer_look().
 */
enum profile_mechanism record_optimizer_await(const struct record_engine *e, uint64_t addr);

#define RECORD_OPTIMIZER_MS 500

/* Return whether the optimizer is turned off, or whether that is unknown because /proc/sys cannot be read. */
bool record_optimizer_is_off(void);
