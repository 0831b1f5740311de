/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Others at work on the kernel that is recorded. They trace it too; and they take probes away: all can be switched off
 * (kernel.ftrace_enabled, kprobes in debugfs), and a module that is loaded again has none.
 */
#pragma once

#include <stdbool.h>

#include "profile/profile.h"
#include "record/collect/tracers.h"
#include "record/engine/watch.h"
#include "record/plan.h"

struct record_engine;

struct record_others {
	struct record_engine *e;
	struct record_plan *plan;
	struct profile *p;
	bool detaches; /* then the watch does not tell who did */
	bool unloaded; /* a module was, by the end of a run: only in that run its calls are complete */
	uint32_t n_runs; /* runs that have ended */
	struct record_watch watch;
	struct record_tracers tracers;
};

/* To be called before this process attaches a probe. PLAN and P outlive O. */
void record_others_before(struct record_others *o, struct record_plan *plan, struct profile *p);
/* Watches runs from here on: all is attached. DETACHES: this process takes probes away during a run. */
void record_others_watch(struct record_others *o, struct record_engine *e, bool detaches);
/*
 * To be called when run RUN is over and not drained yet. Warns of probes that were not in place all the time. If it is the first,
 * what they measure is not counted: in P, and by the engine. Else the run is not to be kept: -ESHUTDOWN.
 */
int record_others_end(struct record_others *o, uint32_t run);
/* To be called when all is detached. Says in P, and in a warning, what others traced. */
void record_others_after(struct record_others *o);
void record_others_deinit(struct record_others *o);
