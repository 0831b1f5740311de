/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The machine, kernel and clock a recording was made on.
 */
#pragma once

#include "profile/profile.h"

struct record_symbols;

/*
 * Fill the environment and the clock of P. Call this before any probe is attached. Leave out entries that cannot be read, and
 * those that need SYMBOLS if it is NULL.
 */
void record_environment_read(struct profile *p, struct record_symbols *symbols);

/* Note in P which tasks are recorded besides the command's: ALL, or those in CGROUP (NULL: any), or the process PID (0: none). */
void record_environment_tasks(struct profile *p, bool all, const char *cgroup, int32_t pid);

/*
 * Add the configuration of the kernel RELEASE to the environment: the running kernel's, or the file of its package in
 * /boot or /lib/modules. ROOT is "" or a folder that stands in for the root.
 */
void record_environment_config(struct profile *p, const char *root, const char *release);

/* Other load of a real machine during a run: other tasks, other guests, and the speed of its CPUs. */

/* Counters on each CPU that must stay open during a run. */
struct record_meters;

/* Open the counters below ROOT: "", or a folder that contains proc and sys. Skip counters that the machine lacks. */
struct record_meters *record_meters_create(const char *root);
void record_meters_destroy(struct record_meters *m); /* accepts NULL */

#define RECORD_N_LOADS 5

/* Sums since boot or since M was created, indexed as loads[] of environment.c; PROFILE_NOT_COUNTED: unknown. */
struct record_load {
	uint64_t counts[RECORD_N_LOADS];
};

struct record_load record_load_read(const struct record_meters *m);

/* Store the growth since BEFORE in run RUN of P. */
void record_load_store(const struct record_meters *m, const struct record_load *before,
		       struct profile *p, uint32_t run);
