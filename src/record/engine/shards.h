/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * CPUs that share their counters if memory does not allow one set for each: those that share caches, so that a counter's
 * line need not go from one package to another.
 */
#pragma once

#include <stdint.h>

#define SHARDS_CPUS "/sys/devices/system/cpu"

/*
 * The shard, of N_SHARDS, of each of N_CPUS CPUs in SHARDS: neighbours by package, last cache and core have one. CPUS is the
 * folder in which the kernel says where each CPU is, SHARDS_CPUS; those of which it says nothing are offline, and may have
 * any.
 */
void record_shards(const char *cpus, uint32_t n_cpus, uint32_t n_shards, uint32_t *shards);
