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
 * Time calls of TARGET's function if SHOW is true. The function stays attached: hidden, its calls cost the search that finds no site.
 * 0 or -errno.
 */
int record_multi_show(struct record_probes *probes, const struct record_target *target, bool show);
