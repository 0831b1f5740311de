/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Folded stacks: lines `frame;frame;frame COUNT` for flamegraph.pl, outermost caller first. Kernel functions end in "_[k]",
 * inlined functions in "_[i]".
 */
#pragma once

#include <stdio.h>

#include "analyze/inline/stacks.h"

/* Return FRAMES as the part of a folded line before COUNT; for free(). In names, "_" replaces ';', blanks and other bytes. */
char *output_folded_frames(const struct analyze_frame *frames, size_t n);

/* Write STACKS, sorted by text, each with N_COUNTS counts. Two counts, `stack COUNT1 COUNT2`, are for differential graphs. */
void output_folded_write(FILE *out, const struct analyze_stacks *stacks, unsigned int n_counts);
