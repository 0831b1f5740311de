/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What engine.c, which attaches and tells, and engine_counts.c, which reads, share.
 */
#ifndef KPROTPERF_RECORD_ENGINE_IMPL_H
#define KPROTPERF_RECORD_ENGINE_IMPL_H

#include "kprotperf.skel.h"
#include "record/calibrate.h"
#include "record/engine.h"
#include "record/load.h"

struct record_engine {
	struct record_bpf bpf;
	struct bpf_link **links;
	uint32_t n_links, cap_links;
	struct record_functions *functions;
	struct record_points *points;
	struct record_sampler *sampler;
	uint64_t misses_before, probe_misses_before;
	struct record_cost costs[PROFILE_N_MECHANISMS]; /* of sites attached from now on */
	double interrupts; /* their share of the time */
	uint8_t *n_args; /* of each site's function */
	uint64_t *missed_before; /* by site: see struct record_engine_maps */
};

/* Calls of SITE whose return is missed from now on are not the kernel's loss. */
void record_engine_note_missed(struct record_engine *e, uint32_t site);

/* How often the kernel has skipped the program FD so far; 0 if it does not tell. */
uint64_t record_engine_program_misses(int fd);

#endif
