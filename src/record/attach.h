/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Sites attached, each by a mechanism that the kernel takes, and what their probes cost calibrated on
 * the way: some costs are to be known before a probe is there, others only when all are.
 */
#ifndef KPROTPERF_RECORD_ATTACH_H
#define KPROTPERF_RECORD_ATTACH_H

#include <stdbool.h>

#include "profile/profile.h"
#include "record/block.h"
#include "record/range.h"
#include "record/sites.h"
#include "record/symbols.h"

struct record_engine;
struct record_features;
struct record_calibration;

/* All of it is the caller's. */
struct record_attachment {
	struct record_engine *engine; /* started, not armed */
	struct record_sites *sites; /* their mechanisms become those in use */
	struct record_ranges *ranges;
	struct record_blocks *blocks;
	struct record_symbols *symbols;
	const struct record_features *features;
	struct record_calibration *calibration; /* record_calibrate_before() has been called */
	struct profile *p; /* has the sites, numbered as in the engine: the context's first */
	enum record_attach how;
	bool recalibrate; /* a function is probed by a mechanism that was not planned */
};

/* -errno, reported; or -EINTR, not reported, where the user asked for an end. */
int record_attach_sites(struct record_attachment *a);

#endif
