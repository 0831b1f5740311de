// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Run the functions of shapes.c on request, by files in /sys/kernel/debug/kprotperf_known:
 *
 *   run       write "SHAPE N": run SHAPE N times
 *   quiet     write "SHAPE N": the same with interrupts off in each call, because interrupts would count as the function's time
 *   measure   write "SHAPE N": the same as quiet, with the time stamp counter read around each call;
 *             read "SHAPE N MIN MAX", in ticks of the counter; in QEMU's icount mode these are instructions
 *   ticking   write "N": let the timer call known_tick() N times, each when it interrupts the task that wrote
 *   silent    write 1: do not report task switches until 0 is written
 *   known     read "FUNCTION SELF TOTAL" for each function, as constructed
 *   ticks     read the number of calls of known_tick() by the timer
 */
#include <linux/debugfs.h>
#include <linux/hrtimer.h>
#include <linux/module.h>
#include <linux/seq_file.h>
#include <linux/tracepoint.h>
#include <linux/uaccess.h>
#include <asm/tsc.h>

#include "shapes.h"

#define TICK_PERIOD_NS 1000000
#define MAX_RUNS       1000000
#define MAX_COUNTS     64

/* This function is inlined. shapes.c has a function of the same name; BTF has the arguments of either one, at random. */
static __always_inline void known_namesake_1(void)
{
	barrier();
}

static noinline __attribute__((noipa)) long known_namesake_2(long a, long b)
{
	return a + b;
}

static struct hrtimer timer;
static u64 ticks, ticks_left;
static const struct task_struct *ticked; /* compared only, never dereferenced */

static enum hrtimer_restart on_timer(struct hrtimer *t)
{
	if (!ticks_left)
		return HRTIMER_NORESTART;
	if (current == ticked) {
		ticks_left--;
		ticks++;
		known_tick();
	}
	/* Count from now, not from the due time, so that a delayed interrupt is not followed by others. */
	hrtimer_forward_now(t, ns_to_ktime(TICK_PERIOD_NS));
	return HRTIMER_RESTART;
}

static void start_timer(u64 n)
{
	hrtimer_cancel(&timer);
	ticks_left = n;
	ticked = current;
	hrtimer_start(&timer, ns_to_ktime(TICK_PERIOD_NS), HRTIMER_MODE_REL_HARD);
}

static void run_recursive(void)
{
	known_recursive(RECURSIVE_DEPTH);
}

static void run_deep(void)
{
	known_namesake_1();
	known_namesake_2(DEEP_DEPTH, known_sum(1, 2));
	known_recursive(DEEP_DEPTH);
}

static void run_interrupted(void)
{
	start_timer(U64_MAX);
	known_interrupted();
	hrtimer_cancel(&timer);
}

static const struct shape {
	const char *name;
	void (*run)(void);
	void (*quiet)(void); /* NULL: cannot run with interrupts off */
} shapes[] = {
	{ "empty", known_empty, known_empty },
	{ "small", known_small, known_small },
	{ "plain", known_plain, known_plain },
	{ "nested", known_outer, known_outer },
	{ "recursive", run_recursive, run_recursive },
	{ "deep", run_deep, NULL },
	{ "tail", known_tail, known_tail },
	{ "leaves", known_leaves, known_leaves },
	{ "tick", known_tick, known_tick },
	{ "irqs-off", known_irqs_off, known_irqs_off },
	{ "interrupted", run_interrupted, known_interrupted },
	{ "sleeping", known_sleeping, NULL },
	{ "yielding", known_yielding, known_yielding },
	{ "clear-page", known_clear_page, known_clear_page },
};

static struct {
	const struct shape *shape;
	unsigned int n;
	u64 min, max;
} measured;

/* The cost of the call itself is measured with this function, and subtracted. */
static notrace __attribute__((noipa)) void do_nothing(void)
{
	asm volatile("");
}

static notrace noinline u64 timed(void (*fn)(void))
{
	u64 start = rdtsc_ordered();

	fn();
	return rdtsc_ordered() - start;
}

static void measure(const struct shape *shape, unsigned int n)
{
	measured.shape = shape;
	measured.n = n;
	measured.min = U64_MAX;
	measured.max = 0;
	while (n--) {
		unsigned long flags;
		u64 took;

		local_irq_save(flags);
		took = timed(shape->quiet) - timed(do_nothing) + shape_return_insns();
		local_irq_restore(flags);
		measured.min = min(measured.min, took);
		measured.max = max(measured.max, took);
		cond_resched();
	}
}

static const struct shape *parse(const char __user *from, size_t len, unsigned int *n)
{
	char text[64], name[32];

	if (len >= sizeof(text))
		return NULL;
	if (copy_from_user(text, from, len))
		return NULL;
	text[len] = '\0';
	if (sscanf(text, "%31s %u", name, n) != 2 || !*n || *n > MAX_RUNS)
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++)
		if (!strcmp(shapes[i].name, name))
			return &shapes[i];
	return NULL;
}

static ssize_t quiet_write(struct file *file, const char __user *from, size_t len, loff_t *pos)
{
	unsigned int n;
	const struct shape *shape = parse(from, len, &n);

	if (!shape || !shape->quiet)
		return -EINVAL;
	while (n--) {
		unsigned long flags;

		local_irq_save(flags);
		shape->quiet();
		local_irq_restore(flags);
		cond_resched();
	}
	return len;
}

static ssize_t run_write(struct file *file, const char __user *from, size_t len, loff_t *pos)
{
	unsigned int n;
	const struct shape *shape = parse(from, len, &n);

	if (!shape)
		return -EINVAL;
	while (n--)
		shape->run();
	return len;
}

/* Let the timer expire until it has interrupted the writer N times. */
static ssize_t ticking_write(struct file *file, const char __user *from, size_t len, loff_t *pos)
{
	unsigned int n;
	int err = kstrtouint_from_user(from, len, 0, &n);

	if (err)
		return err;
	start_timer(n);
	return len;
}

static ssize_t measure_write(struct file *file, const char __user *from, size_t len, loff_t *pos)
{
	unsigned int n;
	const struct shape *shape = parse(from, len, &n);

	if (!shape || !shape->quiet)
		return -EINVAL;
	measure(shape, n);
	return len;
}

static struct tracepoint *switches;

static void find_switches(struct tracepoint *tp, void *unused)
{
	if (!strcmp(tp->name, "sched_switch"))
		switches = tp;
}

/* Disable the tracepoint of task switches without telling its users. It must have users. */
static ssize_t silent_write(struct file *file, const char __user *from, size_t len, loff_t *pos)
{
	bool silent;
	int err = kstrtobool_from_user(from, len, &silent);

	if (err || !switches)
		return err ?: -ENOENT;
	if (silent)
		static_key_disable(&switches->key);
	else
		static_key_enable(&switches->key);
	return len;
}

static int measure_show(struct seq_file *s, void *unused)
{
	if (measured.shape)
		seq_printf(s, "%s %u %llu %llu\n", measured.shape->name, measured.n, measured.min,
			   measured.max);
	return 0;
}

static int measure_open(struct inode *inode, struct file *file)
{
	return single_open(file, measure_show, NULL);
}

static int known_show(struct seq_file *s, void *unused)
{
	static struct shape_count counts[MAX_COUNTS];
	size_t n = shape_counts(counts, MAX_COUNTS);

	for (size_t i = 0; i < n; i++)
		seq_printf(s, "%s %llu %llu\n", counts[i].function, counts[i].self,
			   counts[i].total);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(known);

static const struct file_operations run_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = run_write,
};

static const struct file_operations quiet_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = quiet_write,
};

static const struct file_operations ticking_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = ticking_write,
};

static const struct file_operations silent_fops = {
	.owner = THIS_MODULE,
	.open = simple_open,
	.write = silent_write,
};

static const struct file_operations measure_fops = {
	.owner = THIS_MODULE,
	.open = measure_open,
	.read = seq_read,
	.llseek = seq_lseek,
	.release = single_release,
	.write = measure_write,
};

static struct dentry *folder, *inlined;

static int __init known_init(void)
{
	hrtimer_init(&timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_HARD);
	timer.function = on_timer;
	for_each_kernel_tracepoint(find_switches, NULL);
	folder = debugfs_create_dir("kprotperf_known", NULL);
	debugfs_create_file("run", 0200, folder, NULL, &run_fops);
	debugfs_create_file("quiet", 0200, folder, NULL, &quiet_fops);
	debugfs_create_file("ticking", 0200, folder, NULL, &ticking_fops);
	debugfs_create_file("silent", 0200, folder, NULL, &silent_fops);
	debugfs_create_file("measure", 0600, folder, NULL, &measure_fops);
	debugfs_create_file("known", 0400, folder, NULL, &known_fops);
	debugfs_create_u64("ticks", 0400, folder, &ticks);
	inlined = inlined_create();
	return 0;
}

static void __exit known_exit(void)
{
	debugfs_remove(folder);
	debugfs_remove(inlined);
	hrtimer_cancel(&timer);
}

module_init(known_init);
module_exit(known_exit);
MODULE_DESCRIPTION("Functions with known instruction counts, for kprotperf's tests");
MODULE_LICENSE("GPL");
