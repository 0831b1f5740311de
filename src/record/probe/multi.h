/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Operation of kprobe.multi alone, for calibration: all its functions share one pair of links.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct record_probes;
struct record_target;

/*
 * Set whether calls of TARGET's function are timed. If SHOW is false, the function stays attached, and a call costs the lookup that
 * finds no site. Return 0 or -errno.
 */
int record_multi_show(struct record_probes *probes, const struct record_target *target, bool show);
