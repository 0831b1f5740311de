// SPDX-License-Identifier: GPL-2.0-or-later
/* A livepatch that makes __set_task_comm() do nothing. */
#include <linux/livepatch.h>
#include <linux/module.h>
#include <linux/sched.h>

static void set_nothing(struct task_struct *task, const char *name, bool exec)
{
}

static struct klp_func funcs[] = {
	{ .old_name = "__set_task_comm", .new_func = set_nothing },
	{},
};

static struct klp_object objects[] = {
	{ .funcs = funcs },
	{},
};

static struct klp_patch patch = {
	.mod = THIS_MODULE,
	.objs = objects,
};

static int __init livepatch_init(void)
{
	return klp_enable_patch(&patch);
}

static void __exit livepatch_exit(void)
{
}

module_init(livepatch_init);
module_exit(livepatch_exit);
MODULE_DESCRIPTION("A livepatch, for kprotperf's tests");
MODULE_INFO(livepatch, "Y");
MODULE_LICENSE("GPL");
