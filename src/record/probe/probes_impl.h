/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Shared by the mechanisms: probes.c keeps the attached probes, each mechanism's file attaches them.
 */
#pragma once

#include "kprotperf/engine.h"
#include "base/alloc.h"
#include "kprotperf.skel.h"
#include "record/probe/probes.h"

struct bpf_program;

/* A site's probes or, by kprobe.multi, those of several sites (SITE is 0). */
struct record_attached {
	uint32_t site;
	/* Descriptors of links; -1: none. As struct bpf_link they would take too much memory. */
	int entry, ret;
	/* Descriptors of the site's own programs, kept open as finding them again takes CAP_SYS_ADMIN; 0: none. */
	int progs[2];
};

/* Descriptors of fentry and fexit programs loaded for a site that is not attached yet. */
struct record_prepared {
	uint32_t site;
	int entry, ret;
};

struct record_probes {
	struct record_engine *engine;
	struct kprotperf_bpf *skel;
	struct record_points *points;
	vec_of(struct record_attached, attached);
	struct record_probe_misses before; /* misses at the last reset */
	vec_of(struct record_prepared, prepared);
	struct record_multi *multi;
};

extern const struct record_mechanism record_fentry_mechanism;
extern const struct record_mechanism record_kprobe_mechanism;
extern const struct record_mechanism record_multi_mechanism;

struct record_multi *record_multi_create(struct kprotperf_bpf *skel,
					 const struct record_features *features);
void record_multi_destroy(struct record_multi *m);

/* The probes of SITE; NULL: none. */
struct record_attached *record_attached_find(const struct record_probes *probes, uint32_t site);
/* Detach A. Another item takes its place in the array. */
void record_attached_remove(struct record_probes *probes, struct record_attached *a);
