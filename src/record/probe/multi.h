/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Hide a function of kprobe.multi for calibration. A link cannot do that, since all functions share one pair of links. */
#pragma once

#include <stdbool.h>

struct record_probes;
struct record_target;

/*
 * Set whether calls of TARGET's function are timed. If SHOW is false, the function stays attached, but the program does not find
 * the function in the hash table, so a call costs this look-up only. Return 0 or -errno.
 */
int record_multi_show(struct record_probes *probes, const struct record_target *target, bool show);
