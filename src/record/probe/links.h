/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Links of probes: taken down in the background, and asked what they missed. Closing a link or a perf event makes
 * the kernel wait for a grace period, or several, which is tens of milliseconds of sleep; of those closed at once
 * some share theirs, and the CPU is free meanwhile.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Closes FD by and by. Its probe may still be hit until record_detach_wait() has returned. */
void record_detach_later(int fd);

/* Until all are closed. To be called before what is left attached matters, and before any fork(). */
void record_detach_wait(void);

/*
 * Between the two grace periods end at once, on the whole machine (/sys/kernel/rcu_expedited), at the price of an
 * interrupt of each CPU for each. The first returns whether it changed that, which the second is given.
 */
bool record_detach_hurry(void);
void record_detach_hurried(bool hurry);

/*
 * Hits that LINK, a descriptor, missed; PROFILE_NOT_COUNTED where the kernel does not tell (before 6.7),
 * 0 for links that are no kprobe's or kprobe.multi's.
 */
uint64_t record_link_misses(int link);
/* The sum of two such numbers. */
uint64_t record_misses_add(uint64_t a, uint64_t b);
