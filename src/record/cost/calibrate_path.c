// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * path_close() (bpf/block.bpf.c) times itself. What it takes around its readings of the clock, calls that enclose the one whose path
 * it notes would have for their own.
 */
#include <bpf/libbpf.h>
#include <linux/types.h>
#include <sys/syscall.h>

#include "base/log.h"
#include "kprotperf/engine.h"
#include "kprotperf.skel.h"
#include "record/cost/calibrate_impl.h"

void record_calibrate_path(struct calibrator *c)
{
	struct kprotperf_bpf *skel = record_engine_programs(c->e);
	int prog = bpf_program__fd(skel->progs.enclose_path), err = 0;
	uint64_t times[2] = { 0 };

	if (prog < 0) /* no blocks are counted */
		return;
	for (int i = 0; i < 2 && !err; i++) {
		struct record_reading r = { ENGINE_SITE_CONTEXT, SYS_bpf, RECORD_SUM_NET };

		skel->bss->enclosed = i;
		err = record_measure(c->e, record_round_run, &prog, &r, 1);
		times[i] = record_series_median(&r.series);
	}
	skel->bss->enclosed = 0;
	if (err)
		log_verbose(1, "the cost of noting paths is unknown: %s", log_strerror(err));
	else
		c->out->cost[PROFILE_MECH_BLOCK].rest = record_cost_less(times[1], times[0]);
}
