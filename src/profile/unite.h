/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The blocks of a function, from the overlapping pieces of code that several exact recordings have of it. */
#pragma once

#include "profile/profile.h"

/*
 * Replace all of P's lists of blocks of a function, whose blocks may overlap, by one list of blocks that do not, and convert the
 * counts. The most executed function comes first. Functions beyond a file's limits are left out.
 */
void profile_blocks_unite(struct profile *p);
