/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Find a cgroup by the path that the user gives. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * Set *ID to the kernel's number of the cgroup (v2) at PATH, which is a folder, or a path below the root of the cgroup hierarchy
 * as systemctl and perf print it. If there is no such cgroup, report this and return false.
 */
bool record_cgroup_find(const char *path, uint64_t *id);
