/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Find the condition under which a loop iterates or a block is executed, as C source text. Such a condition is the comparison
 * before a jump. Trace its operands back through registers to local variables (by DWARF), struct members behind these, kernel
 * variables, and functions' return values.
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

/* Prepare to find conditions in IMG, which must outlive the result. Return NULL if IMG's code cannot be read. */
struct kernel_stops *kernel_stops_create(struct kernel_image *img);
void kernel_stops_destroy(struct kernel_stops *s); /* accepts NULL */

/*
 * Return the condition under which LOOP of F iterates again, such as "idx < slab->objects". Derive the condition from exits in the
 * loop's head and in blocks that jump to the head. If these have unknown conditions, try the other exits. "..." stands for an
 * unknown operand. Return NULL if all conditions are unknown. The caller frees the result.
 */
char *kernel_stop_of(struct kernel_stops *s, const struct kernel_stop_function *f, uint32_t loop);

/*
 * Return the condition under which BLOCK of F is executed, such as "crng_init == 0". The condition comes from the last conditional
 * jump on the only path to BLOCK. If its left side is a kernel variable, set *OF_OBJECT to true, else to false. Return NULL if the
 * condition is unknown or there are several paths. The caller frees the result.
 */
char *kernel_stop_guard(struct kernel_stops *s, const struct kernel_stop_function *f,
			uint32_t block, bool *of_object);
