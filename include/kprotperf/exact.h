/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Contexts of a guest, as the emulator's plugin (emulator/) tells kprotperf (src/exact): numbers in its file. */
#pragma once

enum exact_kind {
	EXACT_USER,
	EXACT_NONE, /* in the kernel for the task, in none of the contexts below */
	EXACT_SYSCALL, /* a syscall, with the function that implements it */
	EXACT_PAGE_FAULT,
	EXACT_IRQ,
	EXACT_SOFTIRQ,
	EXACT_IDLE,
	EXACT_KTHREAD, /* a kernel thread, with the function that it executes */
	/* Queued by another context; same order as in enum profile_queued: */
	EXACT_QUEUED,
	EXACT_RCU = EXACT_QUEUED,
	EXACT_WORK,
	EXACT_TASK_WORK,
	EXACT_RAISED, /* soft interrupts */
	EXACT_N_KINDS,
};
