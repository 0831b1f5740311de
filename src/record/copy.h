/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Copies of a program, each for one function: what is known of it is written into the instructions.
 */
#ifndef KPROTPERF_RECORD_COPY_H
#define KPROTPERF_RECORD_COPY_H

#include <stdint.h>

struct bpf_program;
struct record_cost;
struct record_target;

/* A copy of PROG, which is loaded, for SITE at TARGET, less COST. The descriptor, or -errno. */
int record_copy_load(const struct bpf_program *prog, uint32_t site,
		     const struct record_target *target, const struct record_cost *cost);

#endif
