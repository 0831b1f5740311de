/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * What the probes of blocks counted, made into a profile's counts of all blocks.
 */
#pragma once

#include "record/target/block.h"

struct record_engine;

/* What RUN counted, into P, which has the run's cells. */
void record_blocks_drain(const struct record_blocks *blocks, const struct record_engine *e,
			 struct profile *p, uint32_t run);
