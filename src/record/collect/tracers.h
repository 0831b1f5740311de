/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Other tools that trace the kernel during the recording. Their cost is in the times of the code that they trace. */
#pragma once

#include "base/alloc.h"
#include "kernel/image/kallsyms.h"
#include "profile/profile.h"
#include "record/engine/watch.h"

struct record_tracers {
	char *current; /* name of ftrace's current tracer; NULL: none */
	struct alloc_texts functions; /* names of traced or probed functions */
	struct alloc_texts tracepoints; /* names of tracepoints in use */
	struct alloc_texts programs; /* names of BPF programs loaded during the recording */
	bool more; /* the lists are incomplete */
};

/*
 * Add the names of active tracers to T. Call this while this process has no probe. TRACEFS is the folder of tracefs (NULL: not
 * mounted), KPROBES the file with debugfs' list of kprobes, STATIC_KEYS the names of static keys that are on (NULL: unknown).
 */
void record_tracers_read(struct record_tracers *t, const char *tracefs, const char *kprobes,
			 const char *static_keys);
#define RECORD_KPROBES_LIST "/sys/kernel/debug/kprobes/list"
/* Add the tracers whose changes of code WATCH saw in a run, unless IS_IGNORED(addr, ARG): then this process changed addr. */
void record_tracers_watch(struct record_tracers *t, const struct record_watch *watch,
			  const struct kernel_kallsyms *ks,
			  bool (*is_ignored)(uint64_t addr, const void *arg), const void *arg);
/* Write T into P's environment, and empty T. If other tools have traced the kernel, warn the user. */
void record_tracers_store(struct record_tracers *t, struct profile *p);
void record_tracers_deinit(struct record_tracers *t);
