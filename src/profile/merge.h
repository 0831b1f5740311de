/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs of several boots of one kernel in one profile. */
#pragma once

#include "profile/profile.h"

/*
 * Why SRC's runs are not further runs of what DST holds, for the caller to free; NULL where they
 * are. Everything has to be equal that a figure could depend on: the environment (but for keys
 * under "record."), the clock, the sampler, the workload's arguments, and what was timed, and how:
 * a function that only one side recorded would read as one that the other never called.
 */
char *profile_merge_conflict(const struct profile *dst, const struct profile *src);

/*
 * Adds SRC's runs to DST with all that belongs to them: as runs of the boots that DST has already, where they are
 * of these, else as other boots. Returns how many boots they share. The environment stays DST's. Can be done
 * whatever profile_merge_conflict() says: sites timed in different ways then stay apart. SRC may lack parts then, and is
 * for profile_destroy() alone: both at once take more memory than a large file leaves.
 */
uint32_t profile_merge(struct profile *dst, struct profile *src);
