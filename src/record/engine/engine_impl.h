/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared by engine.c, which attaches and sets, and engine_counts.c, which reads.
 */
#pragma once

#include "base/alloc.h"
#include "kprotperf.skel.h"
#include "record/engine/engine.h"
#include "record/engine/load.h"

struct record_engine {
	struct record_bpf bpf;
	vec_of(struct bpf_link *, links);
	struct record_sampler *sampler;
	struct record_counters *counters; /* NULL: there are none */
	uint8_t *n_args; /* arguments of the function, indexed by site, spare ones too */
	uint64_t oncpu_before; /* CPU time of all tasks followed up to the last reset, ns */
};
