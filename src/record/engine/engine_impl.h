/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The struct that engine.c (programs and parameters) and engine_counts.c (counts) share. */
#pragma once

#include "base/alloc.h"
#include "kprotperf.skel.h"
#include "record/engine/engine.h"
#include "record/engine/load.h"

struct record_engine {
	struct record_bpf bpf;
	vec_of(struct bpf_link *, links);
	struct record_sampler *sampler;
	struct record_counters *counters; /* NULL: no events are counted */
	uint8_t *n_args; /* numbers of arguments, indexed by function, spare functions included */
	uint64_t oncpu_before; /* CPU time, in ns, of all followed tasks until the last reset */
};
