/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The longest common subsequence of two sequences. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define SUBSEQUENCE_NONE UINT32_MAX

/* Return whether item I of the first sequence is the same as item J of the second one. */
typedef bool (*subsequence_fn)(const void *arg, uint32_t i, uint32_t j);

/*
 * Match the longest common subsequence of N items and M items: set OF[I] to the item that I is matched with, or to
 * SUBSEQUENCE_NONE. Return false, with nothing matched, if N times M is more than the 16 M that fit into 32 MB.
 */
bool subsequence_match(uint32_t *of, uint32_t n, uint32_t m, subsequence_fn same, const void *arg);
