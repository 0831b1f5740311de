/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions that execute a number of instructions known by construction.
 *
 * Each is a C function, for fentry and BTF, with a body of assembly only. The compiler adds the five-byte nop at the entry and
 * the return. main.c checks this by measuring.
 */
#pragma once

#include <linux/types.h>

/* Instructions of a function before its body: the nop. */
#define SHAPE_ENTRY 1

/* Instructions of SHAPE_LOOP(turns): the load of the counter, then two per turn. */
#define SHAPE_LOOP_INSNS(turns) (1 + 2 * (turns))

/* noipa: called like any function, although the compiler sees its body. */
#define shape_fn __attribute__((noipa))

#define PLAIN_TURNS       500
#define SMALL_TURNS       10
#define OUTER_TURNS       100
#define INNER_A_TURNS     300
#define INNER_B_TURNS     20
#define RECURSIVE_TURNS   200
#define RECURSIVE_DEPTH   7 /* nested calls below the first call */
#define DEEP_DEPTH        40 /* nested calls below the first call, more than are followed */
#define TAIL_TURNS        150
#define TAIL_END_TURNS    400
#define TICK_TURNS        10000
#define INTERRUPTED_TURNS 2000000
#define SLEEPING_TURNS    1000 /* both before and after the sleep */
#define SLEEPING_MS       4
#define YIELDING_TURNS    10000
#define YIELDING_ROUNDS   600
#define IRQS_OFF_TURNS    20000
#define LEAVES            20
#define LEAF_TURNS(i)     (5 + 20 * (i))

void known_empty(void);
void known_small(void);
void known_plain(void);
void known_outer(void);
void known_inner_a(void);
void known_inner_b(void);
void known_recursive(long depth);
void known_tail(void);
void known_tail_end(void);
void known_tick(void);
void known_interrupted(void);
void known_sleeping(void);
void known_yielding(void);
void known_irqs_off(void);
void known_leaves(void);
void known_clear_page(void);
long known_sum(long a, long b);

/*
 * Instructions per call of a function: its own, and including callees in this module. TOTAL excludes other callees and
 * interrupts.
 */
struct shape_count {
	const char *function;
	u64 self;
	u64 total;
};

/* Return the number of instructions of a return. */
u64 shape_return_insns(void);

/* Create the debugfs folder of inlined.c. The caller removes it. */
struct dentry *inlined_create(void);

size_t shape_counts(struct shape_count *counts, size_t max);
