/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Convert the counts of the BPF programs in one run to the profile. */
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
 * Add the engine's counts to run RUN of P. Sites have the same numbers in P and in the engine: 0 for contexts, then those of
 * SITES. CODE names the code in stacks. Add the cost of syscalls' probes to COLD.
 */
void record_drain(struct profile *p, uint32_t run, const struct record_probes *probes,
		  const struct record_code *code, const struct record_sites *sites,
		  struct record_cold_costs *cold);

/* Compute counts of all basic blocks from hits of the block probes, for run RUN of P. Call this after record_drain(). */
void record_blocks_drain(const struct record_blocks *blocks, const struct record_engine *e,
			 struct profile *p, uint32_t run);

/* Add the values that C's functions captured in their calls to run RUN of P. Call this after record_drain(). */
void record_captures_drain(const struct record_captures *c, const struct record_engine *e,
			   struct profile *p, uint32_t run);

/* Return the name of context CTX (kprotperf/engine.h): "clone", "compat:clone", "[page_fault]". The caller frees the name. */
char *record_context_name(uint32_t ctx);
/*
 * Set (*LEFT_OUT)[context] to false for the syscall NAME. If *LEFT_OUT is NULL, first allocate the array, which the caller frees,
 * with true for all contexts. If there is no such syscall, return false and set *GUESS by kernel_name_guess().
 */
bool record_context_keep(bool **left_out, const char *name, char **guess);
/* Return the index of context CTX in P. Add the context to P if needed. */
uint32_t record_context_add(struct profile *p, uint32_t ctx);
