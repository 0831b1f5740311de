/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * The machine, kernel and clock a recording was made on.
 */
#pragma once

#include "profile/profile.h"

struct record_symbols;

/*
 * Fills the environment and the clock of P; before probes are there. Entries that cannot be read are left out, and those that
 * need SYMBOLS if that is NULL.
 */
void record_environment_read(struct profile *p, struct record_symbols *symbols);

/* Notes whose tasks P has besides a command's: all, those of CGROUP (NULL: none), or of the process PID (0: none). */
void record_environment_tasks(struct profile *p, bool all, const char *cgroup, int32_t pid);

/*
 * Its part that is the configuration of the kernel RELEASE: the running one's, or what its package has in /boot or
 * /lib/modules. ROOT is "" or the folder that these are in.
 */
void record_environment_config(struct profile *p, const char *root, const char *release);

/*
 * Other load of a real machine during a run: other tasks, other guests, and the speed of its CPUs.
 */

/* Counters of each CPU that have to be kept open. */
struct record_meters;

/* ROOT is "", or the folder that has proc and sys. Figures that the machine does not have are left out. */
struct record_meters *record_meters_create(const char *root);
void record_meters_destroy(struct record_meters *m); /* accepts NULL */

#define RECORD_N_LOADS 5

/* Since the machine was booted, or M created, in the order of load.c; PROFILE_NOT_COUNTED where the kernel does not tell. */
struct record_load {
	uint64_t counts[RECORD_N_LOADS];
};

struct record_load record_load_read(const struct record_meters *m);

/* Run RUN of P made it grow from BEFORE. */
void record_load_store(const struct record_meters *m, const struct record_load *before,
		       struct profile *p, uint32_t run);
