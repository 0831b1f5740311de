/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Kinds of a guest's contexts. The emulator's plugin (emulator/) writes these numbers, and kprotperf (src/exact) reads them. */
#pragma once

enum exact_kind {
	EXACT_USER,
	EXACT_NONE, /* kernel code of a task outside of all contexts below */
	EXACT_SYSCALL, /* a syscall, with the function that implements it */
	EXACT_PAGE_FAULT,
	EXACT_IRQ,
	EXACT_SOFTIRQ,
	EXACT_IDLE,
	EXACT_KTHREAD, /* a kernel thread, with the function that it executes */
	/* Work that another context queued, in the order of enum profile_queued: */
	EXACT_QUEUED,
	EXACT_RCU = EXACT_QUEUED,
	EXACT_WORK,
	EXACT_TASK_WORK,
	EXACT_RAISED, /* soft interrupts */
	EXACT_N_KINDS,
};
