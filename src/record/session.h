/* SPDX-License-Identifier: GPL-2.0-or-later */
/* One recording: plan, attach probes, run the command, read the counts, write the file. */
#pragma once

#include "record/options.h"
#include "record/plan.h"

/* Make a recording. Return the exit status: that of the workload if it ran, else 1, 126 or 127. */
int record_session(const struct record_options *options);

/* The lab sets this variable to the path at which the emulator expects the kernel's symbols. */
#define RECORD_EXACT_ENV "KPROTPERF_EXACT"
/* The lab sets this variable to a path. The file there tells the emulator the addresses of objects (emulator/objects.c). */
#define RECORD_OBJECTS_ENV "KPROTPERF_EXACT_OBJECTS"

/*
 * Make a recording without probes, counted by the lab's emulator (emulator/exact.h): run the command, mark its start and end, and
 * write the machine's environment and the command's reports, which the emulator does not see. Return like record_session().
 */
int record_exact(const struct record_options *options);

/*
 * Write P, recorded by PLAN. Then resolve its names in another process, which replaces the file, and print a summary. Return the
 * exit status of the first run that failed; 0: all succeeded.
 */
int record_finish(struct record_plan *plan, const struct record_options *o, struct profile *p);
