/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The condition of a loop or a call, in the source's words: the compare before a jump, traced back through registers to variables
 * by DWARF, members behind these, variables of the kernel, and functions' return values.
 */
#pragma once

#include "kernel/cfg/graph.h"

struct kernel_image;

struct kernel_stop_block {
	uint64_t addr; /* relative to _stext */
	uint32_t bytes;
};

struct kernel_stop_function {
	const struct kernel_graph *graph;
	const struct kernel_loops *loops;
	const struct kernel_stop_block *blocks; /* indexed by block of the graph */
};

struct kernel_stops;

/* Prepare to find conditions in IMG, which must outlive the result. NULL: its code cannot be read. */
struct kernel_stops *kernel_stops_create(struct kernel_image *img);
void kernel_stops_destroy(struct kernel_stops *s); /* accepts NULL */

/*
 * Return the condition under which LOOP of F iterates again, such as "idx < slab->objects"; for free(). It is the one of jumps at the
 * loop's head or back to it; if it is unknown, of all jumps out of the loop. An unknown operand is "..."; NULL: all are unknown.
 */
char *kernel_stop_of(struct kernel_stops *s, const struct kernel_stop_function *f, uint32_t loop);

/*
 * Return the condition under which BLOCK of F is executed, such as "crng_init == 0": that of the last jump on the only path to it; for
 * free(). *OF_OBJECT: the condition is about a variable of the kernel. NULL: unknown, or there are several paths.
 */
char *kernel_stop_guard(struct kernel_stops *s, const struct kernel_stop_function *f,
			uint32_t block, bool *of_object);
