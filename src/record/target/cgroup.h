/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Finding a cgroup by the path that the user gives. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * Set *ID to the kernel's number of the cgroup (v2) at PATH: a folder, or a path below the hierarchy's root as systemctl and perf
 * print it. Return false, reported, if there is none.
 */
bool record_cgroup_find(const char *path, uint64_t *id);
