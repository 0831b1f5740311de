/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Other tools that interfere with the recording: they trace the kernel too, switch off all probes (kernel.ftrace_enabled,
 * kprobes in debugfs), or unload a module together with its probes.
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
	bool detaches; /* this process removes probes during a run: WATCH is ignored */
	/* A recorded module was unloaded in a run. Its calls are complete in that run, and missing in later ones. */
	bool unloaded;
	uint32_t n_runs; /* number of runs that have ended */
	struct record_watch watch;
	struct record_tracers tracers;
};

/* Note the tracers at work. Call this before this process attaches a probe. PLAN and P must outlive O. */
void record_others_before(struct record_others *o, struct record_plan *plan, struct profile *p);
/* Start to watch the kernel's code. Call this when all probes are attached. DETACHES: this process removes probes during a run. */
void record_others_watch(struct record_others *o, struct record_engine *e, bool detaches);
/*
 * Warn of probes that were not in place during all of run RUN. Call this when the run is over and before it is drained. In the
 * first run, the sites of such probes become untimed in P, and page faults in the engine. In a later run, return -ESHUTDOWN: do not
 * keep the run.
 */
int record_others_end(struct record_others *o, uint32_t run);
/* Note in P, and warn of, what others traced. Call this when all probes are detached. */
void record_others_after(struct record_others *o);
void record_others_deinit(struct record_others *o);
