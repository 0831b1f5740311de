/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The machine, the kernel and the clock of a recording. */
#pragma once

#include "profile/profile.h"

struct record_symbols;

/*
 * Fill the environment and the clock of P. Call this before any probe is attached. Leave out entries that cannot be read and, if
 * SYMBOLS is NULL, entries that need SYMBOLS.
 */
void record_environment_read(struct profile *p, struct record_symbols *symbols);

/* Note in P which tasks are recorded: the command's, ALL, tasks in CGROUP (NULL: any cgroup), or process PID (0: no process). */
void record_environment_tasks(struct profile *p, bool all, const char *cgroup, int32_t pid);

/*
 * Add the configuration of the kernel RELEASE to the environment: that of the running kernel, or the file of its package in /boot
 * or /lib/modules. ROOT replaces the root folder for tests; "": none.
 */
void record_environment_config(struct profile *p, const char *root, const char *release);

/* Measure other load on a real machine during a run: other tasks, other guests, and the speed of the CPUs. */

/* Counters of the CPUs' cycles, which must stay open during a run. */
struct record_meters;

/* Open the counters below ROOT: "", or a folder that contains proc and sys. Skip counters that the machine lacks. */
struct record_meters *record_meters_create(const char *root);
void record_meters_destroy(struct record_meters *m); /* accepts NULL */

#define RECORD_N_LOADS 5

/* Sums since boot or since M was created, in the order of loads[] in environment.c; PROFILE_NOT_COUNTED: unknown. */
struct record_load {
	uint64_t counts[RECORD_N_LOADS];
};

struct record_load record_load_read(const struct record_meters *m);

/* Store the growth of each sum since BEFORE in run RUN of P. */
void record_load_store(const struct record_meters *m, const struct record_load *before,
		       struct profile *p, uint32_t run);
