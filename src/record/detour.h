/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * How the kernel gets from a probed instruction to the kprobe there: through ftrace, through a jump
 * that its optimizer has written, or through a breakpoint. Each costs something else. The optimizer
 * comes some time after the probe was enabled, and not to every place.
 */
#ifndef KPROTPERF_RECORD_DETOUR_H
#define KPROTPERF_RECORD_DETOUR_H

#include <stdbool.h>
#include <stdint.h>

#include "profile/profile.h"

/*
 * What stands at ADDR, where a function with a kprobe on its entry begins: PROFILE_MECH_KPROBE for
 * ftrace, _OPTIMIZED, _INT3, or PROFILE_MECH_NONE where it cannot be told.
 */
enum profile_mechanism record_detour_look(uint64_t addr);

/*
 * Waits, for RECORD_DETOUR_MS at most, until the optimizer has been to the kprobe at ADDR, unless it is
 * turned off. It takes all that were enabled before in the same go, or took them earlier. What the probe
 * is reached by then.
 */
enum profile_mechanism record_detour_await(uint64_t addr);

#define RECORD_DETOUR_MS 500

/* Is the optimizer turned off? Also where nothing says that there is one. */
bool record_detour_is_off(void);

/* The same for many addresses: a descriptor to look with, or -errno; for close(). */
int record_detour_open(void);
enum profile_mechanism record_detour_look_with(int reader, uint64_t addr);
/* The four bytes at ADDR as they stand in memory; 0 if they cannot be read. */
uint32_t record_detour_text(int reader, uint64_t addr);

#endif
