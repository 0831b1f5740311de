// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Inlined functions in awkward shapes, with known numbers of instructions.
 *
 * The functions are assembly; the compiler adds a few instructions around them. Files in
 * /sys/kernel/debug/kprotperf_inlined:
 *
 *   run    write "SHAPE N": run SHAPE N times, each with interrupts off
 *   known  read a line "INLINED CALLS INSNS" for each inlined function, per run of its shape: executions of its first
 *          instruction, and instructions in it, callees included
 */
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/irqflags.h>
#include <linux/kernel.h>
#include <linux/module.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/stringify.h>
#include <linux/uaccess.h>

#include "shapes.h"

#define TURNS_INSNS(turns) (1 + 2 * (turns))

#define turn(turns)                                                 \
	asm volatile("	mov $" __stringify(turns) ", %%eax\n"       \
						  "77:	dec %%eax\n" \
						  "	jnz 77b\n"      \
		     :                                              \
		     :                                              \
		     : "rax", "cc", "memory")

#define shape_fn static __attribute__((noipa))

/* Instructions of a call of inl_leaf(): the nop, the loop, the return. */
#define LEAF_INSNS (TURNS_INSNS(400) + 2)

shape_fn int inl_leaf(int x)
{
	turn(400);
	return x;
}

static __always_inline void inl_plain(void)
{
	turn(500);
}

shape_fn int shape_plain(int x)
{
	turn(20);
	inl_plain();
	turn(20);
	return x;
}

/* This function has three exits, two of them early. */
static __always_inline int inl_early(int x)
{
	turn(100);
	if (x == 1)
		return 7;
	turn(200);
	if (x == 2)
		return 8;
	turn(300);
	return 9;
}

shape_fn int shape_early(int x)
{
	int sum = 0;

	for (int i = 1; i <= 3; i++) {
		turn(20);
		sum += inl_early(i);
		turn(20);
	}
	return sum;
}

static __always_inline void inl_loop(int n)
{
	for (int i = 0; i < n; i++)
		turn(500);
}

shape_fn int shape_loop(int x)
{
	turn(20);
	inl_loop(x);
	turn(20);
	return x;
}

/* This loop jumps back to the inlined function's first instruction. */
static __always_inline void inl_head(int n)
{
	do {
		turn(300);
	} while (--n);
}

shape_fn int shape_head(int x)
{
	turn(20);
	inl_head(x);
	turn(20);
	return x;
}

static __always_inline void inl_inner(void)
{
	turn(300);
}

static __always_inline void inl_outer(void)
{
	inl_inner();
	turn(200);
	inl_inner();
}

/* This inlined function has the same first and last instruction as inl_outer(). */
static __always_inline void inl_around(void)
{
	inl_outer();
}

shape_fn int shape_nested(int x)
{
	turn(20);
	inl_around();
	turn(20);
	return x;
}

static __always_inline void inl_twice(void)
{
	turn(250);
}

shape_fn int shape_twice(int x)
{
	inl_twice();
	turn(20);
	inl_twice();
	return x;
}

static __always_inline int inl_calls(int x)
{
	turn(100);
	x = inl_leaf(x);
	turn(100);
	return x;
}

shape_fn int shape_calls(int x)
{
	turn(20);
	x = inl_calls(x);
	turn(20);
	return x;
}

static __always_inline int inl_tail(int x)
{
	turn(300);
	return inl_leaf(x);
}

shape_fn int shape_tail(int x)
{
	turn(20);
	return inl_tail(x);
}

/* inl_recursive() calls the function that it is inlined into. */
static int shape_recursive(int x);

static __always_inline int inl_recursive(int x)
{
	turn(200);
	if (x)
		x = shape_recursive(x - 1);
	turn(100);
	return x;
}

shape_fn int shape_recursive(int x)
{
	turn(20);
	x = inl_recursive(x);
	turn(20);
	return x + 1;
}

/* Executions of this inlined function follow each other closely. */
static __always_inline void inl_many(void)
{
	turn(100);
}

shape_fn int shape_many(int x)
{
	for (int i = 0; i < x; i++) {
		turn(10);
		inl_many();
	}
	return x;
}

/* This inlined function is entered from two addresses, and left to two. */
static __always_inline int inl_choice(int x)
{
	if (x & 1) {
		turn(100);
		return 1;
	}
	turn(200);
	return 2;
}

shape_fn int shape_choice(int x)
{
	int n = 0;

	while (x-- > 0) {
		if (inl_choice(x) == 1)
			turn(10);
		else
			turn(20);
		n++;
	}
	return n;
}

static __always_inline int inl_empty(int x)
{
	return x;
}

shape_fn int shape_empty(int x)
{
	turn(20);
	x = inl_empty(x);
	turn(20);
	return x;
}

static const struct shape {
	const char *name;
	int (*run)(int x);
	int x;
} shapes[] = {
	{ "plain", shape_plain, 1 },         { "early", shape_early, 1 },
	{ "loop", shape_loop, 7 },           { "head", shape_head, 5 },
	{ "nested", shape_nested, 1 },       { "twice", shape_twice, 1 },
	{ "calls", shape_calls, 1 },         { "tail", shape_tail, 1 },
	{ "recursive", shape_recursive, 3 }, { "many", shape_many, 20 },
	{ "choice", shape_choice, 10 },      { "empty", shape_empty, 1 },
};

/* Instructions of a recursive call besides turn(): call, nop, argument, return, and jumps to the call and back. */
#define AROUND_INSNS 8

static const struct known {
	const char *name;
	unsigned int calls, insns;
} knowns[] = {
	{ "inl_plain", 1, TURNS_INSNS(500) },
	{ "inl_early", 3, 3 * TURNS_INSNS(100) + 2 * TURNS_INSNS(200) + TURNS_INSNS(300) },
	{ "inl_loop", 1, 7 * TURNS_INSNS(500) },
	{ "inl_head", 1, 5 * TURNS_INSNS(300) },
	{ "inl_inner", 2, 2 * TURNS_INSNS(300) },
	{ "inl_outer", 1, 2 * TURNS_INSNS(300) + TURNS_INSNS(200) },
	{ "inl_around", 1, 2 * TURNS_INSNS(300) + TURNS_INSNS(200) },
	{ "inl_twice", 2, 2 * TURNS_INSNS(250) },
	{ "inl_calls", 1, 2 * TURNS_INSNS(100) + 1 + LEAF_INSNS },
	{ "inl_tail", 1, TURNS_INSNS(300) },
	/* Include the nested calls, with the turns of the functions around them. */
	{ "inl_recursive", 4,
	  (4 + 3 + 2 + 1) * (TURNS_INSNS(200) + TURNS_INSNS(100) + 3) +
		  (3 + 2 + 1) * (2 * TURNS_INSNS(20) + AROUND_INSNS) },
	{ "inl_many", 20, 20 * TURNS_INSNS(100) },
	/* The first instruction in DWARF is on one of two paths into this function. */
	{ "inl_choice", 5, 5 * (TURNS_INSNS(100) + TURNS_INSNS(200)) },
};

static ssize_t run_write(struct file *file, const char __user *from, size_t len, loff_t *pos)
{
	char text[64], name[32];
	unsigned int n;

	if (len >= sizeof(text) || copy_from_user(text, from, len))
		return -EINVAL;
	text[len] = '\0';
	if (sscanf(text, "%31s %u", name, &n) != 2)
		return -EINVAL;
	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++) {
		if (strcmp(shapes[i].name, name))
			continue;
		while (n--) {
			unsigned long flags;

			local_irq_save(flags);
			shapes[i].run(shapes[i].x);
			local_irq_restore(flags);
			cond_resched();
		}
		return len;
	}
	return -EINVAL;
}

static int known_show(struct seq_file *s, void *unused)
{
	for (size_t i = 0; i < ARRAY_SIZE(knowns); i++)
		seq_printf(s, "%s %u %u\n", knowns[i].name, knowns[i].calls, knowns[i].insns);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(known);

static const struct file_operations run_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = run_write,
};

struct dentry *inlined_create(void)
{
	struct dentry *folder = debugfs_create_dir("kprotperf_inlined", NULL);

	debugfs_create_file("run", 0200, folder, NULL, &run_fops);
	debugfs_create_file("known", 0400, folder, NULL, &known_fops);
	return folder;
}
