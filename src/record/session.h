/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One recording from beginning to end: plan, attach, run, drain, write.
 */
#pragma once

#include "record/options.h"
#include "record/plan.h"

/* Returns the process's exit status: the workload's own once it ran, else 1, 126 or 127. */
int record_session(const struct record_options *options);

/* Set by the lab: where the emulator expects the kernel's symbols. */
#define RECORD_EXACT_ENV "KPROTPERF_EXACT"
/* Likewise, where its model of a CPU expects what tells the objects in memory. */
#define RECORD_OBJECTS_ENV "KPROTPERF_EXACT_OBJECTS"

/*
 * Make a recording without probes, as record_session() with: the lab's emulator counts (emulator/exact.h). This runs the
 * command, marks its start and end, and writes the machine's environment and the command's reports, which the emulator does not see.
 */
int record_exact(const struct record_options *options);

/*
 * Writes P, which has been recorded by PLAN, then looks its names up in a process of its own, which replaces the file, and sums up
 * what was recorded. The exit status: that of the first run that failed.
 */
int record_finish(struct record_plan *plan, const struct record_options *o, struct profile *p);
