/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Folded stacks: the lines that flamegraph.pl reads, `frame;frame;frame COUNT`, root first. */
#ifndef KPROTPERF_OUTPUT_FOLDED_H
#define KPROTPERF_OUTPUT_FOLDED_H

#include <stdint.h>
#include <stdio.h>

struct output_folded_line {
	char *stack; /* frames without ';', blanks or control bytes, joined by ';' */
	double count[2]; /* baseline and hardened; [1] unused where there is one side */
};

/* N_COUNTS is 1, or 2 for a differential: `stack COUNT1 COUNT2`. */
void output_folded_write(FILE *out, const struct output_folded_line *lines, size_t n_lines,
			 unsigned int n_counts);

#endif
