/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Functions that execute a number of instructions known by construction.
 *
 * Each is a C function, so that it has a place for fentry and an entry in BTF, whose body is assembly
 * alone. The compiler adds the five-byte nop at the entry and the return; what it really added is
 * checked by measuring (main.c).
 */
#pragma once

#include <linux/types.h>

/* What a function executes before its body: the nop. */
#define SHAPE_ENTRY 1

/* Instructions of SHAPE_LOOP(turns): the counter's load, then two a turn. */
#define SHAPE_LOOP_INSNS(turns) (1 + 2 * (turns))

/* noipa: called as any function is, whatever the compiler sees of its body. */
#define shape_fn __attribute__((noipa))

#define PLAIN_TURNS       500
#define SMALL_TURNS       10
#define OUTER_TURNS       100
#define INNER_A_TURNS     300
#define INNER_B_TURNS     20
#define RECURSIVE_TURNS   200
#define RECURSIVE_DEPTH   7 /* calls below the first */
#define DEEP_DEPTH        40 /* likewise: deeper than anything is followed */
#define TAIL_TURNS        150
#define TAIL_END_TURNS    400
#define TICK_TURNS        10000
#define INTERRUPTED_TURNS 2000000
#define SLEEPING_TURNS    1000 /* before the sleep, and after it */
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
 * What a call of a function executes itself, and with the functions of this module that it calls. The
 * total leaves out what else it calls and what interrupts it.
 */
struct shape_count {
	const char *function;
	u64 self;
	u64 total;
};

/* How many instructions a return is. */
u64 shape_return_insns(void);

/* inlined.c: its folder, to be removed by the caller. */
struct dentry *inlined_create(void);

size_t shape_counts(struct shape_count *counts, size_t max);
