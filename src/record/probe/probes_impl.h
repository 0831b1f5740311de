/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Declarations that the mechanisms share. Each mechanism's file attaches probes, and probes.c keeps them. */
#pragma once

#include "kprotperf/engine.h"
#include "base/alloc.h"
#include "kprotperf.skel.h"
#include "record/probe/probes.h"

struct bpf_program;

/* Probes of a function, or of all functions that kprobe.multi attached together: then SITE is 0. */
struct record_attached {
	uint32_t site;
	/* Descriptors of links; -1: none. libbpf's struct bpf_link would take too much memory. */
	int entry, ret;
	/* Descriptors of the function's own programs; 0: none. They stay open: to find a program again takes CAP_SYS_ADMIN. */
	int progs[2];
};

struct record_probes {
	struct record_engine *engine;
	struct kprotperf_bpf *skel;
	vec_of(struct record_attached, attached);
	vec_of(int, point_links); /* descriptors of the links of probes inside functions */
	struct record_probe_misses before; /* misses up to the last record_probes_reset() */
	struct record_multi *multi;
};

extern const struct record_mechanism record_fentry_mechanism;
extern const struct record_mechanism record_kprobe_mechanism;
extern const struct record_mechanism record_multi_mechanism;

struct record_multi *record_multi_create(struct kprotperf_bpf *skel,
					 const struct record_features *features);
void record_multi_destroy(struct record_multi *m);

/* Return the probes of SITE; NULL: SITE has no probes. */
struct record_attached *record_attached_find(const struct record_probes *probes, uint32_t site);
/* Detach the probes A, and remove A from the array. The last item of the array moves to A's place. */
void record_attached_remove(struct record_probes *probes, struct record_attached *a);
