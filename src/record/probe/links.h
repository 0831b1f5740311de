/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Closing the links of probes in the background, and reading the hits that they missed. Closing a link or a perf event
 * sleeps for one or more grace periods, tens of milliseconds. Links closed at the same time share grace periods, and the
 * CPU is free meanwhile.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Close FD in the background. Its probe may still be hit until record_detach_wait() has returned. */
void record_detach_deferred(int fd);

/* Wait for all record_detach_deferred() so far. Call this before probes that are still attached matter, and before any fork(). */
void record_detach_wait(void);

/*
 * record_detach_hurry() expedites grace periods on the whole machine (/sys/kernel/rcu_expedited); each of them then interrupts
 * each CPU. It returns whether it changed the setting. Pass that to record_detach_hurried(), which restores the setting.
 */
bool record_detach_hurry(void);
void record_detach_hurried(bool hurry);

/*
 * Return the number of hits that the link with descriptor LINK missed; PROFILE_NOT_COUNTED if the kernel does not
 * tell (before 6.7); 0 if it is not the link of a kprobe or kprobe.multi.
 */
uint64_t record_link_misses(int link);
/* Return A + B, or PROFILE_NOT_COUNTED if A or B is PROFILE_NOT_COUNTED. */
uint64_t record_misses_add(uint64_t a, uint64_t b);
