/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Function sites attached: copies of the fentry pair, or the one kprobe pair with cookies.
 */
#ifndef KPROTPERF_RECORD_FUNCTION_H
#define KPROTPERF_RECORD_FUNCTION_H

#include <stdint.h>

#include "profile/profile.h"

struct kprotperf_bpf;
struct record_functions;

/* A function to attach to. */
struct record_target {
	uint64_t addr; /* absolute */
	int32_t btf_id; /* for fentry, */
	int btf_fd; /* in the BTF object of a module, or 0 in the kernel's own */
};

/* SKEL must be loaded and outlive the result. */
struct record_functions *record_functions_create(struct kprotperf_bpf *skel);
void record_functions_destroy(struct record_functions *f); /* accepts NULL */

/* See record_engine_attach(). A site whose second probe is refused is left with none. */
int record_functions_attach(struct record_functions *f, uint32_t site, enum profile_mechanism mech,
			    const struct record_target *target);
/* Undoes the last record_functions_attach() that succeeded. */
void record_functions_detach_last(struct record_functions *f);
void record_functions_detach(struct record_functions *f); /* accepts NULL */

/* The sum of what MISSES gives for each program loaded here. */
uint64_t record_functions_misses(const struct record_functions *f, uint64_t (*misses)(int prog_fd));

#endif
