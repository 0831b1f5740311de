/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Merge recordings, such as those of several boots of one kernel, into one profile. */
#pragma once

#include "profile/profile.h"

/*
 * Return the reasons that SRC's runs cannot be added to DST's, which the caller frees, or NULL. These must be equal: the
 * environment (except for keys under "record."), the clock, the sampler, and the workload's arguments. The timed functions and
 * their mechanisms must be equal too, unless both are exact recordings: a function that only one profile timed would seem never
 * called in the other.
 */
char *profile_merge_conflict(const struct profile *dst, const struct profile *src);

/*
 * Add SRC's runs and their data to DST. DST keeps its environment and the numbers of its boots; SRC's other boots get new numbers.
 * Return the number of boots that both have. After a conflict (profile_merge_conflict()), functions timed by different mechanisms
 * stay separate entries. Afterwards only profile_destroy() may use SRC: parts of SRC are moved to save memory.
 */
uint32_t profile_merge(struct profile *dst, struct profile *src);
