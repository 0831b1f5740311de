/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Runs of several boots of one kernel in one profile. */
#pragma once

#include "profile/profile.h"

/*
 * Return why SRC's runs cannot be added to DST's, for the caller to free; NULL: they can be. Everything has to be equal that a
 * figure could depend on: the environment (but for keys under "record."), the clock, the sampler, the workload's arguments, and
 * what was timed, and how: a function that only one side recorded would read as one that the other never called.
 */
char *profile_merge_conflict(const struct profile *dst, const struct profile *src);

/*
 * Add SRC's runs to DST with all that belongs to them. Boots that DST has already keep their number, others get a new
 * one. Return the number of boots that both have. The environment stays DST's. This works whatever
 * profile_merge_conflict() says: sites timed in different ways stay apart. Afterwards only profile_destroy() may use SRC:
 * parts of it are moved, since memory may not suffice for both.
 */
uint32_t profile_merge(struct profile *dst, struct profile *src);
