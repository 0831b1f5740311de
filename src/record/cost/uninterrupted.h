/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Interrupts that hit the probes of a function's blocks. Such a function's time is mostly that of probes, so
 * that most interrupts that come while it runs hit those, and are none of its own. Their mean share, which
 * is excluded with every probe, is that of a uninterrupted machine; the workload's have more to do. So the calls
 * that nothing came in between say what a call takes, and the others what interrupts took in all.
 */
#pragma once

#include <linux/types.h>
#include <stdint.h>

#include "kprotperf/engine.h"

/*
 * What the self time of the N shards of CELL is too high by, in ticks; INNER is what each call has of its own
 * probes, SHARE that of interrupts in all that is excluded. 0 where too few calls were uninterrupted to tell.
 */
int64_t record_uninterrupted_excess(const struct engine_cell *cell, uint32_t n, uint64_t inner,
				    double share);
