/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kinds of a guest's contexts. The emulator's plugin (emulator/) writes these numbers; kprotperf (src/exact) reads them. */
#pragma once

enum exact_kind {
	EXACT_USER,
	EXACT_NONE, /* kernel code of a task outside the following contexts */
	EXACT_SYSCALL, /* a system call; a context for each function that implements one */
	EXACT_PAGE_FAULT,
	EXACT_IRQ,
	EXACT_SOFTIRQ,
	EXACT_IDLE,
	EXACT_KTHREAD, /* kernel threads; a context for each function that they execute */
	/* Work that another context queued, in the order of enum profile_queued. */
	EXACT_QUEUED,
	EXACT_RCU = EXACT_QUEUED,
	EXACT_WORK,
	EXACT_TASK_WORK,
	EXACT_RAISED, /* soft interrupts that another context raised */
	EXACT_N_KINDS,
};
