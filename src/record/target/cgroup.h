/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A cgroup by the name that the user has for it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/*
 * The number in *ID by which the kernel knows the cgroup (v2) at PATH: a folder, or a path below the hierarchy's root, as
 * systemctl and perf have it. False: there is none, which is reported.
 */
bool record_cgroup_find(const char *path, uint64_t *id);
