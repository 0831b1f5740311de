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
	const struct kernel_stop_block *blocks; /* of the graph, in its order */
};

struct kernel_stops;

/* For loops in IMG, which must outlive the result. NULL where its code cannot be read. */
struct kernel_stops *kernel_stops_create(struct kernel_image *img);
void kernel_stops_destroy(struct kernel_stops *s); /* accepts NULL */

/*
 * "idx < slab->objects": as long as that holds LOOP of F iterates again, for free(). Jumps from its head, or back to it, are meant; where
 * nothing is known of these, all that leave it. An operand that is not known is "..."; NULL: none is known.
 */
char *kernel_stop_of(struct kernel_stops *s, const struct kernel_stop_function *f, uint32_t loop);

/*
 * "crng_init == 0": what holds where BLOCK of F is executed, by the last jump on the only way there, for free(). OF_OBJECT: it is
 * about a variable of the kernel, rather than of the function. NULL: not known, or there are several ways.
 */
char *kernel_stop_guard(struct kernel_stops *s, const struct kernel_stop_function *f,
			uint32_t block, bool *of_object);
