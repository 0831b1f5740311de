/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The condition of a loop or of a call, in the source's words. The comparison before a jump is traced back through
 * registers to its operands: variables (by DWARF), members that they point to, variables of the kernel, and return values
 * of functions.
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

/* Prepare to find conditions in IMG, which must outlive the result. Return NULL if its code cannot be read. */
struct kernel_stops *kernel_stops_create(struct kernel_image *img);
void kernel_stops_destroy(struct kernel_stops *s); /* accepts NULL */

/*
 * Return the condition under which LOOP of F iterates again, such as "idx < slab->objects". It comes from the jumps at
 * the loop's head or back to it; if these are unknown, from all jumps out of the loop. An unknown operand is "...".
 * Return NULL if all are unknown. The caller frees the result.
 */
char *kernel_stop_of(struct kernel_stops *s, const struct kernel_stop_function *f, uint32_t loop);

/*
 * Return the condition under which BLOCK of F is executed, such as "crng_init == 0". It comes from the last conditional jump
 * on the only path to BLOCK. *OF_OBJECT becomes whether its left side is a variable of the kernel. Return NULL if the
 * condition is unknown or there are several paths. The caller frees the result.
 */
char *kernel_stop_guard(struct kernel_stops *s, const struct kernel_stop_function *f,
			uint32_t block, bool *of_object);
