// SPDX-License-Identifier: GPL-2.0-or-later
#include "shapes.h"

#include <linux/bug.h>
#include <linux/delay.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/stringify.h>
#include <asm/asm.h>
#include <asm/cpufeature.h>

/* Assembly, one instruction per line: clang-format would join them. */
/* clang-format off */

/* The labels are local, so one function can have several loops. */
#define SHAPE_LOOP(turns)                                   \
	"	mov $" __stringify(turns) ", %%eax\n"       \
	"77:	dec %%eax\n"                                \
	"	jnz 77b\n"

#define SHAPE_CALL(function) "	call " #function "\n"

/* All registers that a call may change. */
#define SHAPE_CLOBBERS "rax", "rcx", "rdx", "rsi", "rdi", "r8", "r9", "r10", "r11", "cc", "memory"

#define shape_body(text) asm volatile(text : ASM_CALL_CONSTRAINT : : SHAPE_CLOBBERS)

shape_fn void known_empty(void)
{
	shape_body("");
}

shape_fn void known_small(void)
{
	shape_body(SHAPE_LOOP(SMALL_TURNS));
}

shape_fn void known_plain(void)
{
	shape_body(SHAPE_LOOP(PLAIN_TURNS));
}

shape_fn void known_inner_a(void)
{
	shape_body(SHAPE_LOOP(INNER_A_TURNS));
}

shape_fn void known_inner_b(void)
{
	shape_body(SHAPE_LOOP(INNER_B_TURNS));
}

shape_fn void known_outer(void)
{
	shape_body(
		SHAPE_CALL(known_inner_a)
		SHAPE_LOOP(OUTER_TURNS)
		SHAPE_CALL(known_inner_b)
		SHAPE_CALL(known_inner_a));
}

shape_fn void known_recursive(long depth)
{
	asm volatile(
		SHAPE_LOOP(RECURSIVE_TURNS)
		"	test %%rdi, %%rdi\n"
		"	jz 1f\n"
		"	dec %%rdi\n"
		SHAPE_CALL(known_recursive)
		"1:\n"
		: "+D"(depth), ASM_CALL_CONSTRAINT
		:
		: "rax", "rcx", "rdx", "rsi", "r8", "r9", "r10", "r11", "cc", "memory");
}

shape_fn void known_tail_end(void)
{
	shape_body(SHAPE_LOOP(TAIL_END_TURNS));
}

/* The compiler turns this last call into a jump. */
shape_fn void known_tail(void)
{
	shape_body(SHAPE_LOOP(TAIL_TURNS));
	known_tail_end();
}

/* Called by the timer's interrupt. */
shape_fn void known_tick(void)
{
	shape_body(SHAPE_LOOP(TICK_TURNS));
}

/* This function takes long enough for several timer interrupts. */
shape_fn void known_interrupted(void)
{
	shape_body(SHAPE_LOOP(INTERRUPTED_TURNS));
}

shape_fn void known_sleeping(void)
{
	shape_body(
		SHAPE_LOOP(SLEEPING_TURNS)
		"	mov $" __stringify(SLEEPING_MS) ", %%edi\n"
		SHAPE_CALL(msleep)
		SHAPE_LOOP(SLEEPING_TURNS));
}

shape_fn static void yield_turns(void)
{
	shape_body(SHAPE_LOOP(YIELDING_TURNS));
}

/* This function never sleeps, but yields the CPU if the scheduler asks for it. */
shape_fn void known_yielding(void)
{
	for (int i = 0; i < YIELDING_ROUNDS; i++) {
		yield_turns();
		cond_resched();
	}
}

shape_fn void known_irqs_off(void)
{
	shape_body(
		"	pushf\n"
		"	cli\n"
		SHAPE_LOOP(IRQS_OFF_TURNS)
		"	popf\n");
}

/* known_clear_page() calls a function of the kernel without an ftrace location. */
u8 known_page[PAGE_SIZE] __aligned(PAGE_SIZE);

shape_fn void known_clear_page(void)
{
	shape_body(
		"	lea known_page(%%rip), %%rdi\n"
		SHAPE_CALL(clear_page_rep));
}

#define LEAF(i)                                             \
	shape_fn void known_leaf_##i(void);                 \
	shape_fn void known_leaf_##i(void)                  \
	{                                                   \
		shape_body(SHAPE_LOOP(LEAF_TURNS(i)));      \
	}

LEAF(0) LEAF(1) LEAF(2) LEAF(3) LEAF(4) LEAF(5) LEAF(6) LEAF(7) LEAF(8) LEAF(9)
LEAF(10) LEAF(11) LEAF(12) LEAF(13) LEAF(14) LEAF(15) LEAF(16) LEAF(17) LEAF(18) LEAF(19)

#define LEAF_CALL(i) SHAPE_CALL(known_leaf_##i)

shape_fn void known_leaves(void)
{
	shape_body(
		LEAF_CALL(0) LEAF_CALL(1) LEAF_CALL(2) LEAF_CALL(3) LEAF_CALL(4)
		LEAF_CALL(5) LEAF_CALL(6) LEAF_CALL(7) LEAF_CALL(8) LEAF_CALL(9)
		LEAF_CALL(10) LEAF_CALL(11) LEAF_CALL(12) LEAF_CALL(13) LEAF_CALL(14)
		LEAF_CALL(15) LEAF_CALL(16) LEAF_CALL(17) LEAF_CALL(18) LEAF_CALL(19));
}

/* clang-format on */

/* main.c has other functions of these names. */
static shape_fn long known_namesake_1(long a, long b)
{
	return a + b;
}

static __always_inline void known_namesake_2(void)
{
	barrier();
}

long known_sum(long a, long b)
{
	known_namesake_2();
	return known_namesake_1(a, b);
}

/* A return is one instruction, or a jump to a return instruction. */
u64 shape_return_insns(void)
{
	return boot_cpu_has(X86_FEATURE_RETHUNK) ? 2 : 1;
}

struct writer {
	struct shape_count *counts;
	size_t n, max;
};

/* Add the counts of FUNCTION: BODY instructions of its own, and CALLED in callees. Return their sum, with entry and return. */
static u64 count(struct writer *w, const char *function, u64 body, u64 called)
{
	u64 self = SHAPE_ENTRY + body + shape_return_insns();

	if (!WARN_ON(w->n == w->max))
		w->counts[w->n++] = (struct shape_count){ function, self, self + called };
	return self + called;
}

static u64 count_loop(struct writer *w, const char *function, u64 turns)
{
	return count(w, function, SHAPE_LOOP_INSNS(turns), 0);
}

static void count_leaves(struct writer *w)
{
	static const char *const names[LEAVES] = {
		"known_leaf_0",  "known_leaf_1",  "known_leaf_2",  "known_leaf_3",  "known_leaf_4",
		"known_leaf_5",  "known_leaf_6",  "known_leaf_7",  "known_leaf_8",  "known_leaf_9",
		"known_leaf_10", "known_leaf_11", "known_leaf_12", "known_leaf_13", "known_leaf_14",
		"known_leaf_15", "known_leaf_16", "known_leaf_17", "known_leaf_18", "known_leaf_19",
	};
	u64 leaves = 0;

	for (int i = 0; i < LEAVES; i++)
		leaves += count_loop(w, names[i], LEAF_TURNS(i));
	count(w, "known_leaves", LEAVES, leaves);
}

/*
 * Add a row for each call of a recursive function, outermost last. All RECURSIVE_DEPTH + 1 calls but the innermost execute two
 * more instructions.
 */
static void count_recursive(struct writer *w)
{
	u64 below = 0;

	for (int level = 0; level <= RECURSIVE_DEPTH; level++)
		below = count(w, "known_recursive",
			      SHAPE_LOOP_INSNS(RECURSIVE_TURNS) + 2 + (level ? 2 : 0), below);
}

/* known_tail() ends with a jump to known_tail_end(), and the return there is for both. */
static void count_tail(struct writer *w)
{
	u64 end = count_loop(w, "known_tail_end", TAIL_END_TURNS);
	u64 self = SHAPE_ENTRY + SHAPE_LOOP_INSNS(TAIL_TURNS) + 1;

	if (!WARN_ON(w->n == w->max))
		w->counts[w->n++] = (struct shape_count){ "known_tail", self, self + end };
}

size_t shape_counts(struct shape_count *counts, size_t max)
{
	struct writer w = { counts, 0, max };
	u64 inner_a, inner_b;

	count(&w, "known_empty", 0, 0);
	count_loop(&w, "known_small", SMALL_TURNS);
	count_loop(&w, "known_plain", PLAIN_TURNS);
	inner_a = count_loop(&w, "known_inner_a", INNER_A_TURNS);
	inner_b = count_loop(&w, "known_inner_b", INNER_B_TURNS);
	count(&w, "known_outer", SHAPE_LOOP_INSNS(OUTER_TURNS) + 3, 2 * inner_a + inner_b);
	count_recursive(&w);
	count_tail(&w);
	count_leaves(&w);
	count_loop(&w, "known_tick", TICK_TURNS);
	count(&w, "known_irqs_off", SHAPE_LOOP_INSNS(IRQS_OFF_TURNS) + 3, 0);
	/* These functions' own instructions are known, but not those of their callees. */
	count_loop(&w, "known_interrupted", INTERRUPTED_TURNS);
	count(&w, "known_sleeping", 2 * SHAPE_LOOP_INSNS(SLEEPING_TURNS) + 2, 0);
	count(&w, "known_yielding", (u64)YIELDING_ROUNDS * SHAPE_LOOP_INSNS(YIELDING_TURNS), 0);
	count(&w, "known_clear_page", 2, 0);
	return w.n;
}
