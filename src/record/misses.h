/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the kernel says that its probes missed.
 */
#ifndef KPROTPERF_RECORD_MISSES_H
#define KPROTPERF_RECORD_MISSES_H

#include <stdint.h>

/*
 * Hits that LINK, a descriptor, missed; PROFILE_NOT_COUNTED where the kernel does not tell (before 6.7),
 * 0 for links that are no kprobe's or kprobe.multi's.
 */
uint64_t record_link_misses(int link);

#endif
