/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Other tools that trace the kernel while it is recorded: what they cost is in the times of what they trace.
 */
#pragma once

#include "base/alloc.h"
#include "kernel/image/kallsyms.h"
#include "profile/profile.h"
#include "record/engine/watch.h"

struct record_tracers {
	char *current; /* ftrace's tracer; NULL: none */
	struct alloc_texts functions; /* names of those traced or probed */
	struct alloc_texts tracepoints; /* tracepoints in use */
	struct alloc_texts programs; /* of BPF programs loaded meanwhile */
	bool more; /* than listed here */
};

/*
 * Adds what is there now, while this process has no probe: as tracefs (NULL: not mounted), KPROBES, a list as in debugfs, and
 * STATIC_KEYS (NULL: unknown), the names of those that are on, tell it.
 */
void record_tracers_read(struct record_tracers *t, const char *tracefs, const char *kprobes,
			 const char *static_keys);
#define RECORD_KPROBES_LIST "/sys/kernel/debug/kprobes/list"
/* Adds what came in a run that is over. Changes at IGNORED are this process's. */
void record_tracers_watch(struct record_tracers *t, const struct record_watch *watch,
			  const struct kernel_kallsyms *ks,
			  bool (*is_ignored)(uint64_t addr, const void *arg), const void *arg);
/* Sets P's environment, and warns where others were there. Empties T. */
void record_tracers_store(struct record_tracers *t, struct profile *p);
void record_tracers_deinit(struct record_tracers *t);
