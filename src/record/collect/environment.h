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
