/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Merging recordings, such as those of several boots of one kernel, into one profile. */
#pragma once

#include "profile/profile.h"

/*
 * Return the reasons that SRC's runs cannot be added to DST's, for free(); NULL: they can be added. These must be equal: the
 * environment (except for keys under "record."), the clock, the sampler, the workload's arguments, and, unless both are exact
 * recordings, the timed functions and their mechanisms. Otherwise a function that only one side timed would seem never called on
 * the other side.
 */
char *profile_merge_conflict(const struct profile *dst, const struct profile *src);

/*
 * Add SRC's runs and their data to DST. Boots that DST already has keep their numbers; the others of SRC get new ones. Return the
 * number of boots that both have. DST keeps its environment. profile_merge_conflict() may have reported conflicts: sites timed by
 * different mechanisms stay separate. Afterwards only profile_destroy() may use SRC, because parts of SRC are moved to save memory.
 */
uint32_t profile_merge(struct profile *dst, struct profile *src);
