/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Contexts of a guest, as the emulator's plugin (emulator/) tells kprotperf (src/exact): numbers in its file. */
#pragma once

enum exact_kind {
	EXACT_USER,
	EXACT_NONE, /* in the kernel for the task, outside of what follows */
	EXACT_SYSCALL, /* of a function */
	EXACT_PAGE_FAULT,
	EXACT_IRQ,
	EXACT_SOFTIRQ,
	EXACT_IDLE,
	EXACT_KTHREAD, /* that executes a function */
	/* Queued by another context, as enum profile_queued has it: */
	EXACT_QUEUED,
	EXACT_RCU = EXACT_QUEUED,
	EXACT_WORK,
	EXACT_TASK_WORK,
	EXACT_RAISED, /* soft interrupts */
	EXACT_N_KINDS,
};
