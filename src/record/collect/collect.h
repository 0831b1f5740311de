/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Turning the BPF side's counts of one run into the profile. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "profile/profile.h"
#include "record/collect/code.h"
#include "record/cost/cost.h"
#include "record/probe/probes.h"
#include "record/target/block.h"
#include "record/target/capture.h"
#include "record/target/sites.h"

struct record_engine;

/*
 * Add all counts to run RUN of P. P's sites have the engine's numbers: 0 for the contexts, then those of SITES. CODE names
 * the code in stacks. The cost of syscalls' probes is added to COLD. The engine's counts are not changed.
 */
void record_drain(struct profile *p, uint32_t run, const struct record_probes *probes,
		  const struct record_code *code, const struct record_sites *sites,
		  struct record_cold_costs *cold);

/* Add the counts of all blocks, computed from the hits of block probes, to RUN of P. Call this after record_drain(). */
void record_blocks_drain(const struct record_blocks *blocks, const struct record_engine *e,
			 struct profile *p, uint32_t run);

/* Add the captured values of calls of C's functions to RUN of P. Call this after record_drain(). */
void record_captures_drain(const struct record_captures *c, const struct record_engine *e,
			   struct profile *p, uint32_t run);

/*
 * Return the name of context CTX, a number of the BPF side (kprotperf/engine.h): "clone",
 * "compat:clone", "[page_fault]". For free().
 */
char *record_context_name(uint32_t ctx);
/*
 * Remove the syscall NAME from *LEFT_OUT, an array for free(). If *LEFT_OUT is NULL, allocate it first, with all contexts left
 * out. If there is no such syscall, return false and set *GUESS by kernel_name_guess().
 */
bool record_context_keep(bool **left_out, const char *name, char **guess);
/* Return the index of context CTX in P, to which it is added if needed. */
uint32_t record_context_add(struct profile *p, uint32_t ctx);
