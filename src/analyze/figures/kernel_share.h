/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What part of the command's CPU time the kernel takes: what a change of a syscall is of the whole program. */
#pragma once

#include "analyze/figures/table.h"
#include "analyze/figures/workload.h"

/* Per run, in ticks. All NAN: not known, as where other tasks than the command's were followed. */
struct analyze_kernel_share {
	double kernel; /* on-CPU time in syscalls and page faults */
	double command; /* CPU time in all, of unprobed runs where there are any */
	double share;
};

/* T and WORKLOAD are P's. */
struct analyze_kernel_share analyze_kernel_share_of(const struct profile *p,
						    const struct analyze_table *t,
						    const struct analyze_workload *workload);
