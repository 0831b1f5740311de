/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Close the links of probes in the background, and read how many hits the kernel missed at these links. Closing a link or a perf
 * event sleeps for one or more RCU grace periods, tens of milliseconds. Links closed at the same time share grace periods, and the
 * CPU is free meanwhile.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Close FD in the background. Its probe may still be hit until record_detach_wait() has returned. */
void record_detach_deferred(int fd);

/* Wait until all record_detach_deferred() so far are done. Call this when probes must be gone, and before any fork(). */
void record_detach_wait(void);

/*
 * record_detach_hurry() makes RCU grace periods on the whole machine shorter (/sys/kernel/rcu_expedited), and each interrupts all
 * CPUs. It returns whether it changed the setting: pass this to record_detach_hurried(), which restores the setting.
 */
bool record_detach_hurry(void);
void record_detach_hurried(bool hurry);

/*
 * Return the number of hits that the link LINK (a descriptor) missed; PROFILE_NOT_COUNTED if the kernel does not report misses
 * (before 6.7); 0 if the link is not of kprobe or kprobe.multi.
 */
uint64_t record_link_misses(int link);
/* Return A + B, or PROFILE_NOT_COUNTED if A or B is PROFILE_NOT_COUNTED. */
uint64_t record_misses_add(uint64_t a, uint64_t b);
