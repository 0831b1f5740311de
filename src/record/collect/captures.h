/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The values that calls had, from the counts of the BPF programs to a profile. */
#pragma once

#include <stdint.h>

#include "profile/profile.h"
#include "record/target/capture.h"

struct record_engine;

/* Adds to RUN of P the rows of all functions of C. */
void record_captures_drain(const struct record_captures *c, const struct record_engine *e,
			   struct profile *p, uint32_t run);
