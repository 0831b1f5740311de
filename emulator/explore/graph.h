/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The running kernel's functions, the search's targets, and how many direct calls each function is away from a target. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define GRAPH_FAR UINT32_MAX /* no path of direct calls leads to a target */

/* Read files of symbols and targets as described in explore.c. Return false, after a message, if no target is there. */
bool graph_read(const char *symbols, const char *targets);

/* Find the direct calls in the kernel's code. Do nothing if this was done, or if the guest's kernel is not mapped at present. */
void graph_read_calls(void);

/* Return the index of the function at ADDR. */
uint32_t graph_find(uint64_t addr);

/* Return how many calls a function is away from a target: 0 if it has one, GRAPH_FAR if only calls by pointer may lead there. */
uint32_t graph_distance(uint32_t function);

/* Return whether the instruction at ADDR is in a target. */
bool graph_is_target(uint64_t addr);
