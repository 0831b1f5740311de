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

/* Note in P which tasks are recorded: all tasks (ALL) of the machine or of CGROUP; process PID; or the command if PID is 0. */
void record_environment_tasks(struct profile *p, bool all, const char *cgroup, int32_t pid);

/*
 * Add the build configuration of the kernel RELEASE to P's environment. Take it from the running kernel, or from a file of the
 * kernel's package in /boot or /lib/modules. ROOT replaces the root folder for tests; "": none.
 */
void record_environment_config(struct profile *p, const char *root, const char *release);

/* Measure other load on a real machine during a run: other tasks, other guests, and the speed of the CPUs. */

/* Sums since boot, and counters of the CPUs' cycles, which must stay open during a run. */
struct record_meters;

/* Open the counters of the machine, except missing ones. ROOT is "" or a folder with proc and sys, for tests. */
struct record_meters *record_meters_create(const char *root);
void record_meters_destroy(struct record_meters *m); /* accepts NULL */

/* Begin to measure the load. M may be NULL, here and below. */
void record_meters_begin(struct record_meters *m);

/* Store the load since record_meters_begin() in run RUN of P. */
void record_meters_store(const struct record_meters *m, struct profile *p, uint32_t run);
