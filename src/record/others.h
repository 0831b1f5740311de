/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Other tools that disturb the recording: they trace the kernel, switch off all probes (kernel.ftrace_enabled, kprobes in
 * debugfs), or unload a module with its probes.
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
	bool detaches; /* this process itself removes probes during a run, so WATCH is ignored */
	/* A module with timed functions was unloaded in a run. Its counts are complete in that run, but missing in later runs. */
	bool unloaded;
	uint32_t n_runs; /* number of runs that have ended */
	struct record_watch watch;
	struct record_tracers tracers;
};

/* Note the tracers that are active. Call this before this process attaches a probe. PLAN and P must outlive O. */
void record_others_before(struct record_others *o, struct record_plan *plan, struct profile *p);
/* Start to watch the kernel's code when all probes are attached. DETACHES: this process removes probes during a run. */
void record_others_watch(struct record_others *o, struct record_engine *e, bool detaches);
/*
 * Warn of probes that were missing during a part of run RUN. Call this after the run, before record_drain(). In the first run,
 * mark the functions of such probes as untimed in P, and page faults as untimed in the engine. In a later run, return -ESHUTDOWN:
 * the caller must drop that run.
 */
int record_others_end(struct record_others *o, uint32_t run);
/* Warn of the tracers of other tools, and note them in P. Call this when all probes are detached. */
void record_others_after(struct record_others *o);
void record_others_deinit(struct record_others *o);
