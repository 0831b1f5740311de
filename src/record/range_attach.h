/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Ranges attached: their probes put into the kernel, looked at, and given their programs.
 */
#ifndef KPROTPERF_RECORD_RANGE_ATTACH_H
#define KPROTPERF_RECORD_RANGE_ATTACH_H

#include "record/range.h"

struct record_engine;
struct profile;

/*
 * Puts the probes of RANGES into the kernel with its _stext at STEXT. Ranges whose probes the kernel refuses are
 * given up, which is no error. -EINTR where the user asked for an end, not reported.
 */
int record_ranges_arm(struct record_ranges *ranges, struct record_engine *e, uint64_t stext);
/*
 * Gives them their programs; P has the ranges' sites. To be called when all probes inside of functions are armed, those
 * of blocks too: what each costs depends on what is beside it, and before it in the kernel's lists.
 */
void record_ranges_attach(struct record_ranges *ranges, struct record_engine *e, struct profile *p,
			  uint64_t stext);
/* Takes the probes away. */
void record_ranges_detach(struct record_ranges *ranges);

/* Adds the sites to P, after those of functions. */
void record_ranges_add_sites(const struct record_ranges *ranges, struct profile *p);

#endif
