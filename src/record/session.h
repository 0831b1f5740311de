/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * One recording from beginning to end: plan, attach, run, drain, write.
 */
#pragma once

#include "record/options.h"
#include "record/plan.h"

/* Make a recording. Return the exit status: the workload's own if it ran, else 1, 126 or 127. */
int record_session(const struct record_options *options);

/* Set by the lab: the path at which the emulator expects the kernel's symbols. */
#define RECORD_EXACT_ENV "KPROTPERF_EXACT"
/* Set by the lab: the path at which the emulator expects the addresses that identify objects in memory (emulator/objects.c). */
#define RECORD_OBJECTS_ENV "KPROTPERF_EXACT_OBJECTS"

/*
 * Make a recording without probes, as record_session() makes one with probes: the lab's emulator counts (emulator/exact.h). Run the
 * command, mark its start and end, and write the machine's environment and the command's reports, which the emulator does not see.
 */
int record_exact(const struct record_options *options);

/*
 * Write P, recorded by PLAN. Then resolve its names in a process of its own, which replaces the file, and print a summary.
 * Return the exit status: that of the first run that failed.
 */
int record_finish(struct record_plan *plan, const struct record_options *o, struct profile *p);
