/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Folded stacks: the lines that flamegraph.pl reads, `frame;frame;frame COUNT`, root first. Kernel functions end in
 * "_[k]", inlined bodies in "_[i]".
 */
#pragma once

#include <stdio.h>

#include "analyze/inline/stacks.h"

/* Return the part of a folded line before COUNT, with ';', blanks and control bytes in names replaced; for free(). */
char *output_folded_frames(const struct analyze_frame *frames, size_t n);

/* Write STACKS, sorted by text. N_COUNTS: 1, or 2 for a differential: `stack COUNT1 COUNT2`. */
void output_folded_write(FILE *out, const struct analyze_stacks *stacks, unsigned int n_counts);
