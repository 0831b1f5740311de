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
 * Adds everything to run RUN of P, whose sites are numbered as the engine's, and after that of the
 * contexts are SITES. CODE names what stacks have. The cost of syscalls' probes is added to COLD. The engine
 * is left as it is.
 */
void record_drain(struct profile *p, uint32_t run, const struct record_probes *probes,
		  const struct record_code *code, const struct record_sites *sites,
		  struct record_cold_costs *cold);

/* Turn the counts of probes of blocks in RUN into counts of all blocks, in P, which has the run's cells. */
void record_blocks_drain(const struct record_blocks *blocks, const struct record_engine *e,
			 struct profile *p, uint32_t run);

/* Adds to RUN of P the values that calls had, the rows of all functions of C. */
void record_captures_drain(const struct record_captures *c, const struct record_engine *e,
			   struct profile *p, uint32_t run);

/*
 * The name of context CTX as the BPF side numbers them (kprotperf/engine.h): "clone",
 * "compat:clone", "[page_fault]". For free().
 */
char *record_context_name(uint32_t ctx);
/*
 * Takes the syscall of that NAME out of *LEFT_OUT, which has all contexts at first, when it is NULL (for free()). False: there is none;
 * *GUESS is kernel_name_guess()'s then.
 */
bool record_context_keep(bool **left_out, const char *name, char **guess);
/* The index of that context in P, which it is added to if need be. */
uint32_t record_context_add(struct profile *p, uint32_t ctx);
