/* SPDX-License-Identifier: GPL-2.0-or-later */
#pragma once

#include <stdint.h>

struct profile;

/*
 * The name of context CTX as the BPF side numbers them (kprotperf/engine.h): "clone",
 * "compat:clone", "[page_fault]". For free().
 */
char *record_context_name(uint32_t ctx);
/* The index of that context in P, which it is added to if need be. */
uint32_t record_context_add(struct profile *p, uint32_t ctx);
