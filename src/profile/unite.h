/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Unite overlapping pieces of a function's code, from several exact recordings, into basic blocks. */
#pragma once

#include "profile/profile.h"

/*
 * For each function, replace P's lists of blocks, which may overlap, by one list of blocks that do not overlap. Convert the
 * counts. The most executed functions come first. Functions beyond the limits of a file are dropped.
 */
void profile_blocks_unite(struct profile *p);
